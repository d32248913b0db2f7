// Made by pimcp. Do not edit; run `pimcp compile`.
export { small } from "./servers/small.js";
export { talkative } from "./servers/talkative.js";
