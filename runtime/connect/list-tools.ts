/**
 * Every page of a server's `tools/list`, whatever the server does with its cursors. Ends by itself: at the last
 * page, at a cursor that can't lead on, or at the caps below, and says so when something may be missing.
 * Entries are kept as sent, but for credentials of ours that a server repeats; only those that no name can be told
 * of are left out.
 */
import { canonicalJson } from "../../schemas/canonical.ts";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import { type Diagnostic, type DiagnosticCode, diagnostic } from "../../schemas/diagnostic.ts";
import type { Connection } from "./connection.ts";
import type { Failure } from "./failure.ts";
import { headerFault } from "./param-headers.ts";
import { printableLine } from "./redact.ts";

/** The server as findings name it. */
export type ListedServer = Pick<ServerConfig, "name"> & Partial<Pick<ServerConfig, "location">>;

/** A tool as the server declares it, unknown keys included. Only `name` is certain to be a string. */
export interface ListedTool {
  readonly name: string;
  readonly [key: string]: unknown;
}

/** Caps on one server's list. The largest public server has some 200 tools in 500 kB. */
export const LIST_CAPS = { pages: 1000, tools: 20_000, bytes: 64 * 1024 * 1024, levels: 500 } as const;
/** Stands for an entry that no recursion could look at. */
const TOO_DEEP = Symbol("too deep");

export interface ToolList {
  readonly tools: readonly ListedTool[];
  /** The least over all pages; absent when any page carried none that is valid. */
  readonly ttlMs?: number;
  readonly cacheScope: "public" | "private";
}

export type Listing =
  | { readonly ok: true; readonly list: ToolList; readonly diagnostics: readonly Diagnostic[] }
  /** `malformed`: the server answered without a list. */
  | { readonly ok: false; readonly failure: Failure | { readonly kind: "malformed"; readonly message: string } };

export interface ListOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds per page. */
  readonly timeoutMs: number;
}

type Page = Readonly<Record<string, unknown>>;

export async function listTools(connection: Connection, server: ListedServer, options: ListOptions): Promise<Listing> {
  const report = reporter(server);
  const pages: Page[] = [];
  const entries: unknown[] = [];
  const cursors = new Set<string>();
  let bytes = 0;
  let cursor: string | undefined;
  for (;;) {
    const outcome = await connection.request("tools/list", cursor === undefined ? undefined : { cursor }, options);
    // A page that fails makes the list incomplete in a way that nobody asked for: that is no list.
    if (!outcome.ok) return outcome;
    const page = outcome.result;
    if (!Array.isArray(page["tools"])) {
      return { ok: false, failure: { kind: "malformed", message: "tools/list was answered without a list of tools" } };
    }
    pages.push(page);
    for (const entry of page["tools"]) {
      const isBounded = isNoDeeper(entry, LIST_CAPS.levels);
      entries.push(isBounded ? entry : TOO_DEEP);
      bytes += isBounded ? (JSON.stringify(entry)?.length ?? 0) : 0;
    }
    const end = endOf(page["nextCursor"], { cursors, pages: pages.length, tools: entries.length, bytes });
    if (end !== undefined) {
      if (end.why !== undefined)
        report("list-truncated", `the tool list ends after ${entries.length} tools: ${end.why}`, end);
      break;
    }
    cursor = page["nextCursor"] as string;
    cursors.add(cursor);
  }
  const kept = discreet(named(entries, report), connection, report);
  const tools = distinct(mirrorable(kept, connection, report), report);
  return { ok: true, list: { tools, ...freshness(pages) }, diagnostics: report.diagnostics };
}

interface End {
  readonly why?: string;
  readonly severity?: "info";
}

/** Whether the list ends with this page; `why` is absent where it ends as it should. */
function endOf(
  next: unknown,
  seen: { cursors: ReadonlySet<string>; pages: number; tools: number; bytes: number },
): End | undefined {
  if (next === undefined || next === null) return {};
  // Most servers that send it mean the end.
  if (next === "") return { why: "the next page's cursor is empty", severity: "info" };
  if (typeof next !== "string") return { why: "the next page's cursor is not a string" };
  if (seen.cursors.has(next)) return { why: "the next page's cursor was used before" };
  if (seen.pages >= LIST_CAPS.pages) return { why: `it has more than ${LIST_CAPS.pages} pages` };
  if (seen.tools >= LIST_CAPS.tools) return { why: `it has more than ${LIST_CAPS.tools} tools` };
  if (seen.bytes >= LIST_CAPS.bytes) return { why: "it is larger than 64 MiB" };
  return undefined;
}

interface Report {
  (code: DiagnosticCode, message: string, details?: { severity?: "info"; pointer?: string; tool?: string }): void;
  readonly diagnostics: readonly Diagnostic[];
}

function reporter(server: ListedServer): Report {
  const diagnostics: Diagnostic[] = [];
  const add: Omit<Report, "diagnostics"> & ((...args: Parameters<Report>) => void) = (code, message, details = {}) => {
    const { severity, pointer, tool } = details;
    diagnostics.push(
      diagnostic(code, `server "${server.name}": ${message}`, {
        server: server.name,
        ...server.location,
        severity,
        pointer,
        tool,
      }),
    );
  };
  return Object.assign(add, { diagnostics });
}

interface Entry {
  readonly tool: ListedTool;
  readonly index: number;
}

function named(entries: readonly unknown[], report: Report): Entry[] {
  return entries.flatMap((entry, index) => {
    const name = typeof entry === "object" && entry !== null ? (entry as { name?: unknown }).name : undefined;
    if (typeof name === "string" && name !== "") return [{ tool: entry as ListedTool, index }];
    const why = entry === TOO_DEEP ? `is nested more than ${LIST_CAPS.levels} levels deep` : "has no name";
    report("invalid-tool", `entry ${index} of its tool list ${why} and is left out`, {
      pointer: `/tools/${index}`,
    });
    return [];
  });
}

/**
 * The entries without the credentials that the server was given: what is listed ends up in files. A tool that is named after
 * one can't be called by another name, so it is left out.
 */
function discreet(entries: readonly Entry[], connection: Connection, report: Report): Entry[] {
  const echoing = new Set<string>();
  let unnamable = 0;
  const kept = entries.flatMap(({ tool, index }): Entry[] => {
    const { value, found } = connection.redact(tool);
    if (found && value.name !== tool.name) {
      unnamable++;
      return [];
    }
    if (found) echoing.add(printableLine(tool.name, 80));
    return [{ tool: value, index }];
  });
  if (unnamable > 0) {
    const [are, their] =
      unnamable === 1 ? ["1 tool is", "its name holds"] : [`${unnamable} tools are`, "their names hold"];
    report("secret-echoed", `${are} left out: ${their} a secret that the server was given`);
  }
  if (echoing.size > 0)
    report("secret-echoed", `repeats a secret that it was given in ${toolsText([...echoing])}; it is left out`);
  return kept;
}

/**
 * Without tools whose `x-mcp-header` declarations are invalid, as the specification demands of clients over Streamable
 * HTTP. Elsewhere no header is ever made of an argument, and the tool is as good as any.
 */
function mirrorable(entries: readonly Entry[], { verdict }: Connection, report: Report): readonly Entry[] {
  if (verdict.era !== "modern" || verdict.transport !== "streamable-http") return entries;
  return entries.filter(({ tool, index }) => {
    const fault = headerFault(tool["inputSchema"]);
    if (fault === undefined) return true;
    const name = printableLine(tool.name, 80);
    report("invalid-tool", `tool "${name}" is left out: its ${printableLine(fault, 200)}`, {
      pointer: `/tools/${index}/inputSchema`,
      tool: tool.name,
    });
    return false;
  });
}

function toolsText(names: readonly string[]): string {
  const shown = names.slice(0, 10).map((name) => `"${name}"`);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : "";
  return `${names.length === 1 ? "tool" : "tools"} ${shown.join(", ")}${more}`;
}

/** Without recursion: `JSON.parse` reads any depth, and what comes after would overflow the stack. */
function isNoDeeper(value: unknown, levels: number): boolean {
  const left: [unknown, number][] = [[value, levels]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [current, room] = next;
    if (typeof current !== "object" || current === null) continue;
    if (room === 0) return false;
    for (const member of Object.values(current)) left.push([member, room - 1]);
  }
  return true;
}

/** One tool a name. Of several, the one whose canonical JSON sorts first: no order of the server's decides. */
function distinct(entries: readonly Entry[], report: Report): ListedTool[] {
  const chosen = new Map<string, Entry>();
  for (const entry of entries) {
    const { name } = entry.tool;
    const other = chosen.get(name);
    if (other === undefined) {
      chosen.set(name, entry);
      continue;
    }
    report("duplicate-tool", `lists the tool "${printableLine(name, 80)}" more than once; one is kept`, {
      tool: name,
      pointer: `/tools/${entry.index}`,
    });
    if (canonicalJson(entry.tool) < canonicalJson(other.tool)) chosen.set(name, entry);
  }
  return [...chosen.values()].map(({ tool }) => tool);
}

function freshness(pages: readonly Page[]): Omit<ToolList, "tools"> {
  const cacheScope = pages.every((page) => page["cacheScope"] === "public") ? "public" : "private";
  const lifetimes = pages.map((page) => page["ttlMs"]).filter(isLifetime);
  return lifetimes.length === pages.length ? { ttlMs: Math.min(...lifetimes), cacheScope } : { cacheScope };
}

function isLifetime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
