// Made by pimcp. Do not edit; run `pimcp compile`.
export { broken } from "./servers/broken.js";
export { down } from "./servers/down.js";
export { removed } from "./servers/removed.js";
export { up } from "./servers/up.js";
