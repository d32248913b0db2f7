/**
 * The entry of the Pi extension. Pi evaluates this one file itself, which is slow for many, so it only takes what Pi alone
 * can give and has Node load everything else.
 */
import { createRequire } from "node:module";
import {
  type ExtensionAPI,
  getAgentDir,
  hasTrustRequiringProjectResources,
  ProjectTrustStore,
} from "@earendil-works/pi-coding-agent";
import { Text } from "@earendil-works/pi-tui";
import type * as Wiring from "./wiring.ts";

export default function pimcp(pi: ExtensionAPI): Promise<void> {
  const { wire } = createRequire(import.meta.url)("./wiring.js") as typeof Wiring;
  const agentDir = getAgentDir();
  const decisions = () => new ProjectTrustStore(agentDir);
  return wire(pi, {
    agentDir,
    tui: { Text },
    trust: {
      isGated: hasTrustRequiringProjectResources,
      saved: (folder) => decisions().get(folder),
      save: (folder, trusted) => decisions().set(folder, trusted),
      byDefault: () => pi.getSettings().defaultProjectTrust,
      commandLine: approvalOf(process.argv),
    },
  });
}

function approvalOf(args: readonly string[]): boolean | undefined {
  if (args.includes("--no-approve") || args.includes("-na")) return false;
  return args.includes("--approve") || args.includes("-a") ? true : undefined;
}
