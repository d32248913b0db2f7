/**
 * The `mcp_servers` section of the system prompt: which servers have tools that are not declared to the model, how those
 * are reached, and a line on what each is for. Pure, from artifacts alone, sorted by name: its bytes don't depend on
 * which servers are connected, and no server's text leaves its own line.
 */
import type { ToolTable } from "../../../schemas/artifacts/tool-table.ts";
import { shortened } from "../terminal-text.ts";
import { type Discovery, neededDiscovery } from "./exposure.ts";
import { promptLine } from "./section-text.ts";

export const SERVERS_SECTION = "mcp_servers";

/** UTF-16 units of a server's line on what it is for, and of the section as a whole. */
const MAX_SUMMARY_LENGTH = 250;
const MAX_SECTION_LENGTH = 4096;

export interface SectionServer {
  /** `mcp__<server>` */
  readonly namespace: string;
  readonly reach: Discovery;
  /** What it is for; may be empty and of many lines. */
  readonly summary: string;
}

/** The servers of a table that have tools which are not declared, sorted by name. */
export function sectionServers(table: ToolTable): readonly SectionServer[] {
  return table.servers().flatMap((server): SectionServer[] => {
    const reach = neededDiscovery(table.tools({ server: server.name }).map((tool) => tool.exposure));
    if (!reach.codemode && !reach.toolSearch) return [];
    const definition = table.serverDefinition(server.name);
    // Then none of its tools is there either.
    if (!definition.ok) return [];
    const described = definition.value;
    return [
      {
        namespace: server.namespace,
        reach,
        summary: described?.description?.trim() || described?.instructions?.trim() || "",
      },
    ];
  });
}

/** The section's text; undefined where there is nothing to say. */
export function serversSection(servers: readonly SectionServer[]): string | undefined {
  if (servers.length === 0) return undefined;
  const intro = introduction(servers);
  const heads = servers.map(
    ({ namespace, reach }) => `- ${namespace} (${reach.codemode ? "codemode" : "tool_search"})`,
  );
  const rest = (kept: number) => {
    const left = heads.length - kept;
    return left === 0 ? [] : [`- … ${left} more; find their tools with searchTools()`];
  };
  const lengthOf = (kept: number) => [intro, ...heads.slice(0, kept), ...rest(kept)].join("\n").length;
  let kept = heads.length;
  while (kept > 0 && lengthOf(kept) > MAX_SECTION_LENGTH) kept--;
  const room = kept === 0 ? 0 : Math.floor((MAX_SECTION_LENGTH - lengthOf(kept)) / kept) - ": ".length;
  const lines = heads.slice(0, kept).map((head, index) => {
    const summary = summaryLine(servers[index]!.summary, Math.min(MAX_SUMMARY_LENGTH, room));
    return summary === "" ? head : `${head}: ${summary}`;
  });
  return [intro, ...lines, ...rest(kept)].join("\n");
}

function introduction(servers: readonly SectionServer[]): string {
  const sentences = ["MCP servers whose tools are not all declared to you."];
  if (servers.some(({ reach }) => reach.codemode))
    sentences.push("Call tools of `codemode` servers in codemode scripts.");
  if (servers.some(({ reach }) => !reach.codemode))
    sentences.push("Load tools of `tool_search` servers with `tool_search`.");
  return sentences.join(" ");
}

/** The first line, at most `length` long, never ending in half a character. */
function summaryLine(text: string, length: number): string {
  const line = promptLine(text);
  return length < 2 && line.length > length ? "" : shortened(line, length);
}
