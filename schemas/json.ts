/** Parses JSON of strangers. */

/** Undefined for what is no JSON: the parser's own error would quote it, and it may be a secret. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
