/**
 * Ranks the tools of one or two search indexes for a query. A tool that is called by its name comes
 * first, however often others talk about it; several names in one query all do. Everything else is BM25+ over
 * the query's terms, each of which also matches longer words that start with it, its singular, and, where
 * the index knows no such word, near misspellings. Pure; what it may not show is never scored.
 */
import { byCodeUnit } from "./canonical.ts";
import { namespaceOf } from "./names.ts";
import type { SearchFile } from "./search.schema.ts";
import { entriesWithPrefix, entryOf, readPostings } from "./search-postings.ts";
import { nearTerms, singulars } from "./search-spelling.ts";
import { isStopWord, queryTerms, squashed, wholeNameTerm } from "./search-terms.ts";

export type SearchEntry = SearchFile["tools"][number];

/** An index and the part of it that may be shown. */
export interface SearchSegment {
  readonly file: SearchFile;
  readonly shows: (tool: SearchEntry) => boolean;
}

export interface SearchOptions {
  /** Results at most, default 8; by default more where the query names more tools than that. */
  readonly limit?: number;
  /** A server as `mcp__dev-radius`, `mcp__dev_radius`, `dev-radius` or `dev_radius`. */
  readonly namespace?: string;
}

export interface SearchResult {
  readonly name: string;
  readonly server: string;
  readonly tool: string;
  readonly description: string;
  /** The higher the better; 1,000 and more where the query gave the tool's name, 500 and more for its words alone. */
  readonly score: number;
}

export const DEFAULT_SEARCH_LIMIT = 8;
const NAMED = 1_000;
const SPELLED = 500;
const MAX_QUERY_CHARS = 2_000;
const MIN_PREFIX_CHARS = 3;
/** Longer words that a term may stand for; more would cost time and say little. */
const MAX_LONGER_WORDS = 50;

/** The best tools for `query`, best first; equal ones by name. */
export function searchTools(
  segments: readonly SearchSegment[],
  query: string,
  options: SearchOptions = {},
): readonly SearchResult[] {
  const asked = query.slice(0, MAX_QUERY_CHARS);
  const inNamespace = namespaceFilter(options.namespace);
  const scores = segments.map((segment) => new Float64Array(segment.file.tools.length));
  for (const term of queryTerms(asked)) addTerm(segments, scores, term);
  const names = nameScores(segments, asked);
  const found: { readonly tool: SearchEntry; readonly score: number }[] = [];
  segments.forEach(({ file, shows }, segment) => {
    const named = names[segment]!;
    scores[segment]!.forEach((textScore, document) => {
      const score = textScore + (named.get(document) ?? 0);
      if (score <= 0) return;
      const tool = file.tools[document]!;
      if (inNamespace(tool.server) && shows(tool)) found.push({ tool, score });
    });
  });
  found.sort((a, b) => b.score - a.score || byCodeUnit(a.tool.name, b.tool.name));
  const namedTools = found.filter(({ score }) => score >= NAMED).length;
  return found
    .slice(0, options.limit ?? Math.max(DEFAULT_SEARCH_LIMIT, namedTools))
    .map(({ tool, score }) => ({ ...tool, score: Math.round(score * 100) / 100 }));
}

/** Does `namespace`, in any of its spellings, mean `server`? */
export function isNamespaceOf(namespace: string, server: string): boolean {
  const folded = namespace.replace(/[^A-Za-z0-9_]/g, "_");
  return folded === namespaceOf(server) || `mcp__${folded}` === namespaceOf(server);
}

function namespaceFilter(namespace: string | undefined): (server: string) => boolean {
  if (namespace === undefined) return () => true;
  const known = new Map<string, boolean>();
  return (server) => {
    const cached = known.get(server) ?? isNamespaceOf(namespace, server);
    known.set(server, cached);
    return cached;
  };
}

/** Adds to each document the best score that any word matching `term` gives it. */
function addTerm(segments: readonly SearchSegment[], scores: readonly Float64Array[], term: string): void {
  const total = segments.reduce((sum, { file }) => sum + file.tools.length, 0);
  const best = segments.map(({ file }) => new Float64Array(file.tools.length));
  // A longer word is often rarer than the term itself; that must not make it the better match.
  let rarest = Number.POSITIVE_INFINITY;
  for (const [word, nearness] of matchesOf(segments, term)) {
    const postings = segments.map(({ file }) => readPostings(entryOf(file.index, word) ?? "", file.tools.length));
    const documents = postings.reduce((sum, { length }) => sum + length, 0);
    const rarity = Math.min(rarest, Math.log(1 + (total - documents + 0.5) / (documents + 0.5)));
    if (word === term) rarest = rarity;
    postings.forEach((list, segment) => {
      const target = best[segment]!;
      for (const { document, weight } of list) {
        const score = (weight / 10) * rarity * nearness;
        if (score > target[document]!) target[document] = score;
      }
    });
  }
  best.forEach((values, segment) => {
    const sum = scores[segment]!;
    for (let document = 0; document < values.length; document++) sum[document] = sum[document]! + values[document]!;
  });
}

/** Words of the indexes that `term` means, the term itself first, each with how well (1 is the word itself). */
function matchesOf(segments: readonly SearchSegment[], term: string): Map<string, number> {
  const matches = new Map<string, number>();
  const isKnown = (word: string) => segments.some(({ file }) => entryOf(file.index, word) !== undefined);
  if (isKnown(term)) matches.set(term, 1);
  for (const word of singulars(term)) if (isKnown(word)) matches.set(word, 0.8);
  for (const word of longerWords(segments, term)) {
    matches.set(word, (0.6 * term.length) / (term.length + 0.3 * (word.length - term.length)));
  }
  if (matches.size > 0) return matches;
  for (const { file } of segments)
    for (const near of nearTerms(file.index, term)) matches.set(near.term, near.nearness);
  return matches;
}

/** Words that start with `term`, the shortest first; of names as a whole only where no word does. */
function longerWords(segments: readonly SearchSegment[], term: string): string[] {
  const isCharacter = !/^[\x00-\x7f]*$/.test(term) && [...term].length === 1;
  if (term.length < MIN_PREFIX_CHARS && !isCharacter) return [];
  for (const prefix of [term, `=${term}`]) {
    const words = new Set<string>();
    for (const { file } of segments) {
      const { from, to } = entriesWithPrefix(file.index, prefix);
      for (let at = from; at < to; at++) words.add(wordOf(file.index[at]!));
    }
    const known = words.size > 0;
    words.delete(term);
    if (known) return [...words].sort((a, b) => a.length - b.length || byCodeUnit(a, b)).slice(0, MAX_LONGER_WORDS);
  }
  return [];
}

const wordOf = (entry: string): string => entry.slice(0, entry.indexOf(" "));

/** What documents get for being called by name, one map a segment. */
function nameScores(segments: readonly SearchSegment[], query: string): Map<number, number>[] {
  const pieces = [
    ...new Set(
      query
        .split(/[\s,;]+/)
        .map(unquoted)
        .filter((piece) => piece !== ""),
    ),
  ];
  const named = new Map(pieces.map((piece) => [piece, segments.map(({ file }) => documentsNamed(file, piece))]));
  const isName = (piece: string) => named.get(piece)!.some((documents) => documents.length > 0);
  const telling = pieces.filter((piece) => pieces.length === 1 || !isStopWord(piece));
  // A plain word among others is a name only where all of them are: "search issues" asks for no tool called `search`.
  const onlyNames = telling.every(isName);
  const bonus = segments.map(() => new Map<number, number>());
  for (const piece of telling) {
    if (!onlyNames && !/[^\p{L}]|\p{Ll}\p{Lu}/u.test(piece)) continue;
    named.get(piece)!.forEach((documents, segment) => {
      for (const document of documents) bonus[segment]!.set(document, NAMED);
    });
  }
  segments.forEach(({ file }, segment) => {
    for (const document of documentsSpelled(file, query)) {
      if (!bonus[segment]!.has(document)) bonus[segment]!.set(document, SPELLED);
    }
  });
  return bonus;
}

const unquoted = (piece: string): string => piece.replace(/^["'`(]+|["'`):?!]+$/g, "");

/** Documents whose folded name, own name, `server/tool` or `server.tool` is `piece`; else those that differ in case alone. */
function documentsNamed(file: SearchFile, piece: string): readonly number[] {
  const names = namesOf(file);
  const cut = piece.search(/[/.]/);
  const qualified =
    cut > 0
      ? (names.get(piece.slice(cut + 1)) ?? []).filter((document) => {
          const { server, tool } = file.tools[document]!;
          return server === piece.slice(0, cut) && tool === piece.slice(cut + 1);
        })
      : [];
  const found = [...qualified, ...(names.get(piece) ?? [])];
  return found.length > 0 ? found : documentsSpelled(file, piece);
}

/** Documents by folded and by own name: made once for an index, since every word of a query may be a name. */
const namesByFile = new WeakMap<SearchFile, Map<string, number[]>>();

function namesOf(file: SearchFile): Map<string, number[]> {
  const known = namesByFile.get(file);
  if (known) return known;
  const names = new Map<string, number[]>();
  file.tools.forEach(({ name, tool }, document) => {
    for (const one of name === tool ? [name] : [name, tool]) {
      const documents = names.get(one);
      if (documents) documents.push(document);
      else names.set(one, [document]);
    }
  });
  namesByFile.set(file, names);
  return names;
}

/** Documents whose own name is `words` when case and separators are set aside. */
function documentsSpelled({ tools, index }: Pick<SearchFile, "tools" | "index">, words: string): number[] {
  const term = wholeNameTerm(words);
  const postings = term === undefined ? [] : readPostings(entryOf(index, term) ?? "", tools.length);
  return postings
    .map(({ document }) => document)
    .filter((document) => squashed(tools[document]!.tool) === squashed(words));
}
