/**
 * A person signs in with a browser: on this machine, which sends them back to a loopback server of ours, or on another one,
 * whose last address they paste. Both are waited for at once and the first counts. The wait ends with an answer, with
 * the time limit or with the signal, and leaves nothing listening.
 */
import { AuthError } from "./auth-error.ts";
import { openInBrowser } from "./browser.ts";
import { type CallbackServer, listenForCallback, readRedirect } from "./callback.ts";
import type { Callback, CallbackRequest, ExpectedAnswer, Interactive } from "./interactive.ts";

export interface Invitation {
  readonly server: string;
  /** Where the person signs in. */
  readonly url: URL;
  /** Where the browser is sent back to. */
  readonly redirectUrl: string;
  /** A browser has been started. */
  readonly isOpened: boolean;
  readonly timeoutMs: number;
}

export interface InBrowserOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Tells the person what to do. */
  readonly invite: (invitation: Invitation) => void;
  /** Lines that the person pastes, until the signal is aborted. */
  readonly pasted?: ((signal: AbortSignal) => AsyncIterable<string>) | undefined;
  /** A pasted line was no answer to this sign-in; the words follow "what was pasted". */
  readonly rejectPaste?: ((why: string) => void) | undefined;
  /** Default true. */
  readonly openBrowser?: boolean | undefined;
  /** Milliseconds that the person has, default 5 minutes. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 5 * 60_000;

export function inBrowser(options: InBrowserOptions): Interactive {
  return {
    async open(request) {
      const { hostname: host, pathname: path } = new URL(request.url);
      const { port, preferredPort } = request;
      const outcome = await listenForCallback({ host: host as "127.0.0.1", path, port, preferredPort });
      if (!outcome.ok) throw notListening(outcome);
      return new BrowserSignIn(outcome.callback, request, options);
    },
  };
}

function notListening({ port, code }: { port: number; code: string }): AuthError {
  const why = code === "EADDRINUSE" ? "is in use by another program" : `can't be listened on (${code})`;
  return new AuthError("sign-in-failed", `port ${port}, to which the browser is to be sent back, ${why}`, {
    notes: ["end that program, or register another redirect URI and set oauth.callbackPort to its port"],
  });
}

class BrowserSignIn implements Callback {
  readonly redirectUrl: string;
  readonly #listener: CallbackServer;
  readonly #server: string;
  readonly #options: InBrowserOptions;

  constructor(listener: CallbackServer, { server, url }: CallbackRequest, options: InBrowserOptions) {
    this.#listener = listener;
    this.#server = server;
    this.#options = options;
    // One with a port is sent exactly as it is written.
    this.redirectUrl = new URL(url).port === "" ? listener.redirectUrl : url;
  }

  async authorize(url: URL, { redirectUrl, signal }: ExpectedAnswer): Promise<URL> {
    const { env, invite, pasted, timeoutMs = TIMEOUT_MS } = this.#options;
    const done = new AbortController();
    const answers = [this.#listener.receive(url).then((redirect) => redirect.url)];
    const isOpened = this.#options.openBrowser !== false && (await openInBrowser(url, env));
    invite({ server: this.#server, url, redirectUrl, isOpened, timeoutMs });
    if (pasted) answers.push(this.#fromPaste(pasted(done.signal), url));
    const callers = [signal, this.#options.signal].filter((one) => one !== undefined);
    try {
      return await Promise.race([...answers, ended(timeoutMs, callers, done.signal)]);
    } finally {
      done.abort();
    }
  }

  close(): Promise<void> {
    return this.#listener.close();
  }

  /** Stays unsettled where what is pasted ends without an answer: the browser may still come. */
  async #fromPaste(lines: AsyncIterable<string>, authorizationUrl: URL): Promise<URL> {
    for await (const line of lines) {
      const text = line.trim();
      if (text === "") continue;
      const redirect = URL.canParse(text) ? readRedirect(new URL(text), authorizationUrl) : undefined;
      if (redirect?.kind === "redirected") return redirect.url;
      this.#options.rejectPaste?.(redirect?.message ?? "is not an address");
    }
    return new Promise(() => {});
  }
}

/** Rejects when the time is up or somebody gives up. */
function ended(timeoutMs: number, signals: readonly AbortSignal[], done: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const release = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", onAbort);
    };
    const onAbort = () => reject(new AuthError("sign-in-failed", "the sign-in was cancelled"));
    const timer = setTimeout(() => {
      const message = `nobody completed the sign-in within ${describeTime(timeoutMs)}`;
      reject(new AuthError("sign-in-failed", message, { notes: ["try again when somebody is at the browser"] }));
    }, timeoutMs);
    done.addEventListener("abort", release, { once: true });
    for (const signal of signals) {
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
    }
  });
}

function describeTime(ms: number): string {
  return ms % 60_000 === 0 ? `${ms / 60_000} minute${ms === 60_000 ? "" : "s"}` : `${ms} ms`;
}
