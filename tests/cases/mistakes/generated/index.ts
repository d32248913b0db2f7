// Made by pimcp. Do not edit; run `pimcp compile`.
export { aB } from "./servers/a-b.js";
