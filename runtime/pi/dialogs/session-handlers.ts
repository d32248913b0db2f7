/**
 * What servers may ask in a session of Pi: input and visits of the user, in dialogs; a completion of the session's models,
 * with approval; the folder that the session works in, as Pi itself tells it. Without a UI only the last, so that servers know
 * beforehand that nobody can be asked, and a call that can't do without fails with the reason. What draws, checks and asks is
 * loaded with the first question.
 */
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { ClientHandlers, ElicitationModes, QuestionContext } from "../../client-features.ts";
import type { PiSession } from "../session.ts";
import { terminalLine } from "../terminal-text.ts";
import type { Dialogs } from "./dialog-queue.ts";
import type { OpenPage } from "./dialog-visit.ts";

/** Why a server can't ask. */
export const NOBODY = "nobody can be asked: Pi runs without a user interface here (print or JSON mode)";

export function sessionHandlers(session: PiSession): ClientHandlers {
  const { sessionDir } = session.files;
  const roots = async () => [{ uri: pathToFileURL(sessionDir).href, name: basename(sessionDir) }];
  if (!session.ctx.hasUI) {
    return { roots, absence: NOBODY };
  }
  return {
    roots,
    elicitation: elicitation(session, async (url) =>
      (await import("../../connect/auth/browser.ts")).openInBrowser(url, session.env),
    ),
    sampling: async (params, context) => (await import("../sampling/sampling.ts")).sample(session, params, context),
  };
}

type Result = Record<string, unknown>;

function elicitation({ dialogs }: PiSession, openPage: OpenPage): ElicitationModes {
  /** Visits that go on, by who asked for them. */
  const visits = new Map<string, AbortController>();
  /** Visits that the user said yes to and whose end nobody has heard of: a server may tell of others as often as it likes. */
  const begun = new Set<string>();
  const heard = async (shown: Dialogs, { server }: QuestionContext, ask: () => Promise<Result>): Promise<Result> => {
    const isGiven = (answer: Result) => answer["action"] === "accept";
    return (await dialogs.patience.hear(shown, server, ask, isGiven)) ?? { action: "cancel" };
  };
  const keyOf = (server: string, elicitationId: unknown) => JSON.stringify([server, elicitationId]);
  return {
    form: async (params, context) => {
      const { askForm } = await import("./dialog-form.ts");
      return dialogs.take((shown) => heard(shown, context, () => askForm(shown, params, context)), turnOf(context));
    },
    url: async (params, context) => {
      const { askFinished, askVisit } = await import("./dialog-visit.ts");
      const key = keyOf(context.server, params["elicitationId"]);
      const done = new AbortController();
      visits.set(key, done);
      try {
        const answer = await dialogs.take(
          (shown) => heard(shown, context, () => askVisit(shown, params, context, openPage)),
          turnOf(context),
        );
        if (answer["action"] === "accept") begun.add(key);
        if (answer["action"] !== "accept" || context.whenDone !== true || done.signal.aborted) return answer;
        const signal = context.signal ? AbortSignal.any([context.signal, done.signal]) : done.signal;
        const finished = await dialogs
          .take((shown) => askFinished(shown, params, context), { signal })
          .catch((error: unknown) => {
            if (!done.signal.aborted) throw error;
          });
        return done.signal.aborted ? answer : (finished ?? answer);
      } finally {
        if (visits.get(key) === done) visits.delete(key);
      }
    },
    completed: (elicitationId, server) => {
      const key = keyOf(server, elicitationId);
      visits.get(key)?.abort();
      if (begun.delete(key))
        dialogs.notify(`Server "${terminalLine(server)}" says that what it sent you to its page for is done.`, "info");
    },
  };
}

function turnOf({ server, signal }: QuestionContext): { signal: AbortSignal | undefined; withdrawn: string } {
  return { signal, withdrawn: `Server "${terminalLine(server)}" no longer waits for an answer.` };
}
