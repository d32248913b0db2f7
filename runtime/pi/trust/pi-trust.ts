/**
 * What is known of trust outside of one session: what the user decided in Pi for a folder, for this run or for good. Reads
 * Pi's own file of decisions and the command line; whatever is not in plain sight is asked of Pi's own functions. Decides
 * nothing, and takes what it can't read for no decision.
 */
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { PiHost } from "../host.ts";

export interface PiTrust {
  /** Something lies in the folder's `.pi`, or in `.agents`, that Pi asks about: its answer is then somebody's. */
  readonly isGated: (folder: string) => Promise<boolean>;
  /** The decision saved for the folder or the nearest one above it. */
  readonly saved: (folder: string) => boolean | undefined;
  readonly save: (folder: string, trusted: boolean) => Promise<void>;
  /** What was answered for this process alone; `/reload` and other sessions in it don't ask again. */
  readonly decidedForThisRun: (folder: string) => boolean | undefined;
  readonly decideForThisRun: (folder: string, trusted: boolean) => void;
  /** `defaultProjectTrust` in the user's settings. */
  readonly byDefault: () => "ask" | "always" | "never" | undefined;
  /** This run was started with `--approve`. */
  readonly isApproved: () => Promise<boolean>;
}

const thisRun = new Map<string, boolean>();

/** What the process was started with; `title` is `process.title`. */
export interface Invocation {
  readonly argv: readonly string[];
  readonly title: string;
}

export function piTrust(
  pi: Pick<ExtensionAPI, "getSettings">,
  host: Pick<PiHost, "codingAgent">,
  options: { readonly agentDir: string; readonly invocation?: Invocation },
): PiTrust {
  const { agentDir, invocation = process } = options;
  return {
    isGated: async (folder) => (await host.codingAgent()).hasTrustRequiringProjectResources(folder),
    saved: (folder) => savedDecision(join(agentDir, "trust.json"), folder),
    save: async (folder, trusted) => {
      const { ProjectTrustStore } = await host.codingAgent();
      new ProjectTrustStore(agentDir).set(folder, trusted);
    },
    decidedForThisRun: (folder) => thisRun.get(folder),
    decideForThisRun: (folder, trusted) => void thisRun.set(folder, trusted),
    byDefault: () => pi.getSettings().defaultProjectTrust,
    isApproved: async () => {
      const args = invocation.argv.slice(2);
      switch (approval(invocation.title, args)) {
        case "given":
          return true;
        case "unclear":
          return (await host.codingAgent()).parseArgs([...args]).projectTrustOverride === true;
        default:
          return false;
      }
    },
  };
}

/** What Pi calls its process; an application that has Pi in it has a command line of its own. */
export function isPi(title: string): boolean {
  return title === "pi" || title === "pi-rpc";
}

/**
 * Whether Pi was told to trust the project. `unclear` where only Pi can tell if the word was an option or the value of the
 * option before it.
 */
export function approval(title: string, args: readonly string[]): "given" | "unclear" | "none" {
  if (!isPi(title)) return "none";
  const words = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  const at = words.flatMap((word, index) => (word === "--approve" || word === "-a" ? [index] : []));
  if (at.length === 0) return "none";
  if (words.includes("--no-approve") || words.includes("-na")) return "unclear";
  return at.some((index) => index === 0 || !words[index - 1]!.startsWith("-")) ? "given" : "unclear";
}

/** Pi writes `{ "<canonical folder>": true | false | null }`. */
export function savedDecision(file: string, folder: string): boolean | undefined {
  let decisions: unknown;
  let start: string;
  try {
    decisions = JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, ""));
    start = realpathSync(folder);
  } catch {
    return undefined; // nobody has decided anything yet; a file that Pi can't read it complains about itself
  }
  if (typeof decisions !== "object" || decisions === null) return undefined;
  const byFolder = new Map(Object.entries(decisions).map(([path, decision]) => [comparable(path), decision]));
  for (let at = start; ; at = dirname(at)) {
    const decision = byFolder.get(comparable(at));
    if (typeof decision === "boolean") return decision;
    if (dirname(at) === at) return undefined;
  }
}

/** Windows doesn't tell upper from lower case in paths. */
function comparable(path: string): string {
  return process.platform === "win32" ? path.toLowerCase() : path;
}
