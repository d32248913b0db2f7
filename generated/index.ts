// Made by pimcp. Do not edit; run `pimcp compile`.
export { everything } from "./servers/everything.js";
export { filesystem } from "./servers/filesystem.js";
export { memory } from "./servers/memory.js";
