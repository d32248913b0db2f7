/**
 * URL mode: a server wants somebody to do something in a browser, out of sight of this program. Shows whose page it is
 * and the whole address, opens it only when told to, and never fetches it. Only http and https addresses
 * can be opened.
 */
import type { QuestionContext } from "../../runtime/client-features.ts";
import { readAddress } from "../../runtime/questions/address.ts";
import { type Look, paint, printable } from "../print.ts";
import { heading } from "./heading.ts";
import { CANCEL, DECLINE, type Prompts } from "./prompts.ts";

type Params = Readonly<Record<string, unknown>>;
type Result = Record<string, unknown>;

/** Opens an address in the user's browser. Rejects when that can't be tried. */
export type OpenUrl = (url: string) => Promise<void>;

export async function askVisit(
  prompts: Prompts,
  params: Params,
  context: QuestionContext,
  { look, openUrl }: { readonly look: Look; readonly openUrl: OpenUrl },
): Promise<Result> {
  prompts.write(heading("wants you to open a page in your browser", params, context, look));
  const address = readAddress(String(params["url"]));
  if (!address.ok) {
    prompts.write(`${paint(look, "yellow", `It can't be opened: ${address.reason}.`)}\n`);
    return { action: await prompts.select("What now?", [DECLINE, CANCEL]) };
  }
  prompts.write(`  Host: ${paint(look, "bold", address.host)}\n  URL:  ${address.href}\n`);
  for (const warning of address.warnings) prompts.write(`${paint(look, "yellow", `  Careful: ${warning}.`)}\n`);
  const next = await prompts.select<"open" | "link" | "decline" | "cancel">(
    "Open it?",
    [
      { value: "open", name: "Yes, open it in the browser" },
      { value: "link", name: "I open it myself: show the link alone" },
      DECLINE,
      CANCEL,
    ],
    { initial: "cancel" },
  );
  if (next === "decline" || next === "cancel") return { action: next };
  const refusal = next === "open" ? await refusalOf(address.href, openUrl) : undefined;
  if (refusal !== undefined) prompts.write(`The browser could not be opened (${refusal}).\n`);
  if (next === "link" || refusal !== undefined) prompts.write(`The link is:\n\n${address.href}\n\n`);
  return { action: "accept" };
}

/** Waits for the end of a visit, which the server can't tell by itself. */
export async function askFinished(prompts: Prompts): Promise<Result> {
  const choices = [{ value: "accept", name: "Done, go on" }, CANCEL] as const;
  return { action: await prompts.select<"accept" | "cancel">("When you have finished there:", choices) };
}

/** Why it could not be; nothing when it was. */
async function refusalOf(href: string, openUrl: OpenUrl): Promise<string | undefined> {
  try {
    await openUrl(href);
    return undefined;
  } catch (error) {
    return printable(error instanceof Error ? error.message : String(error)).slice(0, 200);
  }
}
