/**
 * The inverted index of tool search in a form that needs no building when it is loaded: a sorted list of
 * strings, one a term, searched by bisection. A term's postings are decoded when a query asks for it.
 * The weight of a term in a document (BM25+ over weighted fields, without the term's rarity) is
 * worked out when the index is built and rounded to a whole number, so a query only adds.
 *
 * An entry reads `term 3:42 1 5:17+2`: document 2 (steps start at -1) with weight 42, document 3 with the same
 * weight, document 8 with weight 17 and the two documents after it likewise.
 *
 * Why not MiniSearch's own JSON: for 3,000 tools it takes about 100 ms to load and 26 ms or more for a long query
 * on the machine where this form takes 5 and less than 2 (`tests/bench/search.bench.mjs`).
 */
import { byCodeUnit } from "./canonical.ts";
import type { SearchDocument } from "./search-document.ts";
import { nameTerms, proseTerms, wholeNameTerm } from "./search-terms.ts";

/** One document that holds a term. */
export interface Posting {
  readonly document: number;
  /** BM25+ weight in tenths, at least 1. */
  readonly weight: number;
}

interface Field {
  readonly boost: number;
  readonly terms: (document: SearchDocument) => readonly string[];
}

const FIELDS: readonly Field[] = [
  { boost: 8, terms: ({ tool }) => [...nameTerms(tool), wholeNameTerm(tool)].filter((term) => term !== undefined) },
  { boost: 4, terms: (document) => proseTerms(document.title) },
  { boost: 2, terms: (document) => document.parameters.flatMap(nameTerms) },
  { boost: 2, terms: (document) => [...nameTerms(document.server), ...proseTerms(document.serverText)] },
  { boost: 1, terms: (document) => proseTerms(document.description) },
  { boost: 0.5, terms: (document) => document.parameterTexts.flatMap(proseTerms) },
  // All tools of a server share it, so it tells them from others' and not from each other.
  { boost: 0.3, terms: (document) => proseTerms(document.instructions) },
];

/** BM25+ constants, as MiniSearch has them: saturation, length normalisation, lower bound. */
const K = 1.2;
const B = 0.7;
const DELTA = 0.5;

/** Builds the index; a document's number is its position in `documents`. */
export function buildPostings(documents: readonly SearchDocument[]): string[] {
  const counted = documents.map((document) => FIELDS.map((field) => countTerms(field.terms(document))));
  const averages = FIELDS.map((_, field) => {
    const total = counted.reduce((sum, fields) => sum + fields[field]!.length, 0);
    return total / Math.max(1, documents.length);
  });
  const postings = new Map<string, Posting[]>();
  counted.forEach((fields, document) => {
    const weights = new Map<string, number>();
    fields.forEach(({ counts, length }, field) => {
      const norm = K * (1 - B + (B * length) / averages[field]!);
      for (const [term, count] of counts) {
        const weight = FIELDS[field]!.boost * (DELTA + (count * (K + 1)) / (count + norm));
        weights.set(term, (weights.get(term) ?? 0) + weight);
      }
    });
    for (const [term, weight] of weights) {
      const list = postings.get(term) ?? [];
      if (list.length === 0) postings.set(term, list);
      list.push({ document, weight: Math.max(1, Math.round(weight * 10)) });
    }
  });
  return [...postings].map(([term, list]) => encode(term, list)).sort(byCodeUnit);
}

function countTerms(terms: readonly string[]): { counts: Map<string, number>; length: number } {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return { counts, length: terms.length };
}

function encode(term: string, postings: readonly Posting[]): string {
  let text = term;
  let previous: Posting = { document: -1, weight: 0 };
  let run = 0;
  for (const posting of postings) {
    const step = posting.document - previous.document;
    const same = posting.weight === previous.weight;
    if (step === 1 && same) run++;
    else {
      text += `${run > 0 ? `+${run}` : ""} ${step}${same ? "" : `:${posting.weight}`}`;
      run = 0;
    }
    previous = posting;
  }
  return run > 0 ? `${text}+${run}` : text;
}

/**
 * Decodes the postings of an entry among `documents` documents. One that is not well formed counts as far as it is.
 */
export function readPostings(entry: string, documents: number): Posting[] {
  const postings: Posting[] = [];
  let document = -1;
  let weight = 0;
  for (let at = entry.indexOf(" "); at !== -1 && at < entry.length; ) {
    const step = readNumber(entry, at + 1);
    document += step.value;
    at = step.end;
    if (entry[at] === ":") {
      const given = readNumber(entry, at + 1);
      weight = given.value;
      at = given.end;
    }
    let last = document;
    if (entry[at] === "+") {
      const run = readNumber(entry, at + 1);
      last += run.value;
      at = run.end;
    }
    if (step.value === 0 || (at < entry.length && entry[at] !== " ")) break;
    for (; document <= last && document < documents; document++) postings.push({ document, weight });
    document = last;
  }
  return postings;
}

function readNumber(text: string, start: number): { value: number; end: number } {
  let value = 0;
  let end = start;
  for (; end < text.length; end++) {
    const digit = text.charCodeAt(end) - 48;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  return { value, end };
}

/** The entry of exactly `term`. */
export function entryOf(index: readonly string[], term: string): string | undefined {
  const entry = index[firstAtLeast(index, `${term} `)];
  return entry?.startsWith(`${term} `) ? entry : undefined;
}

/** All entries whose term starts with `prefix`, that of `prefix` itself included, as positions [from, to). */
export function entriesWithPrefix(index: readonly string[], prefix: string): { from: number; to: number } {
  const from = firstAtLeast(index, prefix);
  let to = from;
  while (to < index.length && index[to]!.startsWith(prefix)) to++;
  return { from, to };
}

function firstAtLeast(index: readonly string[], key: string): number {
  let low = 0;
  let high = index.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (index[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
