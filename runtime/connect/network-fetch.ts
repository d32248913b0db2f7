/**
 * How a server is reached: directly with node's own `fetch`, or, where a proxy applies or the server has a certificate
 * authority of its own, with undici's, which is imported by the first such request and by nothing else. Connections are
 * shared by everyone in the process who goes the same way.
 */
import * as tls from "node:tls";
import type { Dispatcher } from "undici";
import type { Environment } from "../../schemas/expand.ts";
import { readCaFile } from "./ca-file.ts";
import { ProxyError } from "./failure.ts";
import type { Fetch } from "./http-fetch.ts";
import { chooseProxy } from "./proxy.ts";
import { withPortCode } from "./refused-port.ts";

export interface NetworkOptions {
  readonly env: Environment;
  /** Certificates in PEM that are trusted beside the usual ones. */
  readonly ca?: string | undefined;
}

/** A `fetch` that goes the way its address is to be reached. */
export function networkFetch({ env, ca }: NetworkOptions): Fetch {
  return async (address, init) => {
    const url = new URL(address);
    const choice = chooseProxy(url, env);
    if (choice.kind === "unusable") throw failed(new ProxyError(choice.message));
    const proxy = choice.kind === "proxy" ? choice.url : undefined;
    try {
      if (proxy === undefined && ca === undefined) return await fetch(url, init);
      const undici = await import("undici");
      const dispatcher = await dispatcherFor(undici, proxy, ca);
      return (await undici.fetch(url, { ...init, dispatcher } as object)) as unknown as Response;
    } catch (error) {
      if (proxy === undefined || !(error instanceof TypeError) || error.cause === undefined)
        throw withPortCode(error, url);
      throw failed(ProxyError.by(proxy, error.cause));
    }
  };
}

/** As `fetch` fails: the reason is the cause. */
function failed(cause: Error): TypeError {
  return new TypeError("fetch failed", { cause });
}

const dispatchers = new Map<string, Promise<Dispatcher>>();

function dispatcherFor(
  undici: typeof import("undici"),
  proxy: URL | undefined,
  ca: string | undefined,
): Promise<Dispatcher> {
  const key = JSON.stringify([proxy?.href, ca]);
  const made = dispatchers.get(key) ?? newDispatcher(undici, proxy, ca);
  dispatchers.set(key, made);
  return made;
}

async function newDispatcher(
  undici: typeof import("undici"),
  proxy: URL | undefined,
  ca: string | undefined,
): Promise<Dispatcher> {
  const trust = ca === undefined ? {} : { ca: [...(await usualCertificates()), ca] };
  return proxy
    ? new undici.ProxyAgent({ uri: proxy.href, proxyTunnel: false, requestTls: trust, proxyTls: trust, ...bodyTimes })
    : new undici.Agent({ connect: trust, ...bodyTimes });
}

/** Our own timeouts decide how long an answer or the next event may take. */
const bodyTimes = { headersTimeout: 0, bodyTimeout: 0 };

async function usualCertificates(): Promise<readonly string[]> {
  const { getCACertificates } = tls as { getCACertificates?: (type: "default") => string[] };
  return getCACertificates?.("default") ?? [...tls.rootCertificates, ...(await extraCertificates())];
}

/** Node 20 can't be asked for what NODE_EXTRA_CA_CERTS added when it started. A file that can't be used has been warned of then. */
async function extraCertificates(): Promise<readonly string[]> {
  const path = process.env["NODE_EXTRA_CA_CERTS"];
  const read = path ? await readCaFile(path) : undefined;
  return read?.ok ? [read.pem] : [];
}
