/**
 * One schema document as a renderer looks at it: which resource it stands in, what a reference leads
 * to, and what a schema says once `$ref` and `allOf` are merged in. Remembers what it merged, so shared parts
 * cost once, and which references led nowhere, so that they can be reported.
 */
import { hasSay, mergeParts } from "./merge.ts";
import { isObject, isResource, type JsonObject, References, type Resolution } from "./references.ts";

/** References followed in a row without an object or array between them. */
export const MAX_CHAIN = 24;

export interface LostReference {
  readonly kind: "external-ref" | "unresolved-ref";
  readonly ref: string;
}

/** The reference a schema is, whichever draft's word it uses. */
export function refOf(schema: JsonObject): string | undefined {
  const ref = schema["$ref"] ?? schema["$dynamicRef"] ?? schema["$recursiveRef"];
  return typeof ref === "string" ? ref : undefined;
}

export class SchemaDocument {
  readonly root: JsonObject;
  /** The resource the renderer is in: references are relative to it. */
  resource: JsonObject;
  readonly #references: References;
  // Most documents have no references and no `allOf`: these are made when first needed.
  #merged: Map<object, JsonObject> | undefined;
  #followed: Map<string, Resolution> | undefined;
  #lost: Map<string, LostReference> | undefined;
  #joined: Map<string, JsonObject> | undefined;
  #numbers: Map<unknown, number> | undefined;

  constructor(schema: unknown) {
    this.root = isObject(schema) ? schema : {};
    this.resource = this.root;
    this.#references = new References(this.root);
  }

  get lost(): readonly LostReference[] {
    return this.#lost === undefined ? [] : [...this.#lost.values()];
  }

  /** True for a subschema with an `$id` of its own, in which `#/…` means something else. */
  startsResource(schema: JsonObject): boolean {
    return schema["$id"] !== undefined && schema !== this.root && isResource(schema);
  }

  follow(ref: string, resource = this.resource): Resolution {
    // Most references stand in the root resource, and a property's is followed for its comment and its type.
    const known = resource === this.root ? this.#followed?.get(ref) : undefined;
    if (known !== undefined) return known;
    const target = this.#references.resolve(ref, resource);
    if (target.kind !== "found") {
      this.#lost ??= new Map();
      this.#lost.set(ref, { kind: target.kind === "external" ? "external-ref" : "unresolved-ref", ref });
    }
    if (resource === this.root) {
      this.#followed ??= new Map();
      this.#followed.set(ref, target);
    }
    return target;
  }

  /** `schema` with what `$ref` and `allOf` bring merged in; `schema` itself where they bring nothing. */
  plain(schema: JsonObject): JsonObject {
    if (!Array.isArray(schema["allOf"]) && refOf(schema) === undefined) return schema;
    this.#merged ??= new Map();
    let merged = this.#merged.get(schema);
    if (merged === undefined) {
      const parts = [...this.#parts(schema)].filter((part) => part === schema || hasSay(part));
      merged = parts.length === 1 ? schema : mergeParts(parts, (schemas) => this.#join(schemas));
      this.#merged.set(schema, merged);
    }
    return merged;
  }

  /** What a property's schema says, for comments: a bare reference's target, else the merged schema. */
  resolved(schema: JsonObject): JsonObject {
    let current = schema;
    for (let hops = 0; hops < MAX_CHAIN; hops++) {
      const ref = refOf(current);
      if (ref === undefined || hasOtherWords(current)) break;
      const target = this.follow(ref);
      if (target.kind !== "found" || !isObject(target.schema)) return current;
      current = target.schema;
    }
    return this.plain(current);
  }

  /** A schema and everything it includes, itself first; each once, however the inclusions cross. */
  #parts(start: JsonObject): Set<JsonObject> {
    const parts = new Set<JsonObject>();
    const pending: [unknown, JsonObject][] = [[start, this.resource]];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const [part, resource] = next;
      if (!isObject(part) || parts.has(part)) continue;
      parts.add(part);
      const allOf = part["allOf"];
      if (Array.isArray(allOf)) for (let at = allOf.length - 1; at >= 0; at--) pending.push([allOf[at], resource]);
      const ref = refOf(part);
      const target = ref === undefined ? undefined : this.follow(ref, resource);
      if (target?.kind === "found") pending.push([target.schema, target.resource]);
    }
    return parts;
  }

  /** Several schemas of one place as one; the same object for the same schemas, so that recursion is noticed. */
  #join(schemas: readonly unknown[]): unknown {
    const distinct = [...new Set(schemas)];
    if (distinct.length === 1) return distinct[0];
    this.#joined ??= new Map();
    const key = distinct.map((schema) => this.#numberOf(schema)).join();
    const joined = this.#joined.get(key) ?? { allOf: distinct };
    this.#joined.set(key, joined);
    return joined;
  }

  #numberOf(schema: unknown): number {
    this.#numbers ??= new Map();
    const number = this.#numbers.get(schema) ?? this.#numbers.size;
    this.#numbers.set(schema, number);
    return number;
  }
}

function hasOtherWords(schema: JsonObject): boolean {
  for (const keyword in schema) if (keyword !== "$ref" && keyword !== "description" && keyword !== "title") return true;
  return false;
}
