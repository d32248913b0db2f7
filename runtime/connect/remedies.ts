/**
 * What helps against a failure, in words: the notes of every finding about a server, so that compile, call and doctor
 * advise the same. Goes by kinds, codes and what the entry says, never by the text of an error. Holds no value of the
 * entry's: where it quotes one, it is as written.
 */
import { hasAuthorization, type ServerConfig } from "../../schemas/config/server-config.ts";
import type { Failure } from "./failure.ts";
import { isRedirectStatus } from "./redirect.ts";
import { REFUSED_PORT } from "./refused-port.ts";

export interface Signs {
  /** Of the server's process: `exited with status 1`. */
  readonly ending?: string | undefined;
  /** Its era was taken from what was compiled, and nothing it has said since bears that out. */
  readonly isUnheard?: boolean | undefined;
}

export function remediesOf(config: ServerConfig, failure: Failure, { ending, isUnheard }: Signs = {}): string[] {
  switch (failure.kind) {
    case "not-started":
      return ofStart(config, failure.code);
    case "closed":
      return ofEnding(ending);
    case "timeout":
      return ofTimeout(config, failure.timeoutMs, isUnheard === true);
    case "sign-in-needed":
      return ofSignIn(config);
    case "unsigned":
      return [...failure.notes];
    case "access-denied":
      return [`check what the credentials may do; \`pimcp logout ${config.name}\` forgets a sign-in`];
    case "unavailable":
      return failure.code !== undefined ? ofNetwork(config, failure.code) : ofBusy(failure.status);
    case "http-status":
      return ofStatus(config, failure.status, failure.body);
    case "unusable":
      return ofAnswer(config, failure);
    default:
      return [];
  }
}

function ofSignIn({ name, transport }: ServerConfig): string[] {
  if (transport.kind === "http" && transport.authProvider !== undefined) {
    const { authProvider } = transport;
    return [`log in with \`pi auth login ${authProvider}\`; a login that expired is renewed by Pi: \`pi mcp list\``];
  }
  if (transport.kind === "http" && hasAuthorization(transport.headers)) {
    return ["the server doesn't take its Authorization header: check the value"];
  }
  return [`sign in with \`pimcp login ${name}\`, or give the server an Authorization header`];
}

/** Programs that servers are started with, and where they come from. */
const INSTALLED_WITH: Readonly<Record<string, string>> = {
  npx: "npx comes with Node.js: https://nodejs.org",
  npm: "npm comes with Node.js: https://nodejs.org",
  node: "Node.js: https://nodejs.org",
  uvx: "uvx comes with uv: https://docs.astral.sh/uv",
  uv: "uv: https://docs.astral.sh/uv",
  bunx: "bunx comes with Bun: https://bun.sh",
  deno: "Deno: https://deno.com",
  docker: "Docker: https://docs.docker.com/get-docker",
  pipx: "pipx: https://pipx.pypa.io",
};
/** Those that fetch a package before they start it. */
const FETCHERS = new Set(["npx", "uvx", "bunx", "pipx", "docker", "npm", "deno"]);

function programOf({ transport }: ServerConfig): string {
  if (transport.kind !== "stdio") return "";
  const name = transport.command.split(/[\\/]/).at(-1) ?? "";
  return name.replace(/\.(?:cmd|exe|bat)$/i, "");
}

function ofStart(config: ServerConfig, code: string): string[] {
  if (code === "EACCES") return ["make it executable"];
  if (code !== "ENOENT") return [];
  const program = programOf(config);
  const source = Object.hasOwn(INSTALLED_WITH, program) ? [INSTALLED_WITH[program]!] : [];
  return ["install it, put it on PATH, or write its full path; arguments belong into args", ...source];
}

/** Shells and runners end with these. */
function ofEnding(ending: string | undefined): string[] {
  if (ending === "exited with status 127") return ["something that the command runs is not installed or not on PATH"];
  if (ending === "exited with status 126") return ["something that the command runs may not be executed"];
  return [];
}

function ofTimeout(config: ServerConfig, timeoutMs: number, isUnheard: boolean): string[] {
  const program = programOf(config);
  const isFetcher = FETCHERS.has(program);
  // Over HTTP a server of another era answers, if with an error.
  const isOtherEra = isUnheard && config.transport.kind === "stdio";
  return [
    ...(isOtherEra
      ? ["it has answered nothing at all: if it was replaced by another version, run `pimcp compile --refresh`"]
      : []),
    ...(isFetcher ? [`${program} may still be fetching the package: run the command once by hand`] : []),
    `if it only needs longer, ${moreTime(config, timeoutMs)}`,
  ];
}

/** The limit that was met, by its name, unless the caller set one of its own. */
function moreTime({ requestTimeoutMs, probeTimeoutMs }: ServerConfig, timeoutMs: number): string {
  if (timeoutMs === requestTimeoutMs) return `raise requestTimeoutMs (now ${requestTimeoutMs})`;
  if (timeoutMs === probeTimeoutMs) return `raise probeTimeoutMs (now ${probeTimeoutMs})`;
  return `give it more than these ${timeoutMs} ms (its requestTimeoutMs is ${requestTimeoutMs})`;
}

/** OpenSSL's names for a certificate that nobody we trust has signed. */
const UNTRUSTED = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
]);
const NO_WAY = new Set(["ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "EHOSTUNREACH", "ENETUNREACH", "ENETDOWN"]);
const CUT_OFF = new Set(["ECONNRESET", "UND_ERR_SOCKET", "EPIPE", "HPE_INVALID_CONSTANT"]);

function ofNetwork(config: ServerConfig, code: string): string[] {
  if (UNTRUSTED.has(code)) {
    return [
      'if the certificate is right, name the file of the authority that signed it: "caFile": "ca.pem"; NODE_EXTRA_CA_CERTS does so for all servers',
    ];
  }
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") {
    return ["the certificate has to be renewed by whoever runs the server, unless this machine's clock is wrong"];
  }
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return ["the certificate is for another host: check the host in url"];
  if (code === "EPROTO" || code.startsWith("ERR_SSL_")) return ["if it speaks no TLS, its url begins with http://"];
  if (code === "ENOTFOUND") return ["there is no such host: check the name in url, and whether a VPN is needed"];
  if (code === "EAI_AGAIN") return ["names can't be looked up just now: check the network"];
  if (code === REFUSED_PORT) {
    return ["HTTP clients refuse that port, which belongs to another protocol: have the server listen on another"];
  }
  if (code === "ECONNREFUSED") return ["nothing listens there: start the server, or check the port in url"];
  if (NO_WAY.has(code)) return ["the host can't be reached: check network, VPN and firewall, or set HTTPS_PROXY"];
  if (CUT_OFF.has(code) && isPlainHttp(config)) return ["if it wants TLS, its url begins with https://"];
  return [];
}

function ofBusy(status: number | undefined): string[] {
  if (status === 429) return ["it was asked too often: try again later"];
  if (status === 407) return ["the proxy wants a user and a password: HTTPS_PROXY=http://user:password@host:port"];
  return status === undefined ? [] : ["try again later; nothing is known to be wrong with the entry"];
}

const MAYBE_MCP = "many servers have their MCP endpoint at /mcp";

function ofStatus(config: ServerConfig, status: number, body: string): string[] {
  const page = /^\s*<(?:!doctype|html|head|body)\b/i.test(body);
  if (isRedirectStatus(status)) return ["it redirects: write the address it redirects to into url"];
  if (status === 404 || status === 410) {
    return [`there is nothing at that path: check url${isAtMcp(config) ? "" : `; ${MAYBE_MCP}`}`];
  }
  if (status === 405) return [`no MCP endpoint takes no POST: check url${isAtMcp(config) ? "" : `; ${MAYBE_MCP}`}`];
  return page ? [`a web page was the answer: check url${isAtMcp(config) ? "" : `; ${MAYBE_MCP}`}`] : [];
}

function ofAnswer(config: ServerConfig, failure: Extract<Failure, { kind: "unusable" }>): string[] {
  if (failure.reason === "version") {
    return config.protocolVersion === "auto"
      ? ["it is newer or older than what pimcp speaks: update one of the two"]
      : ['leave protocolVersion out, or set it to "auto"'];
  }
  if (failure.reason !== "content-type") return [];
  const what = failure.contentType?.startsWith("text/html")
    ? "that is a web page, no MCP server"
    : "that is no MCP server";
  return [`${what}: check url${isAtMcp(config) ? "" : `; ${MAYBE_MCP}`}`];
}

function isAtMcp({ transport }: ServerConfig): boolean {
  return transport.kind === "http" && /\/mcp\/?(?:[?#]|$)/.test(transport.url);
}

function isPlainHttp({ transport }: ServerConfig): boolean {
  return transport.kind === "http" && transport.url.startsWith("http:");
}
