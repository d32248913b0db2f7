// Made by pimcp. Do not edit; run `pimcp compile`.
export { a } from "./servers/a.js";
export { aB } from "./servers/a__b.js";
export { docs } from "./servers/docs.js";
