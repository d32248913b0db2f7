// Made by pimcp. Do not edit; run `pimcp compile`.
export { up } from "./servers/up.js";
