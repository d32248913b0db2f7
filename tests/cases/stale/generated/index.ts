// Made by pimcp. Do not edit; run `pimcp compile`.
export { broken } from "./servers/broken.js";
export { down } from "./servers/down.js";
export { up } from "./servers/up.js";
