/**
 * The comment of a property: its description, unless that only repeats the name, and its constraints
 * in brackets, as in `Days ahead [1..14, default 3]`. One clean line, or "".
 */
import { constraintTags, type TagLimits } from "./constraints.ts";
import type { SchemaDocument } from "./document.ts";
import { isObject, type JsonObject } from "./references.ts";
import { commentText } from "./untrusted-text.ts";

export interface CommentDetail {
  /** Characters of a description; 0 for none. */
  readonly description: number;
  /** Constraint tags, or none. */
  readonly tags: TagLimits | undefined;
}

/** Variants of a union whose constraints are told. */
const MAX_VARIANTS = 8;

export class PropertyComments {
  readonly #document: SchemaDocument;
  readonly #detail: CommentDetail;
  /** Definitions whose description has been told: it is not repeated for every use. */
  readonly #told = new Set<object>();

  constructor(document: SchemaDocument, detail: CommentDetail) {
    this.#document = document;
    this.#detail = detail;
  }

  of(name: string, schema: unknown): string {
    const { description, tags } = this.#detail;
    if ((description === 0 && tags === undefined) || !isObject(schema)) return "";
    const plain = this.#document.resolved(schema);
    let words = description === 0 ? "" : commentText(this.#describe(schema, plain), description);
    if (words !== "" && words.length <= name.length + 12 && saysOnlyTheName(words, name)) words = "";
    if (tags === undefined) return words;
    const found = this.#tags(plain, tags, words);
    if (found.length === 0) return words;
    return words === "" ? `[${found.join(", ")}]` : `${words} [${found.join(", ")}]`;
  }

  /** The property's own description, else that of what it refers to, of its items or of its only non-null variant. */
  #describe(schema: JsonObject, plain: JsonObject): unknown {
    const own = schema["description"];
    if (typeof own === "string" && own !== "") return own;
    const told = plain["description"];
    if (typeof told === "string" && told !== "" && !this.#told.has(plain)) {
      this.#told.add(plain);
      return told;
    }
    const variants = variantsOf(plain);
    const inner = variants?.length === 1 ? variants[0] : plain["items"];
    return isObject(inner) ? inner["description"] : undefined;
  }

  #tags(plain: JsonObject, limits: TagLimits, words: string): readonly string[] {
    let tags = constraintTags(plain, limits, words);
    const variants = variantsOf(plain);
    if (variants !== undefined) {
      for (const variant of variants.slice(0, MAX_VARIANTS)) {
        if (!isObject(variant)) continue;
        const more = constraintTags(this.#document.resolved(variant), limits, words);
        tags = [...tags, ...more.filter((tag) => !tags.includes(tag))];
      }
    }
    const items = plain["items"];
    if (!isObject(items)) return tags;
    const each = constraintTags(this.#document.resolved(items), limits, words);
    return each.length === 0 ? tags : [...tags, `each ${each.join(" ")}`];
  }
}

/** The variants of a union that aren't `null`. */
function variantsOf(schema: JsonObject): readonly unknown[] | undefined {
  const variants = schema["anyOf"] ?? schema["oneOf"];
  if (!Array.isArray(variants)) return undefined;
  return variants.filter((variant) => !isObject(variant) || variant["type"] !== "null");
}

const ARTICLE = /^(the|an?) /i;
const NOT_ALPHANUMERIC = /[^a-z0-9]/g;

function saysOnlyTheName(words: string, name: string): boolean {
  const said = words.replace(ARTICLE, "").toLowerCase().replace(NOT_ALPHANUMERIC, "");
  return said !== "" && said === name.toLowerCase().replace(NOT_ALPHANUMERIC, "");
}
