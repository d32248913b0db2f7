/**
 * Whether a project's servers may be used at all. Pi gates what lies in `.pi`, and calls every other folder trusted
 * without having asked; but our configuration and artifacts lie at a project's root as well, and what they name is run. So a
 * folder counts as trusted only where somebody has said so. Looks whether files are there and reads none of them.
 */
import { join } from "node:path";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type ConfigurationFiles, isThere } from "../../connect/configuration-files.ts";
import { terminalLine } from "../terminal-text.ts";
import type { PiTrust } from "./pi-trust.ts";

export type Trust = { readonly trusted: true } | { readonly trusted: false; readonly notice?: string };

/**
 * Asks the user where nobody has decided and there is a terminal to ask on; without one such a project is left out, and
 * `notice` says how to change that. A project that has nothing of ours is left out silently.
 */
export async function projectTrust(
  files: ConfigurationFiles,
  ctx: Pick<ExtensionContext, "isProjectTrusted" | "mode" | "cwd"> & {
    readonly ui: Pick<ExtensionContext["ui"], "select">;
  },
  pi: PiTrust,
): Promise<Trust> {
  if (!ctx.isProjectTrusted() || !hasProjectFiles(files)) return { trusted: false };
  const { projectDir } = files;
  const decided = pi.decidedForThisRun(projectDir);
  if (decided !== undefined) return { trusted: decided };
  const saved = pi.saved(projectDir);
  if (saved === true || (await pi.isApproved())) return { trusted: true };
  if (projectDir === ctx.cwd && (await pi.isGated(projectDir))) return { trusted: true };
  if (saved === false) return { trusted: false };
  if (pi.byDefault() === "always") return { trusted: true };
  if (pi.byDefault() === "never") return { trusted: false };
  // As with Pi's own question: elsewhere the session would wait for somebody who may not be there.
  if (ctx.mode !== "tui") return { trusted: false, notice: notTrusted(projectDir) };
  const answer = await ask(projectDir, ctx.ui);
  if (answer.isKept) await pi.save(projectDir, answer.trusted);
  else pi.decideForThisRun(projectDir, answer.trusted);
  return { trusted: answer.trusted };
}

interface Answer {
  readonly label: string;
  readonly trusted: boolean;
  /** For later sessions as well, and for Pi. */
  readonly isKept: boolean;
}

const LEAVE_OUT: Answer = { label: "Leave them out this time", trusted: false, isKept: false };
const ANSWERS: readonly Answer[] = [
  { label: "Use them, and trust this project", trusted: true, isKept: true },
  { label: "Use them this time only", trusted: true, isKept: false },
  LEAVE_OUT,
  { label: "Never trust this project", trusted: false, isKept: true },
];

/** Whoever closes the question without an answer has not decided. */
async function ask(folder: string, ui: Pick<ExtensionContext["ui"], "select">): Promise<Answer> {
  const title =
    `Use the MCP servers of this project?\n${terminalLine(folder)}\n\nIts mcp.json names programs that run with your permissions. ` +
    "To trust it or not is kept for Pi as a whole: its extensions and settings too.";
  const labels = ANSWERS.map(({ label }) => label);
  const chosen = await ui.select(title, labels);
  return ANSWERS.find(({ label }) => label === chosen) ?? LEAVE_OUT;
}

function notTrusted(folder: string): string {
  return `The MCP servers of ${folder} are left out: nobody has trusted this folder. Start Pi with --approve, or use /trust in it.`;
}

function hasProjectFiles({ candidates, defaultOut }: ConfigurationFiles): boolean {
  const files = candidates.filter((file) => file.scope === "project").map((file) => file.path);
  return [...files, join(defaultOut.project, "manifest.json")].some(isThere);
}
