/**
 * Every page of a server's `prompts/list`, as sent, but for credentials of ours that a server repeats. Small caps: each
 * prompt becomes a command that a person picks from a list.
 */
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import type { Connection } from "./connection.ts";
import { discreetEntries, distinctEntries, type NamedEntry, namedEntries } from "./list-entries.ts";
import {
  type Freshness,
  freshnessOf,
  type ListedServer,
  type ListKind,
  type ListOptions,
  listPages,
  listReport,
  type Pages,
} from "./list-pages.ts";

const PROMPTS: ListKind = {
  method: "prompts/list",
  member: "prompts",
  noun: "prompt",
  caps: { pages: 100, entries: 1000, bytes: 4 * 1024 * 1024, levels: 50 },
};

export interface PromptList extends Freshness {
  readonly prompts: readonly NamedEntry[];
}

export type PromptListing =
  | { readonly ok: true; readonly list: PromptList; readonly diagnostics: readonly Diagnostic[] }
  | Extract<Pages, { ok: false }>;

export async function listPrompts(
  connection: Connection,
  server: ListedServer,
  options: ListOptions,
): Promise<PromptListing> {
  const report = listReport(server);
  const listed = await listPages(connection, PROMPTS, options, report);
  if (!listed.ok) return listed;
  const kept = discreetEntries(namedEntries(listed.entries, PROMPTS, report), connection, PROMPTS, report);
  const prompts = distinctEntries(kept, PROMPTS, report);
  return { ok: true, list: { prompts, ...freshnessOf(listed.pages) }, diagnostics: report.diagnostics };
}
