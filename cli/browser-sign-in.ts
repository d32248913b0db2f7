/**
 * Asks the person at the terminal to sign in with a browser: says where and what happens next, takes the pasted address of
 * a browser elsewhere, and says now and then that it is still waiting. Everything goes to stderr. Several servers take
 * turns. The lines typed meanwhile are read here alone, and standard input is left as it was.
 */
import { createInterface } from "node:readline";
import { type Invitation, inBrowser } from "../runtime/connect/auth/in-browser.ts";
import type { Callback, Interactive } from "../runtime/connect/auth/interactive.ts";
import { takeTerminal } from "./asking/terminal-queue.ts";
import type { Io } from "./io.ts";
import { asText, paint, printable } from "./print.ts";

export interface BrowserSignInOptions {
  /** Default true. */
  readonly openBrowser?: boolean;
  /** Take a pasted address from standard input, which nobody else reads then. */
  readonly readsInput: boolean;
  /** Milliseconds that the person has. */
  readonly timeoutMs?: number;
}

const MINUTE_MS = 60_000;

export function browserSignIn(
  io: Io,
  { openBrowser = true, readsInput, timeoutMs }: BrowserSignInOptions,
): Interactive {
  let reminder: NodeJS.Timeout | undefined;
  const interactive = inBrowser({
    env: io.env,
    signal: io.signal,
    openBrowser,
    ...(timeoutMs !== undefined && { timeoutMs }),
    invite: (invitation) => {
      io.err(inviting(invitation, io, readsInput));
      reminder = remind(io, invitation.timeoutMs);
    },
    ...(readsInput && { pasted: typedLines }),
    rejectPaste: (why) =>
      io.err(`what was pasted ${printable(why)}; paste the whole address that the browser ended up at\n`),
  });
  const end = () => clearInterval(reminder);
  return {
    open: async (request) => {
      const callback = await interactive.open(request);
      return {
        redirectUrl: callback.redirectUrl,
        close: () => callback.close(),
        authorize: (...wanted: Parameters<Callback["authorize"]>) =>
          takeTerminal(() => callback.authorize(...wanted).finally(end), io.signal),
      };
    },
  };
}

function inviting({ server, url, redirectUrl, isOpened, timeoutMs }: Invitation, io: Io, readsInput: boolean): string {
  const minutes = Math.max(1, Math.round(timeoutMs / MINUTE_MS));
  const lines = [
    `Sign in to "${server}" at ${paint(io.errLook, "bold", printable(url.host))}${isOpened ? ", in the browser that opens now, or at this address:" : ". Open this address in a browser:"}`,
    "",
    `  ${printable(url.href)}`,
    "",
    `It is waited for, ${minutes} minute${minutes === 1 ? "" : "s"} at most; Ctrl-C gives up.`,
  ];
  if (readsInput) {
    lines.push(
      `If that browser is on another machine, it ends at a page that can't be opened, at ${printable(redirectUrl)}?…`,
    );
    lines.push("Paste that page's whole address here and press Enter.");
  }
  return asText(lines);
}

/** A line a minute, which disturbs nobody who is about to paste. */
function remind(io: Io, timeoutMs: number): NodeJS.Timeout {
  let left = timeoutMs;
  return setInterval(() => {
    left -= MINUTE_MS;
    const minutes = Math.round(left / MINUTE_MS);
    if (minutes > 0) io.err(`still waiting for the sign-in, ${minutes} minute${minutes === 1 ? "" : "s"} left\n`);
  }, MINUTE_MS).unref();
}

/** Lines of standard input until the signal; its end is no answer. */
async function* typedLines(signal: AbortSignal): AsyncGenerator<string> {
  const lines = createInterface({ input: process.stdin, terminal: false });
  const close = () => lines.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    if (!signal.aborted) yield* lines;
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}
