/**
 * Whether a project's servers may be used at all. Pi gates what lies in `.pi`, and calls every other folder trusted
 * without having asked; but our configuration and artifacts lie at a project's root as well, and what they name is run. So a
 * folder counts as trusted only where somebody has said so. Looks whether files are there and reads none of them.
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { ConfigurationFiles } from "../connect/configuration-files.ts";

/** What Pi knows about trust, and keeps: its own functions. */
export interface PiTrust {
  /** Folders in whose `.pi` something lies that Pi asks about: its answer is then somebody's. */
  readonly isGated: (folder: string) => boolean;
  /** The decision saved for the folder or the nearest one above it. */
  readonly saved: (folder: string) => boolean | null;
  readonly save: (folder: string, trusted: boolean) => void;
  /** `defaultProjectTrust` in the user's settings. */
  readonly byDefault: () => "ask" | "always" | "never" | undefined;
  /** What `--approve` or `--no-approve` said. */
  readonly commandLine: boolean | undefined;
}

export type Trust = { readonly trusted: true } | { readonly trusted: false; readonly notice?: string };

/** Whether it is known before Pi has asked that the project's files may be used: for what can be done early. */
export function isKnownTrusted(files: ConfigurationFiles, pi: PiTrust): boolean {
  return hasProjectFiles(files) && (pi.commandLine ?? pi.saved(files.projectDir) === true);
}

/**
 * Asks the user where nobody has decided and there is somebody to ask; without a UI such a project is left out, and
 * `notice` says how to change that. A project that has nothing of ours is left out silently.
 */
export async function projectTrust(
  files: ConfigurationFiles,
  ctx: Pick<ExtensionContext, "isProjectTrusted" | "hasUI" | "cwd"> & {
    readonly ui: Pick<ExtensionContext["ui"], "confirm">;
  },
  pi: PiTrust,
): Promise<Trust> {
  if (!ctx.isProjectTrusted() || !hasProjectFiles(files)) return { trusted: false };
  const { projectDir } = files;
  if (pi.commandLine === true || (projectDir === ctx.cwd && pi.isGated(projectDir))) return { trusted: true };
  const saved = pi.saved(projectDir);
  if (saved !== null) return saved ? { trusted: true } : { trusted: false };
  if (pi.byDefault() === "always") return { trusted: true };
  if (pi.byDefault() === "never") return { trusted: false };
  if (!ctx.hasUI) return { trusted: false, notice: notTrusted(projectDir) };
  const trusted = await ctx.ui.confirm(
    "Use this project's MCP servers?",
    `${projectDir}\n\nIts mcp.json names programs that run with your permissions. The answer is kept with Pi's project trust.`,
  );
  pi.save(projectDir, trusted);
  return trusted ? { trusted: true } : { trusted: false };
}

function notTrusted(folder: string): string {
  return `The MCP servers of ${folder} are left out: nobody has trusted this folder. Start Pi with --approve, or use /trust in it.`;
}

function hasProjectFiles({ candidates, defaultOut }: ConfigurationFiles): boolean {
  const files = candidates.filter((file) => file.scope === "project").map((file) => file.path);
  return [...files, join(defaultOut.project, "manifest.json")].some(
    (path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined,
  );
}
