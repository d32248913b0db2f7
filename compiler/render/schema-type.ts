/**
 * One JSON Schema document as one TypeScript type, as short as readable text allows. Drafts 4 to
 * 2020-12 and mixtures. The type accepts at least what the schema accepts: `not`, `if`/`then`/`else` and
 * dependencies narrow a schema and are left out. Work and output are bounded by `Detail`: rendering stops
 * once the text outgrows `maxChars`, and the caller tries again with less detail. Never throws, whatever
 * the document; never reads outside it.
 */
import { byCodeUnit } from "../../schemas/canonical.ts";
import { constraintTags, onlyRequires, type TagLimits } from "./constraints.ts";
import { literalType, propertyKey } from "./literal.ts";
import { isStructural, mergeParts } from "./merge.ts";
import { baseName, type Definition, hasReference, type NamedType, nameTypes, reference } from "./named-types.ts";
import { isObject, isResource, type JsonObject, References } from "./references.ts";
import { commentText } from "./untrusted-text.ts";

/** How much of a schema is shown. */
export interface Detail {
  /** Rendering is given up beyond this many characters, named types included. */
  readonly maxChars: number;
  /** Characters of a property's description; 0 for none. */
  readonly description: number;
  /** Constraint tags, or none. */
  readonly tags: TagLimits | undefined;
  /** Object levels shown; deeper objects say only how many properties they have. */
  readonly levels: number;
  /** Longest enumeration shown as literals. */
  readonly enumValues: number;
  /** Properties shown of one object, required ones first. */
  readonly properties: number;
  /** References become named types where that pays; without, they are written in place down to `levels`. */
  readonly named: boolean;
  /** For checking instead of reading: open objects say so, and what is unknown is `any`. */
  readonly check: boolean;
}

export interface RenderedType {
  readonly text: string;
  readonly types: readonly NamedType[];
  /** Tags of the document's root, which has no property line to stand on. */
  readonly rootTags: readonly string[];
  /** The root is an object whose properties may all be left out. */
  readonly optional: boolean;
  /** The root is an object with no properties, and asks for none. */
  readonly empty: boolean;
  /** References that lead out of the document, or nowhere. */
  readonly lost: readonly { readonly kind: "external-ref" | "unresolved-ref"; readonly ref: string }[];
  /** What was left out at this detail. */
  readonly cut: ReadonlySet<"levels" | "enumerations" | "properties" | "circular">;
}

/** Nesting no person writes; deeper schemas are cut off before the stack is. */
const MAX_NESTING = 80;
/** References followed in a row without an object or array between them. */
const MAX_CHAIN = 24;
/** A definition this short is written in place at once. */
const SHORT = 24;

/** The document's type, or undefined when it outgrew `detail.maxChars`. */
export function renderType(document: unknown, detail: Detail): RenderedType | undefined {
  return new TypeRenderer(document, detail).render();
}

class TypeRenderer {
  readonly #detail: Detail;
  readonly #document: unknown;
  readonly #references: References;
  readonly #anything: string;
  #resource: JsonObject;
  #spent = 0;
  #indent = 0;
  #objects = 0;
  #nesting = 0;
  #chain = 0;
  readonly #definitions = new Map<object, Definition>();
  readonly #finished: Definition[] = [];
  readonly #described = new Set<object>();
  readonly #merged = new Map<object, JsonObject>();
  readonly #joined = new Map<string, JsonObject>();
  readonly #numbers = new Map<unknown, number>();
  readonly #lost = new Map<string, "external-ref" | "unresolved-ref">();
  readonly #cut = new Set<"levels" | "enumerations" | "properties" | "circular">();

  constructor(document: unknown, detail: Detail) {
    this.#document = document;
    this.#detail = detail;
    this.#anything = detail.check ? "any" : "unknown";
    this.#references = new References(isObject(document) ? document : {});
    this.#resource = this.#references.root;
  }

  render(): RenderedType | undefined {
    const document = this.#document;
    let text: string;
    if (isObject(document) && this.#detail.named) {
      const root = this.#define(document, "Root");
      text = root.recursive ? reference(root) : join(root.alternatives!);
    } else text = join(this.#alternatives(document));
    if (this.#spent > this.#detail.maxChars) return undefined;
    const named = nameTypes(text, this.#finished);
    const chars = named.types.reduce((sum, type) => sum + type.text.length, named.text.length);
    if (chars > this.#detail.maxChars) return undefined;
    const plain = isObject(document) ? this.#plain(document) : {};
    const open = plain["additionalProperties"] !== undefined && plain["additionalProperties"] !== false;
    const bare = isObjectLike(plain) && !hasMembers(plain) && plain["anyOf"] === undefined && plain["oneOf"] === undefined;
    return {
      ...named,
      rootTags: this.#detail.tags === undefined ? [] : constraintTags(plain, this.#detail.tags, ""),
      optional: isObjectLike(plain) && !isNonEmpty(plain["required"]) && !isNonEmpty(plain["anyOf"]) && !isNonEmpty(plain["oneOf"]),
      empty: bare && !open && plain["patternProperties"] === undefined,
      lost: [...this.#lost].map(([ref, kind]) => ({ kind, ref })),
      cut: this.#cut,
    };
  }

  /** The members of the union a schema stands for, each a type that needs no parentheses. None is `never`. */
  #alternatives(schema: unknown): readonly string[] {
    if (schema === false) return [];
    if (!isObject(schema)) return [this.#anything];
    if (this.#spent > this.#detail.maxChars) return [];
    if (this.#nesting > MAX_NESTING || this.#chain > MAX_CHAIN) return this.#cutOff("levels", "nested too deeply");
    const outer = this.#resource;
    if (isResource(schema) && schema !== this.#references.root) this.#resource = schema;
    this.#chain++;
    const types = this.#ofObject(schema);
    this.#chain--;
    this.#resource = outer;
    return types;
  }

  #ofObject(schema: JsonObject): readonly string[] {
    const ref = refOf(schema);
    const allOf = schema["allOf"];
    if (ref === undefined && !Array.isArray(allOf)) return this.#ofPlain(schema);
    if (ref !== undefined && !isStructural(schema)) {
      return this.#nullable(schema, this.#ofReference(ref));
    }
    const only = ref === undefined ? this.#soleMeaning(schema, allOf as unknown[]) : undefined;
    if (only !== undefined) return this.#nullable(schema, this.#alternatives(only));
    return this.#use(schema, () => this.#ofPlain(this.#plain(schema)), "Type");
  }

  /** Pydantic wraps a reference that has a description in an `allOf` of one. */
  #soleMeaning(schema: JsonObject, allOf: readonly unknown[]): unknown {
    const meanings = allOf.filter((part) => isObject(part) && (refOf(part) !== undefined || isStructural(part)));
    if (meanings.length !== 1 || allOf.length > 1) return undefined;
    return isStructural({ ...schema, allOf: undefined }) || schema["type"] !== undefined ? undefined : meanings[0];
  }

  #ofReference(ref: string): readonly string[] {
    const target = this.#references.resolve(ref, this.#resource);
    if (target.kind !== "found") {
      this.#lost.set(ref, target.kind === "external" ? "external-ref" : "unresolved-ref");
      return this.#detail.check ? ["any"] : [`unknown /* ${target.kind} $ref */`];
    }
    if (!isObject(target.schema)) return this.#alternatives(target.schema);
    const outer = this.#resource;
    this.#resource = target.resource;
    const types = this.#use(target.schema, () => this.#ofObjectOnce(target.schema as JsonObject), target.name);
    this.#resource = outer;
    return types;
  }

  #ofObjectOnce(schema: JsonObject): readonly string[] {
    this.#chain++;
    const types = this.#chain > MAX_CHAIN ? this.#cutOff("circular", "circular $ref") : this.#ofObject(schema);
    this.#chain--;
    return types;
  }

  /** A schema that may be met again, or inside itself: rendered once, then referred to. */
  #use(schema: JsonObject, body: () => readonly string[], name: string): readonly string[] {
    if (!this.#detail.named) return body();
    const known = this.#definitions.get(schema);
    if (known === undefined) {
      const made = this.#define(schema, name, body);
      return isShort(made) ? made.alternatives! : [reference(made)];
    }
    known.uses++;
    if (known.alternatives !== undefined) return isShort(known) ? known.alternatives : [reference(known)];
    // Met inside itself. Without an object or array between, TypeScript couldn't tell what it is, nor could a reader.
    if (known.level === this.#nesting) return this.#cutOff("circular", "circular $ref");
    known.recursive = true;
    return [reference(known)];
  }

  #define(schema: JsonObject, name: string, body = () => this.#alternatives(schema)): Definition {
    const definition: Definition = {
      id: this.#definitions.size,
      base: baseName(name),
      level: this.#nesting,
      alternatives: undefined,
      uses: 1,
      recursive: false,
    };
    this.#definitions.set(schema, definition);
    const [indent, chain] = [this.#indent, this.#chain];
    this.#indent = 0;
    this.#chain = 0;
    definition.alternatives = unique(body());
    this.#indent = indent;
    this.#chain = chain;
    this.#finished.push(definition);
    return definition;
  }

  /** `schema` without `$ref` and `allOf`: what they bring is merged in. */
  #plain(schema: JsonObject): JsonObject {
    if (refOf(schema) === undefined && !Array.isArray(schema["allOf"])) return schema;
    let merged = this.#merged.get(schema);
    if (merged === undefined) {
      const parts = new Set<JsonObject>();
      this.#collect(schema, parts, this.#resource);
      merged = mergeParts([...parts], (schemas) => this.#join(schemas));
      this.#merged.set(schema, merged);
    }
    return merged;
  }

  #collect(start: JsonObject, parts: Set<JsonObject>, resource: JsonObject): void {
    const pending: [unknown, JsonObject][] = [[start, resource]];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const [part, within] = next;
      if (!isObject(part) || parts.has(part)) continue;
      parts.add(part);
      if (Array.isArray(part["allOf"])) for (const entry of part["allOf"].toReversed()) pending.push([entry, within]);
      const ref = refOf(part);
      const target = ref === undefined ? undefined : this.#references.resolve(ref, within);
      if (target?.kind === "found") pending.push([target.schema, target.resource]);
      else if (target !== undefined) {
        this.#lost.set(ref!, target.kind === "external" ? "external-ref" : "unresolved-ref");
      }
    }
  }

  /** Several schemas of one place, the same object for the same schemas so that recursion is noticed. */
  #join(schemas: readonly unknown[]): unknown {
    const distinct = [...new Set(schemas)];
    if (distinct.length === 1) return distinct[0];
    const key = distinct
      .map((schema) => {
        if (!this.#numbers.has(schema)) this.#numbers.set(schema, this.#numbers.size);
        return this.#numbers.get(schema);
      })
      .join();
    const joined = this.#joined.get(key) ?? { allOf: distinct };
    this.#joined.set(key, joined);
    return joined;
  }

  /** A schema without `$ref` and `allOf`. */
  #ofPlain(schema: JsonObject): readonly string[] {
    if (schema["const"] !== undefined) return this.#nullable(schema, this.#literals([schema["const"]]));
    if (Array.isArray(schema["enum"])) return this.#nullable(schema, this.#literals(schema["enum"]));
    const groups = [schema["anyOf"], schema["oneOf"]].filter(
      (group): group is unknown[] => Array.isArray(group) && group.length > 0 && !group.every(onlyRequires),
    );
    if (groups.length === 0) return this.#nullable(schema, this.#ofType(schema));
    const unions = groups.map((group) => unique(group.flatMap((variant) => this.#alternatives(variant))));
    const telling = unions.filter((union) => !union.includes(this.#anything));
    const base = isObjectLike(schema) && hasMembers(schema) ? [this.#objectType(schema)] : [];
    if (telling.length === 0) return this.#nullable(schema, base.length > 0 ? base : this.#ofType(schema));
    if (base.length === 0 && telling.length === 1) return this.#nullable(schema, telling[0]!);
    const factors = [...base.map((text) => [text]), ...telling].map((union) =>
      union.length > 1 ? `(${join(union)})` : join(union),
    );
    return this.#nullable(schema, [`(${factors.join("&")})`]);
  }

  #ofType(schema: JsonObject): readonly string[] {
    const type = schema["type"];
    if (typeof type === "string") return this.#ofTypeName(type, schema);
    if (Array.isArray(type) && type.length > 0) {
      return unique(type.flatMap((name) => this.#ofTypeName(name, schema)));
    }
    if (isObjectLike(schema)) return [this.#objectType(schema)];
    if (schema["items"] !== undefined || schema["prefixItems"] !== undefined) return [this.#arrayType(schema)];
    return [this.#anything];
  }

  #ofTypeName(type: unknown, schema: JsonObject): readonly string[] {
    switch (type) {
      case "string":
      case "number":
      case "boolean":
      case "null":
        return [type];
      case "integer":
        return ["int"];
      case "array":
        return [this.#arrayType(schema)];
      case "object":
        return [this.#objectType(schema)];
      default:
        return [this.#anything];
    }
  }

  #nullable(schema: JsonObject, types: readonly string[]): readonly string[] {
    return schema["nullable"] === true ? unique([...types, "null"]) : types;
  }

  #literals(values: readonly unknown[]): readonly string[] {
    if (values.length > this.#detail.enumValues) {
      this.#cut.add("enumerations");
      const kinds = unique(values.map((value) => (value === null ? "null" : typeof value))).toSorted(byCodeUnit);
      const last = kinds.pop()!;
      return [...kinds, this.#detail.check ? last : `${last} /* one of ${values.length} values */`];
    }
    const literals = unique(values.map((value) => literalType(value)));
    for (const literal of literals) this.#spent += literal.length + 1;
    return literals;
  }

  #arrayType(schema: JsonObject): string {
    const listed = schema["prefixItems"] ?? schema["items"];
    const rest = Array.isArray(schema["prefixItems"]) ? schema["items"] : schema["additionalItems"];
    this.#nesting++;
    let text: string;
    if (Array.isArray(listed) && listed.length > 0) text = this.#tupleType(schema, listed, rest);
    else text = arrayOf(this.#alternatives(schema["items"] ?? true));
    this.#nesting--;
    this.#spent += 2;
    return text;
  }

  /** For readers a tuple has its elements; a check also takes the shorter and longer arrays a schema allows. */
  #tupleType(schema: JsonObject, listed: readonly unknown[], rest: unknown): string {
    const { check } = this.#detail;
    const least = typeof schema["minItems"] === "number" ? schema["minItems"] : 0;
    const elements = listed.map((item, place) => {
      const text = join(this.#alternatives(item));
      return check && place >= least ? `(${text})?` : text;
    });
    const closed = rest === false || (typeof schema["maxItems"] === "number" && schema["maxItems"] <= listed.length);
    if (!closed && (check || isObject(rest))) elements.push(`...${arrayOf(this.#alternatives(rest ?? true))}`);
    return `[${elements.join(", ")}]`;
  }

  #objectType(schema: JsonObject): string {
    const properties = isObject(schema["properties"]) ? schema["properties"] : {};
    const required = new Set(Array.isArray(schema["required"]) ? schema["required"].filter(isString) : []);
    const undeclared = [...required].filter((name) => !Object.hasOwn(properties, name));
    let names = undeclared.length === 0 ? Object.keys(properties) : [...Object.keys(properties), ...undeclared];
    if (names.length === 0) return this.#mapType(schema);
    if (this.#objects >= this.#detail.levels || this.#nesting >= MAX_NESTING) {
      return this.#cutOff("levels", `${names.length} ${names.length === 1 ? "property" : "properties"}`)[0]!;
    }
    names.sort(byCodeUnit);
    const total = names.length;
    if (total > this.#detail.properties) {
      this.#cut.add("properties");
      names = [...names.filter((name) => required.has(name)), ...names.filter((name) => !required.has(name))];
      names = names.slice(0, this.#detail.properties);
    }
    const others = schema["additionalProperties"];
    const rows = this.#rows(names, properties, required, others);
    if (total > names.length) rows.push({ text: this.#indexSignature("unknown"), comment: `${total - names.length} more` });
    else if (isObject(others) && Object.keys(others).length > 0) {
      const type = join(this.#alternatives(others));
      rows.push({ text: this.#indexSignature("unknown"), comment: this.#detail.description > 0 ? this.#inComment(type) : "" });
    } else if (this.#detail.check && others !== false) rows.push({ text: this.#indexSignature("any"), comment: "" });
    return layOut(rows, this.#indent);
  }

  #rows(
    names: readonly string[],
    properties: JsonObject,
    required: ReadonlySet<string>,
    others: unknown,
  ): { text: string; comment: string }[] {
    const shown = names.filter((name) => required.has(name) || properties[name] !== false);
    const schemaOf = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : (others ?? true));
    const comments = shown.map((name) => this.#comment(name, schemaOf(name)));
    const lines = comments.some((comment) => comment !== "");
    this.#nesting++;
    this.#objects++;
    if (lines) this.#indent++;
    const rows = shown.map((name, place) => {
      const head = propertyKey(name) + (required.has(name) ? ": " : "?: ");
      this.#spent += head.length + comments[place]!.length + 2;
      const types = this.#alternatives(schemaOf(name));
      for (const type of types) if (type.length <= 8) this.#spent += type.length;
      return { text: head + join(types), comment: comments[place]! };
    });
    if (lines) this.#indent--;
    this.#objects--;
    this.#nesting--;
    return rows;
  }

  /** An object without named properties: a map, a closed empty object, or any object. */
  #mapType(schema: JsonObject): string {
    const others = schema["additionalProperties"];
    const patterns = isObject(schema["patternProperties"]) ? Object.keys(schema["patternProperties"]) : [];
    const values: unknown[] = patterns
      .sort(byCodeUnit)
      .map((pattern) => (schema["patternProperties"] as JsonObject)[pattern]);
    if (isObject(others) || (others === true && values.length > 0)) values.push(others);
    if (values.length === 0) {
      if (others === false) return "{}";
      return this.#detail.check ? this.#braced(this.#indexSignature("any")) : "object";
    }
    this.#nesting++;
    const types = unique(values.flatMap((value) => this.#alternatives(value)));
    this.#nesting--;
    if (types.includes("unknown")) return "object";
    return this.#braced(this.#indexSignature(join(types)));
  }

  #braced(member: string): string {
    this.#spent += member.length > 24 ? 24 : member.length;
    return `{${member}}`;
  }

  #indexSignature(type: string): string {
    return `[k: string]: ${this.#detail.check && type === "unknown" ? "any" : type}`;
  }

  /** A type told in a comment: one line, and no names that only a type position can resolve. */
  #inComment(type: string): string {
    return type.includes("\n") || hasReference(type) ? "" : `each ${type}`;
  }

  /** Says what stands here without showing it. A check takes anything in its place. */
  #cutOff(what: "levels" | "circular", words: string): readonly string[] {
    this.#cut.add(what);
    if (this.#detail.check) return ["any"];
    this.#spent += words.length + 14;
    return [`${what === "circular" ? "unknown" : "object"} /* ${words} */`];
  }

  /** The text of a property's comment: its description, unless that only repeats the name, and its constraints. */
  #comment(name: string, schema: unknown): string {
    const { description, tags } = this.#detail;
    if ((description === 0 && tags === undefined) || !isObject(schema)) return "";
    const plain = this.#resolved(schema);
    let words = "";
    if (description > 0) {
      words = commentText(this.#describe(schema, plain), description);
      if (words.length <= name.length + 12 && saysOnlyTheName(words, name)) words = "";
    }
    if (tags === undefined) return words;
    const found = this.#tags(plain, tags, words);
    if (found.length === 0) return words;
    const list = `[${found.join(", ")}]`;
    return words === "" ? list : `${words} ${list}`;
  }

  /** A property's own description, else that of what it refers to (told once), its items or its only non-null variant. */
  #describe(schema: JsonObject, plain: JsonObject): unknown {
    if (isText(schema["description"])) return schema["description"];
    if (plain !== schema && isText(plain["description"]) && !this.#described.has(plain)) {
      this.#described.add(plain);
      return plain["description"];
    }
    const variant = soleVariant(plain) ?? plain["items"];
    return isObject(variant) ? variant["description"] : undefined;
  }

  #tags(plain: JsonObject, limits: TagLimits, words: string): string[] {
    const tags = constraintTags(plain, limits, words);
    const variants = variantsOf(plain);
    if (variants !== undefined) {
      for (const variant of variants.slice(0, 8)) {
        if (!isObject(variant)) continue;
        for (const tag of constraintTags(this.#resolved(variant), limits, words)) if (!tags.includes(tag)) tags.push(tag);
      }
    }
    if (isObject(plain["items"])) {
      const each = constraintTags(this.#resolved(plain["items"]), limits, words);
      if (each.length > 0) tags.push(`each ${each.join(" ")}`);
    }
    return tags;
  }

  /** A schema with its own reference followed, for comments. */
  #resolved(schema: JsonObject): JsonObject {
    let current = schema;
    for (let hops = 0; hops < MAX_CHAIN; hops++) {
      const ref = refOf(current);
      if (ref === undefined || isStructural(current)) break;
      const target = this.#references.resolve(ref, this.#resource);
      if (target.kind !== "found" || !isObject(target.schema)) return current;
      const siblings = Object.keys(current).some((key) => key !== "$ref" && key !== "description");
      if (siblings) break;
      current = target.schema;
    }
    return this.#plain(current);
  }
}
