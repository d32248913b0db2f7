/**
 * JSON text of a value that came from a server. Never throws: nesting deeper than `JSON.stringify` can follow,
 * or text longer than a string can be, gives a sentence in its place.
 */
export function jsonText(value: unknown, replacer?: (key: string, member: unknown) => unknown, indent = 0): string {
  try {
    return JSON.stringify(value, replacer, indent) ?? String(value);
  } catch (error) {
    return `[JSON that can't be shown: ${error instanceof Error ? error.message : String(error)}]`;
  }
}
