// Made by pimcp. Do not edit; run `pimcp compile`.
export { git } from "./servers/git.js";
export { gitHub } from "./servers/git_hub.js";
