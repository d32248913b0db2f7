// Made by pimcp. Do not edit; run `pimcp compile`.
export { weather } from "./servers/weather.js";
