/** Addresses that credentials may be sent to: over https, or plainly on this machine, where nobody listens in. As in Pi. */

const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** By name alone: `x.localhost` may be looked up elsewhere. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.has(hostname);
}

export function isSecureAddress(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
}
