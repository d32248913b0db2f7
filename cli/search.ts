/**
 * `pimcp search`: tools by what they do, from the index in the artifacts. What it finds is what a model's own
 * search finds; hidden tools are not in the index.
 */
import type { Loaded } from "../schemas/artifacts/read.ts";
import { searchSegments } from "../schemas/artifacts/search-segments.ts";
import { findServer } from "../schemas/artifacts/target.ts";
import type { ToolTable } from "../schemas/artifacts/tool-table.ts";
import { type SearchOptions, type SearchResult, searchTools } from "../schemas/search-query.ts";
import { cut, widthOf } from "./columns.ts";
import type { Invocation } from "./commands.ts";
import { fail } from "./fail.ts";
import { EXIT, type Io } from "./io.ts";
import { type Look, paint, printable } from "./print.ts";
import { showArtifacts } from "./show-artifacts.ts";

/** What `--json` prints (DESIGN section 4). */
export interface SearchData {
  readonly results: readonly SearchResult[];
}

/** Errors: `unknown-server` for a namespace that is none, and those of the artifacts. */
export function searchData(table: ToolTable, query: string, options: SearchOptions = {}): Loaded<SearchData> {
  if (options.namespace !== undefined) {
    const server = findServer(table, options.namespace);
    if (!server.ok) return server;
  }
  const segments = searchSegments(table);
  if (!segments.ok) return segments;
  return { ok: true, value: { results: searchTools(segments.value, query, options) } };
}

/** Two lines a result: its name with its score, and what it does. */
export function searchLines(data: SearchData, look: Look): string[] {
  if (data.results.length === 0) return ["no tool matches; `pimcp list` names all there are"];
  return data.results.flatMap((result) => {
    const score = result.score.toFixed(1);
    const name = cut(result.name, look.width - score.length - 1);
    const gap = " ".repeat(Math.max(1, Math.min(look.width, 72) - widthOf(name) - score.length));
    const head = `${paint(look, "bold", name)}${gap}${paint(look, "dim", score)}`;
    const description = printable(result.description);
    return description === "" ? [head] : [head, `  ${cut(description, look.width - 2)}`];
  });
}

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { limit, namespace } = invocation.flags;
  if (typeof limit === "string" && !/^[1-9][0-9]{0,5}$/.test(limit))
    return fail("search", invocation, io, `--limit ${limit} is not a positive whole number`, EXIT.usage);
  const options: SearchOptions = {
    ...(typeof limit === "string" && { limit: Number(limit) }),
    ...(typeof namespace === "string" && { namespace }),
  };
  const query = invocation.operands.join(" ");
  return showArtifacts(invocation, io, (table) => searchData(table, query, options), searchLines);
}
