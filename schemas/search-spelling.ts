/**
 * Words near a query's word: its singular, and index words a slip of the keyboard away. Like most search
 * engines it takes the first letter to be right, which keeps the words to compare to a few hundred.
 */
import { editDistance } from "./edit-distance.ts";
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
