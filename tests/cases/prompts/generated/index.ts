// Made by pimcp. Do not edit; run `pimcp compile`.
export { plain } from "./servers/plain.js";
export { writer } from "./servers/writer.js";
