// Made by pimcp. Do not edit; run `pimcp compile`.
export { mine } from "./servers/mine.js";
export { notes } from "./servers/notes.js";
export { shared } from "./servers/shared.js";
