/**
 * Words near a query's word: its singular, and index words a slip of the keyboard away. Like most search
 * engines it takes the first letter to be right, which keeps the words to compare to a few hundred.
 */
import { entriesWithPrefix } from "./search-postings.ts";

export interface NearTerm {
  readonly term: string;
  /** 0 to 1; a word that needs more edits is less near. */
  readonly nearness: number;
}

/** What `word` may be the plural of, in English; empty for most words. */
export function singulars(word: string): string[] {
  if (word.length < 4 || !word.endsWith("s") || word.endsWith("ss")) return [];
  const found = [word.slice(0, -1)];
  if (word.endsWith("es")) found.push(word.slice(0, -2));
  if (word.endsWith("ies")) found.push(`${word.slice(0, -3)}y`);
  return found;
}

/** Index terms within one edit of `term`, or two from eight characters on; none for words under four. */
export function nearTerms(index: readonly string[], term: string): NearTerm[] {
  if (term.length < 4) return [];
  const allowed = term.length < 8 ? 1 : 2;
  const { from, to } = entriesWithPrefix(index, term[0]!);
  const found: NearTerm[] = [];
  for (let at = from; at < to; at++) {
    const entry = index[at]!;
    const length = entry.indexOf(" ");
    if (Math.abs(length - term.length) > allowed) continue;
    const candidate = entry.slice(0, length);
    const edits = editDistance(term, candidate, allowed);
    if (edits <= allowed) found.push({ term: candidate, nearness: (0.45 * term.length) / (term.length + edits) });
  }
  return found;
}

/**
 * Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`; any number past
 * `atMost` stands for "more". Only the band of the table within `atMost` is filled.
 */
export function editDistance(a: string, b: string, atMost: number): number {
  if (Math.abs(a.length - b.length) > atMost) return atMost + 1;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current: number[] = new Array(b.length + 1).fill(atMost + 1);
    current[0] = row;
    let least = row;
    for (let column = Math.max(1, row - atMost); column <= Math.min(b.length, row + atMost); column++) {
      const same = a[row - 1] === b[column - 1];
      let edits = Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) edits = Math.min(edits, beforePrevious[column - 2]! + 1);
      current[column] = edits;
      least = Math.min(least, edits);
    }
    if (least > atMost) return atMost + 1;
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length]!;
}
