/**
 * The few schema forms that json-schema-to-typescript is given: no reference, no name, no text of a server.
 * Property names, literals, comments and references stand in it as tokens (`$$7`) and are put back, escaped,
 * after conversion; so a server can't reach the converter's naming, its keyword heuristics or `tsType`.
 */

export type PlainSchema =
  | { readonly type: "string" | "number" | "boolean" | "null" }
  /** A keyword of TypeScript or a token: anything that stands as one atom of a type. */
  | { readonly tsType: string }
  | { readonly type: "array"; readonly items: PlainSchema }
  | PlainTuple
  | PlainObject
  | { readonly anyOf: readonly PlainSchema[] }
  | { readonly allOf: readonly PlainSchema[] };

/** As many elements as `items`, or more when `additionalItems` says so. */
export interface PlainTuple {
  readonly type: "array";
  readonly items: readonly PlainSchema[];
  readonly minItems: number;
  readonly additionalItems: PlainSchema | false;
}

export interface PlainObject {
  readonly type: "object";
  readonly properties: Readonly<Record<string, PlainSchema & { readonly description?: string }>>;
  readonly required: readonly string[];
  readonly additionalProperties: PlainSchema | boolean;
}

export const STRING_TYPE: PlainSchema = { type: "string" };
export const NUMBER_TYPE: PlainSchema = { type: "number" };
export const BOOLEAN_TYPE: PlainSchema = { type: "boolean" };
export const NULL_TYPE: PlainSchema = { type: "null" };
export const UNKNOWN_ARRAY: PlainSchema = { tsType: "unknown[]" };
export const UNKNOWN: PlainSchema = { tsType: "unknown" };
export const NEVER: PlainSchema = { tsType: "never" };
/** Some object. In an intersection it says nothing and would open a closed neighbour. */
export const OPEN_OBJECT: PlainSchema = { type: "object", properties: {}, required: [], additionalProperties: true };

/** Texts that are kept away from the converter, each once. One table may serve many schemas. */
export class TokenTable {
  readonly #tokens = new Map<string, string>();
  readonly #texts: string[] = [];
  readonly #atoms = new Map<string, PlainSchema>();

  /** The token that stands for `text`; a valid identifier, so the converter never quotes it. */
  token(text: string): string {
    const known = this.#tokens.get(text);
    if (known !== undefined) return known;
    const token = `$$${this.#texts.length}`;
    this.#tokens.set(text, token);
    this.#texts.push(text);
    return token;
  }

  /** The type that is written `text`: the same object for the same text, so that unions hold it once. */
  atom(text: string): PlainSchema {
    const known = this.#atoms.get(text) ?? { tsType: this.token(text) };
    this.#atoms.set(text, known);
    return known;
  }

  /** `text` with its tokens put back. */
  restore(text: string): string {
    return text.replace(/\$\$(\d+)/g, (_, index) => this.#texts[Number(index)]!);
  }
}

/** The union of the members, each object once; `unknown` absorbs the others. */
export function union(members: readonly PlainSchema[]): PlainSchema {
  const flat = members.flatMap((member) => ("anyOf" in member ? member.anyOf : [member]));
  const distinct = [...new Set(flat)].filter((member) => member !== NEVER);
  if (distinct.includes(UNKNOWN)) return UNKNOWN;
  return distinct.length === 0 ? NEVER : distinct.length === 1 ? distinct[0]! : { anyOf: distinct };
}

/** The intersection of the members, without those that say nothing. */
export function intersection(members: readonly PlainSchema[]): PlainSchema {
  const flat = members.flatMap((member) => ("allOf" in member ? member.allOf : [member]));
  const distinct = [...new Set(flat)].filter((member) => member !== UNKNOWN);
  if (distinct.includes(NEVER)) return NEVER;
  const telling = distinct.length > 1 ? distinct.filter((member) => member !== OPEN_OBJECT) : distinct;
  if (telling.length === 0) return distinct.length === 0 ? UNKNOWN : OPEN_OBJECT;
  return telling.length === 1 ? telling[0]! : { allOf: telling };
}

/** A JSON value as a literal type; what is nested too deep or no JSON number becomes its wider type. */
export function literalType(value: unknown, depth = 0): string {
  if (value === null) return "null";
  if (typeof value === "string") return quoted(value);
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? JSON.stringify(value) : "number";
  if (typeof value !== "object" || depth > 8) return "unknown";
  if (Array.isArray(value)) return `[${value.map((item) => literalType(item, depth + 1)).join(", ")}]`;
  const members = Object.entries(value).map(([name, member]) => `${quoted(name)}: ${literalType(member, depth + 1)}`);
  return members.length === 0 ? "{ [k: string]: never }" : `{ ${members.join("; ")} }`;
}

/** A string literal in printable characters: nothing in it can end the literal, hide, or turn the reading direction. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u00a0\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g,
    (match) => [...match.split("")].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  );
}

/** Marks a name of a definition in finished text: control characters, which no escaped text of a server contains. */
export function typeReference(name: string): string {
  return `\u0001${name}\u0002`;
}

/** `text` with each marked definition under the name that `nameOf` gives it. */
export function withTypeNames(text: string, nameOf: (definition: string) => string): string {
  return text.replace(/\u0001(\w*)\u0002/g, (_, name) => nameOf(name));
}
