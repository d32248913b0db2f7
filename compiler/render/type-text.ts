/**
 * The text of TypeScript types put together from the texts of their parts: unions, arrays, objects.
 * A union is a list of types that need no parentheses; the empty one is `never`.
 */

export interface Row {
  /** `name: Type`, or an index signature. */
  readonly text: string;
  /** Clean text for a `//` comment; "" for none. */
  readonly comment: string;
}

/** A union without repetitions; what accepts everything stands alone. */
export function unique(types: readonly string[]): readonly string[] {
  if (types.length < 2) return types;
  const set = new Set(types);
  if (set.has("unknown")) return ["unknown"];
  if (set.has("any")) return ["any"];
  if (set.has("number")) set.delete("int");
  if (set.has("true") && set.has("false")) set.add("boolean");
  if (set.has("boolean")) {
    set.delete("true");
    set.delete("false");
  }
  return set.size === types.length ? types : [...set];
}

export function join(types: readonly string[]): string {
  return types.length === 1 ? types[0]! : types.length === 0 ? "never" : types.join("|");
}

export function arrayOf(types: readonly string[]): string {
  return types.length > 1 ? `(${join(types)})[]` : `${join(types)}[]`;
}

/** On one line unless a member has a comment. A comment stands before a member of several lines, else behind it. */
export function objectOf(rows: readonly Row[], indent: number): string {
  let commented = false;
  for (const row of rows) if (row.comment !== "") commented = true;
  if (!commented) {
    let text = "{";
    for (const row of rows) text += text.length === 1 ? row.text : `; ${row.text}`;
    return `${text}}`;
  }
  const pad = `\n${" ".repeat(indent + 1)}`;
  let text = "{";
  for (const { text: member, comment } of rows) {
    if (comment === "") text += pad + member;
    else if (member.includes("\n")) text += `${pad}// ${comment}${pad}${member}`;
    else text += `${pad}${member} // ${comment}`;
  }
  return `${text}\n${" ".repeat(indent)}}`;
}
