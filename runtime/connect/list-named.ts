/**
 * One of a server's lists, from the first page to what of it can be used: every page, then entries that have a name, without
 * credentials of ours, one a name. Entries are kept as sent otherwise, unknown keys included.
 */
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import type { Connection } from "./connection.ts";
import { discreetEntries, distinctEntries, type Entry, type NamedEntry, namedEntries } from "./list-entries.ts";
import {
  type Freshness,
  freshnessOf,
  type ListedServer,
  type ListKind,
  type ListOptions,
  listPages,
  listReport,
  type Pages,
  type Report,
} from "./list-pages.ts";

export interface NamedList extends Freshness {
  readonly entries: readonly NamedEntry[];
}

export type Listing =
  | { readonly ok: true; readonly list: NamedList; readonly diagnostics: readonly Diagnostic[] }
  | Extract<Pages, { ok: false }>;

/** `usable` leaves out entries for a reason of their kind's, and reports it, before one is chosen of each name. */
export async function listNamed(
  connection: Connection,
  kind: ListKind,
  server: ListedServer,
  options: ListOptions,
  usable: (entries: readonly Entry[], report: Report) => readonly Entry[] = (entries) => entries,
): Promise<Listing> {
  const report = listReport(server);
  const listed = await listPages(connection, kind, options, report);
  if (!listed.ok) return listed;
  const kept = discreetEntries(namedEntries(listed.entries, kind, report), connection, kind, report);
  const entries = distinctEntries(usable(kept, report), kind, report);
  return { ok: true, list: { entries, ...freshnessOf(listed.pages) }, diagnostics: report.diagnostics };
}
