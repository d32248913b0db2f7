/**
 * URL mode in Pi's dialogs: a server wants somebody to do something on a page of its own, out of sight of this program. Shows
 * whose page it is and the whole address, opens it only when told to, and never fetches it.
 */
import type { QuestionContext } from "../../client-features.ts";
import { readAddress } from "../../questions/address.ts";
import type { Dialogs } from "./dialog-queue.ts";
import { below, CANCEL, DECLINE, questionHead, shortName } from "./dialog-text.ts";

type Params = Readonly<Record<string, unknown>>;
type Result = Record<string, unknown>;
type Way = "decline" | "cancel";

/** Whether a browser was started. */
export type OpenPage = (url: URL) => Promise<boolean>;

export async function askVisit(
  dialogs: Dialogs,
  params: Params,
  context: QuestionContext,
  openPage: OpenPage,
): Promise<Result> {
  const head = questionHead("wants you to open a page", params["message"], context, dialogs.columns);
  const address = readAddress(String(params["url"]));
  if (!address.ok) {
    const title = below(head, `It can't be opened: ${address.reason}.`);
    return { action: (await dialogs.select<Way>(title, [CANCEL, DECLINE])) ?? "cancel" };
  }
  const { host, href, warnings } = address;
  const careful = warnings.map((warning) => `Careful: ${warning}.`);
  // The host next to the choices: of a dialog that is too long the beginning is out of sight.
  const title = below(head, `URL:  ${href}`, `Host: ${host}`, ...careful);
  // Enter alone, perhaps meant for the editor, must open nothing.
  const next = await dialogs.select<"open" | "self" | Way>(title, [
    CANCEL,
    { label: "Open it in the browser", value: "open" },
    { label: "I open it myself", value: "self" },
    DECLINE,
  ]);
  if (next !== "open" && next !== "self") return { action: next ?? "cancel" };
  const isOpen = next === "open" && (await openPage(new URL(href)));
  const what = next === "open" && !isOpen ? "No browser could be started here. The" : "The";
  if (!isOpen) dialogs.notify(`${what} page of server "${shortName(context.server)}":\n${href}`, "info");
  return { action: "accept" };
}

/** Waits for the end of a visit, which the server can't tell by itself. */
export async function askFinished(dialogs: Dialogs, params: Params, { server }: QuestionContext): Promise<Result> {
  const address = readAddress(String(params["url"]));
  const title = below(
    `When you have finished on the page of server "${shortName(server)}":`,
    address.ok ? address.href : undefined,
  );
  const next = await dialogs.select<"accept" | "cancel">(title, [{ label: "Done, go on", value: "accept" }, CANCEL]);
  return { action: next ?? "cancel" };
}
