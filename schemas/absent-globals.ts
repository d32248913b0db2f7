/**
 * Names that people and models reach for in a script and that the sandbox doesn't have, each with why: for the check before a
 * script runs and for the error when it runs unchecked.
 */

const NO_TIMERS = "the sandbox has no timers";
const NO_NETWORK = "the sandbox has no network; call a tool";
const NO_NODE = "the sandbox has no Node.js; call a tool";
const NO_BROWSER = "the sandbox is no browser";
const NOT_BUILT_IN = "the sandbox has the language's own built-ins only";

/** `fetch` → `the sandbox has no network; call a tool`. */
export const ABSENT_GLOBALS: ReadonlyMap<string, string> = new Map([
  ...group(NO_TIMERS, "setTimeout setInterval setImmediate clearTimeout clearInterval queueMicrotask"),
  ...group(NO_NETWORK, "fetch XMLHttpRequest WebSocket EventSource Request Response Headers axios"),
  ...group(NO_NODE, "require process Buffer module exports __dirname __filename fs path child_process global"),
  ...group(NO_BROWSER, "window document navigator location localStorage sessionStorage alert"),
  ...group(NOT_BUILT_IN, "URL URLSearchParams TextEncoder TextDecoder structuredClone atob btoa crypto performance"),
  ...group(NOT_BUILT_IN, "AbortController AbortSignal Blob FormData WebAssembly Intl Atomics"),
]);

function group(why: string, names: string): [string, string][] {
  return names.split(" ").map((name) => [name, why]);
}
