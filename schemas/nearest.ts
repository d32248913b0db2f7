/**
 * "Did you mean …?": the known names closest to one that was typed. Deterministic (ties are broken by
 * code unit, not by the candidates' order) and bounded: candidates may come from a server, so a name of a
 * megabyte costs no more than a look at its length.
 */
import { byCodeUnit } from "./canonical.ts";
import { editDistance } from "./edit-distance.ts";

/** Names longer than this are compared for equality only. */
const LONGEST = 256;
/** Behind every misspelling: a candidate that only contains the name, or is contained in it. */
const CONTAINED = 1000;

/** The closest candidate, or undefined when none is close enough to be worth suggesting. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  return nearestAll(name, candidates, 1)[0];
}

/** At most `limit` candidates, the closest first: misspellings, then names that contain or are contained in `name`. */
export function nearestAll(name: string, candidates: Iterable<string>, limit: number): string[] {
  const wanted = fold(name);
  const scored: { candidate: string; distance: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const distance = distanceBetween(wanted, fold(candidate));
    if (distance !== undefined) scored.push({ candidate, distance });
  }
  return scored
    .sort((a, b) => a.distance - b.distance || byCodeUnit(a.candidate, b.candidate))
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

/** Case, `-`, `_`, `.`, `/` and blanks are what people get wrong first. */
function fold(name: string): string {
  return name.length > LONGEST ? name : name.toLowerCase().replace(/[-_./\s]/g, "");
}

/** Undefined when the two are too far apart. A third of the letters may be wrong, three at most. */
function distanceBetween(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (a.length === 0 || b.length === 0 || a.length > LONGEST || b.length > LONGEST) return undefined;
  const most = Math.min(3, Math.max(1, Math.floor(a.length / 3)));
  const edits = editDistance(a, b, most);
  if (edits <= most && edits < Math.max(a.length, b.length)) return edits;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= 3 && long.includes(short) ? CONTAINED + long.length - short.length : undefined;
}
