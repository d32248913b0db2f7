/**
 * Signing in with a browser from a session: says where, takes the pasted address of a browser elsewhere, and stops asking when
 * the browser comes back by itself. Dismissing the question gives up. Without a UI the browser alone is waited for.
 */
import { type Invitation, inBrowser } from "../../connect/auth/in-browser.ts";
import type { Interactive } from "../../connect/auth/interactive.ts";
import type { PiSession } from "../session.ts";
import { terminalLine, terminalText } from "../terminal-text.ts";

export interface AddressQuestion {
  readonly invitation: Invitation;
  /** Why the last answer was not taken; empty the first time. */
  readonly rejected: string;
  /** Aborted when nobody needs the answer any more. */
  readonly ended: AbortSignal;
}

/** Undefined when it was dismissed. */
export type AskForAddress = (question: AddressQuestion) => Promise<string | undefined>;

export interface DialogSignInOptions {
  readonly session: Pick<PiSession, "dialogs" | "env" | "signal">;
  /** Aborted here when the user gives up. */
  readonly cancel: AbortController;
  /** Without it nobody can be asked. */
  readonly ask: AskForAddress | undefined;
  /** Says where to go, where nobody is asked. */
  readonly say: (text: string) => void;
}

export function dialogSignIn({ session, cancel, ask, say }: DialogSignInOptions): Interactive {
  let invitation: Invitation | undefined;
  let rejected = "";
  return inBrowser({
    env: session.env,
    signal: AbortSignal.any([session.signal, cancel.signal]),
    invite: (invited) => {
      invitation = invited;
      if (ask === undefined) say(`${invitationText(invited)}\n${terminalLine(invited.url.href)}`);
    },
    ...(ask && { pasted: (ended) => pastedLines(ask, ended) }),
    rejectPaste: (why) => {
      rejected = `What was pasted ${why}.`;
    },
  });

  async function* pastedLines(ask: AskForAddress, ended: AbortSignal): AsyncGenerator<string> {
    while (!ended.aborted && invitation !== undefined) {
      const question = { invitation, rejected, ended };
      const line = await session.dialogs.take(() => ask(question), { signal: ended }).catch(() => undefined);
      if (ended.aborted) return;
      if (line === undefined) return cancel.abort();
      yield line;
    }
  }
}

/** In Pi's own dialog, which another program may show. */
export function askInDialog(ui: {
  input(title: string, placeholder?: string, options?: { signal?: AbortSignal }): Promise<string | undefined>;
}): AskForAddress {
  return ({ invitation, rejected, ended }) => {
    const where = `${invitationText(invitation)}\n${terminalLine(invitation.url.href)}`;
    const what = "If that browser is on another machine, paste the address it ends up at:";
    const title = [where, "", ...(rejected === "" ? [] : [rejected]), what].join("\n");
    return ui.input(terminalText(title), `${invitation.redirectUrl}?…`, { signal: ended });
  };
}

export function invitationText({ server, url, isOpened, timeoutMs }: Invitation): string {
  const minutes = Math.max(1, Math.round(timeoutMs / 60_000));
  const how = isOpened ? "in the browser that opens now, or at" : "in a browser, at";
  return `Sign in to "${server}" (${terminalLine(url.host)}) within ${minutes} minute${minutes === 1 ? "" : "s"}, ${how}`;
}
