/**
 * A text as one word of a shell. Messages name what servers called their tools and tasks, and people paste from messages: a word
 * that a shell would read as more than a word is put into single quotes, which POSIX shells and PowerShell take literally. Pure.
 */

const PLAIN = /^[A-Za-z0-9_./:@%+,][A-Za-z0-9_./:@%+,-]*$/;

export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
