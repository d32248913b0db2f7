/** How many slips of the keyboard lie between two words. */

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
