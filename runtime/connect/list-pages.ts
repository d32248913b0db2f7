/**
 * Every page of one of a server's lists, whatever the server does with its cursors. Ends by itself: at the last page, at
 * a cursor that can't lead on, or at the caps, and says so when something may be missing.
 */
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import { type Diagnostic, type DiagnosticCode, diagnostic } from "../../schemas/diagnostic.ts";
import type { Connection } from "./connection.ts";
import type { Failure } from "./failure.ts";

/** The server as findings name it. */
export type ListedServer = Pick<ServerConfig, "name"> & Partial<Pick<ServerConfig, "location">>;

/** Stands for an entry that no recursion could look at. */
export const TOO_DEEP = Symbol("too deep");

/** What is listed, and how much of it is taken. */
export interface ListKind {
  readonly method: "tools/list" | "prompts/list";
  /** Member of a page that holds the entries. */
  readonly member: "tools" | "prompts";
  readonly noun: "tool" | "prompt";
  readonly caps: { readonly pages: number; readonly entries: number; readonly bytes: number; readonly levels: number };
}

export type Page = Readonly<Record<string, unknown>>;

export type Pages =
  | { readonly ok: true; readonly pages: readonly Page[]; readonly entries: readonly unknown[] }
  /** `malformed`: the server answered without a list. */
  | { readonly ok: false; readonly failure: Failure | { readonly kind: "malformed"; readonly message: string } };

export interface ListOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds per page. */
  readonly timeoutMs: number;
}

/** A page that fails makes the list incomplete in a way that nobody asked for: that is no list. */
export async function listPages(
  connection: Connection,
  kind: ListKind,
  options: ListOptions,
  report: Report,
): Promise<Pages> {
  const { method, member, noun, caps } = kind;
  const pages: Page[] = [];
  const entries: unknown[] = [];
  const cursors = new Set<string>();
  let bytes = 0;
  let cursor: string | undefined;
  for (;;) {
    const outcome = await connection.request(method, cursor === undefined ? undefined : { cursor }, options);
    if (!outcome.ok) return outcome;
    const page = outcome.result;
    const listed = page[member];
    if (!Array.isArray(listed)) {
      const message = `${method} was answered without a list of ${member}`;
      return { ok: false, failure: { kind: "malformed", message } };
    }
    pages.push(page);
    for (const entry of listed) {
      const isBounded = isNoDeeper(entry, caps.levels);
      entries.push(isBounded ? entry : TOO_DEEP);
      bytes += isBounded ? (JSON.stringify(entry)?.length ?? 0) : 0;
    }
    const end = endOf(page["nextCursor"], kind, { cursors, pages: pages.length, entries: entries.length, bytes });
    if (end?.why !== undefined)
      report("list-truncated", `the ${noun} list ends after ${entries.length} ${member}: ${end.why}`, end);
    if (end !== undefined) return { ok: true, pages, entries };
    cursor = page["nextCursor"] as string;
    cursors.add(cursor);
  }
}

interface End {
  readonly why?: string;
  readonly severity?: "info";
}

/** Whether the list ends with this page; `why` is absent where it ends as it should. */
function endOf(
  next: unknown,
  { member, caps }: ListKind,
  seen: { cursors: ReadonlySet<string>; pages: number; entries: number; bytes: number },
): End | undefined {
  if (next === undefined || next === null) return {};
  // Most servers that send it mean the end.
  if (next === "") return { why: "the next page's cursor is empty", severity: "info" };
  if (typeof next !== "string") return { why: "the next page's cursor is not a string" };
  if (seen.cursors.has(next)) return { why: "the next page's cursor was used before" };
  if (seen.pages >= caps.pages) return { why: `it has more than ${caps.pages} pages` };
  if (seen.entries >= caps.entries) return { why: `it has more than ${caps.entries} ${member}` };
  if (seen.bytes >= caps.bytes) return { why: `it is larger than ${caps.bytes / (1024 * 1024)} MiB` };
  return undefined;
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

/** How long something listed may be served, and to whom. */
export interface Freshness {
  /** Milliseconds: the least that any page carried; absent when none carried one that is valid. */
  readonly ttlMs?: number;
  /** Another page carried none, so that the configuration's `ttlMs` counts too. */
  readonly partlyTimed?: true;
  readonly cacheScope: "public" | "private";
}

export function freshnessOf(pages: readonly Page[]): Freshness {
  return sharedFreshness(
    pages.map(({ ttlMs, cacheScope }) => ({
      ...(isLifetime(ttlMs) && { ttlMs }),
      cacheScope: cacheScope === "public" ? "public" : "private",
    })),
  );
}

/** Of what is kept together: it lives as long as the shortest-lived part and may be seen by who may see every part. */
export function sharedFreshness(parts: readonly Freshness[]): Freshness {
  const lifetimes = parts.flatMap(({ ttlMs }) => ttlMs ?? []);
  const isTimed = parts.every(({ ttlMs, partlyTimed }) => ttlMs !== undefined && !partlyTimed);
  return {
    cacheScope: parts.every(({ cacheScope }) => cacheScope === "public") ? "public" : "private",
    ...(lifetimes.length > 0 && { ttlMs: Math.min(...lifetimes) }),
    ...(lifetimes.length > 0 && !isTimed && { partlyTimed: true }),
  };
}

function isLifetime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** Takes findings about one server's list. */
export interface Report {
  (code: DiagnosticCode, message: string, details?: { severity?: "info"; pointer?: string; tool?: string }): void;
  readonly diagnostics: readonly Diagnostic[];
}

export function listReport(server: ListedServer): Report {
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
