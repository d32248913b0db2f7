/** What may come next after `/mcp`: subcommands, then servers, tools and exposures that there are. Asks no server. */
import { EXPOSURES } from "../../../schemas/config/server-config.ts";
import { currentServers, isEligible } from "../servers/current-servers.ts";
import type { PiSession } from "../session.ts";
import { terminalLine } from "../terminal-text.ts";
import { IN_PROJECT, SUBCOMMANDS, TOOL_EXPOSURES } from "./mcp-arguments.ts";

export interface Completion {
  /** What the whole of the arguments becomes. */
  readonly value: string;
  readonly label: string;
  readonly description?: string;
}

/** Null where there is nothing to complete. */
export async function completeMcp(session: PiSession, prefix: string): Promise<Completion[] | null> {
  const words = prefix.trimStart().split(/\s+/);
  const last = words.pop() ?? "";
  const [verb, ...given] = words;
  const items = verb === undefined ? subcommands() : await following(session, verb, given);
  const found = items.filter(({ label }) => label.startsWith(last));
  // Enter takes what a list offers before it runs anything: a word that is whole needs no list.
  if (found.length === 0 || found.some(({ label }) => label === last)) return null;
  const before = words.map((word) => `${word} `).join("");
  return found.map((item) => ({ ...item, value: `${before}${item.value}` }));
}

function subcommands(): Completion[] {
  return Object.entries(SUBCOMMANDS).map(([label, description]) => ({
    value: label === "help" ? label : `${label} `,
    label,
    description,
  }));
}

async function following(session: PiSession, verb: string, given: readonly string[]): Promise<Completion[]> {
  if (!Object.hasOwn(SUBCOMMANDS, verb) || verb === "help") return [];
  const [server, ...rest] = given.filter((word) => word !== IN_PROJECT);
  if (server === undefined) {
    const { rows } = await currentServers(session);
    return rows.filter((row) => isEligible(verb, row)).map(({ name, kind }) => completion(name, kind));
  }
  const mayBeInProject = ["enable", "disable", "exposure"].includes(verb) && !given.includes(IN_PROJECT);
  const option = mayBeInProject ? [completion(IN_PROJECT, "in this project alone")] : [];
  if (verb !== "exposure") return option;
  if (rest.length === 0) return [...EXPOSURES.map((one) => completion(one, "")), ...toolsOf(session, server)];
  const isWhole = TOOL_EXPOSURES.some((one) => one === rest.at(-1));
  return isWhole ? option : TOOL_EXPOSURES.map((one) => completion(one, ""));
}

function toolsOf({ table }: PiSession, server: string): Completion[] {
  const tools = table.tools({ server, includeHidden: true });
  // What a server calls a tool goes into the editor.
  return tools
    .filter(({ tool }) => /^\S+$/.test(tool) && terminalLine(tool) === tool)
    .map(({ tool, exposure }) => completion(tool, exposure));
}

function completion(name: string, description: string): Completion {
  return { value: name, label: terminalLine(name), ...(description !== "" && { description }) };
}
