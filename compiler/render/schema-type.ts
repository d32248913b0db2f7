/**
 * One JSON Schema document as one TypeScript type, as short as readable text allows. Drafts 4 to
 * 2020-12 and mixtures. The type accepts at least what the schema accepts: `not`, `if`/`then`/`else` and
 * dependencies only narrow a schema and are left out. Work and output are bounded by `Detail`: rendering
 * stops once the text outgrows `maxChars`, and the caller tries again with less detail. Never throws,
 * whatever the document; never reads outside it.
 */
import { constraintTags, onlyRequires } from "./constraints.ts";
import { Definitions } from "./definitions.ts";
import { type LostReference, MAX_CHAIN, refOf, SchemaDocument } from "./document.ts";
import { literalType, propertyKey } from "./literal.ts";
import { isStructural } from "./merge.ts";
import { hasReference, type NamedType, nameTypes } from "./named-types.ts";
import { type CommentDetail, PropertyComments } from "./property-comment.ts";
import { isObject, type JsonObject } from "./references.ts";
import { hasMembers, isFilled, isObjectLike, isWrapper, kindOf } from "./schema-shape.ts";
import { arrayOf, join, objectOf, type Row, unique } from "./type-text.ts";

/** How much of a schema is shown. */
export interface Detail extends CommentDetail {
  /** Rendering is given up beyond this many characters, named types included. */
  readonly maxChars: number;
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

/** What a type leaves out of its schema for want of room, or because no type can say it. */
export type Cut = "levels" | "enumerations" | "properties" | "circular";

export interface RenderedType {
  readonly text: string;
  readonly types: readonly NamedType[];
  /** Tags of the document's root, which has no property line to stand on. */
  readonly rootTags: readonly string[];
  /** The root is an object all of whose properties may be left out. */
  readonly optional: boolean;
  /** The root is an object without properties that asks for none. */
  readonly empty: boolean;
  readonly lost: readonly LostReference[];
  readonly cut: ReadonlySet<Cut>;
}

/** Nesting no person writes; deeper schemas are cut off before the stack is. */
const MAX_NESTING = 80;
/** The document's type, or undefined when it outgrew `detail.maxChars`. */
export function renderType(document: unknown, detail: Detail): RenderedType | undefined {
  return new TypeRenderer(document, detail).render();
}

class TypeRenderer {
  readonly #detail: Detail;
  readonly #schema: unknown;
  readonly #document: SchemaDocument;
  readonly #comments: PropertyComments;
  /** The type of what a schema says nothing about. */
  readonly #anything: string;
  readonly #cut = new Set<Cut>();
  readonly #definitions = new Definitions();
  /** Characters written so far, roughly; the exact count is taken at the end. */
  #spent = 0;
  #indent = 0;
  #objects = 0;
  #nesting = 0;
  #chain = 0;

  constructor(schema: unknown, detail: Detail) {
    this.#schema = schema;
    this.#detail = detail;
    this.#anything = detail.check ? "any" : "unknown";
    this.#document = new SchemaDocument(schema);
    this.#comments = new PropertyComments(this.#document, detail);
  }

  render(): RenderedType | undefined {
    const schema = this.#schema;
    const text = isObject(schema)
      ? this.#definitions.root(schema, this.#detail.named, () => this.#alternatives(schema))
      : join(this.#alternatives(schema));
    if (this.#spent > this.#detail.maxChars) return undefined;
    const named = nameTypes(text, this.#definitions.finished);
    const chars = named.types.reduce((sum, type) => sum + type.text.length, named.text.length);
    if (chars > this.#detail.maxChars) return undefined;
    const plain = isObject(schema) ? this.#document.plain(schema) : {};
    const others = plain["additionalProperties"];
    const isPlainObject = isObjectLike(plain) && !isFilled(plain["anyOf"]) && !isFilled(plain["oneOf"]);
    return {
      ...named,
      rootTags: this.#detail.tags === undefined ? [] : constraintTags(plain, this.#detail.tags, ""),
      optional: isPlainObject && !isFilled(plain["required"]),
      empty: isPlainObject && !hasMembers(plain) && (others === undefined || others === false),
      lost: this.#document.lost,
      cut: this.#cut,
    };
  }

  /** The members of the union a schema stands for, each a type that needs no parentheses. None is `never`. */
  #alternatives(schema: unknown): readonly string[] {
    if (schema === false) return [];
    if (!isObject(schema)) return [this.#anything];
    // Counting visits too ends work on what is large and writes little.
    this.#spent++;
    if (this.#spent > this.#detail.maxChars) return [];
    if (this.#chain >= MAX_CHAIN) return this.#cutOff("circular", "circular $ref");
    const outer = this.#document.resource;
    if (this.#document.startsResource(schema)) this.#document.resource = schema;
    this.#chain++;
    const types = this.#ofSchema(schema);
    this.#chain--;
    this.#document.resource = outer;
    return types;
  }

  #ofSchema(schema: JsonObject): readonly string[] {
    const ref = refOf(schema);
    const allOf = schema["allOf"];
    if (ref === undefined && !Array.isArray(allOf)) return this.#ofPlain(schema);
    if (ref !== undefined && !isStructural(schema)) return this.#nullable(schema, this.#ofReference(ref));
    if (ref === undefined && isWrapper(schema)) {
      return this.#nullable(schema, this.#alternatives((allOf as unknown[])[0]));
    }
    const plain = this.#document.plain(schema);
    return plain === schema ? this.#ofPlain(schema) : this.#shared(schema, () => this.#ofPlain(plain), "Type");
  }

  #ofReference(ref: string): readonly string[] {
    const target = this.#document.follow(ref);
    if (target.kind !== "found") return this.#cutOff(undefined, `${target.kind} $ref`);
    const { schema } = target;
    if (!isObject(schema)) return this.#alternatives(schema);
    const outer = this.#document.resource;
    this.#document.resource = target.resource;
    const types = this.#shared(schema, () => this.#alternatives(schema), target.name);
    this.#document.resource = outer;
    return types;
  }

  /** A schema that may be met again, or inside itself. */
  #shared(schema: JsonObject, body: () => readonly string[], name: string): readonly string[] {
    const types = this.#detail.named
      ? this.#definitions.named(schema, name, this.#nesting, () => this.#atMargin(body))
      : this.#placedTypes(schema, body);
    // Met inside itself with no object or array between: neither TypeScript nor a reader could tell what it is.
    return types ?? this.#cutOff("circular", "circular $ref");
  }

  /** Named types stand at the margin, wherever they were met. */
  #atMargin(body: () => readonly string[]): readonly string[] {
    const indent = this.#indent;
    this.#indent = 0;
    const types = body();
    this.#indent = indent;
    return types;
  }

  /** Text written again without being rendered again counts too. */
  #placedTypes(schema: JsonObject, body: () => readonly string[]): readonly string[] | undefined {
    const spent = this.#spent;
    const types = this.#definitions.placed(schema, this.#nesting, body);
    if (this.#spent === spent && types !== undefined) for (const type of types) this.#spent += type.length;
    return types;
  }

  /** A schema without `$ref` and `allOf`. */
  #ofPlain(schema: JsonObject): readonly string[] {
    if (schema["const"] !== undefined) return this.#nullable(schema, this.#literals([schema["const"]]));
    if (Array.isArray(schema["enum"])) return this.#nullable(schema, this.#literals(schema["enum"]));
    if (schema["anyOf"] === undefined && schema["oneOf"] === undefined) {
      return this.#nullable(schema, this.#ofType(schema));
    }
    const unions: (readonly string[])[] = [];
    for (const group of [schema["anyOf"], schema["oneOf"]]) {
      if (!Array.isArray(group) || group.length === 0 || group.every(onlyRequires)) continue;
      const union = unique(group.flatMap((variant) => this.#alternatives(variant)));
      if (!union.includes(this.#anything)) unions.push(union);
    }
    const base = isObjectLike(schema) && hasMembers(schema) ? [this.#objectType(schema)] : undefined;
    if (unions.length === 0) return this.#nullable(schema, base ?? this.#ofType(schema));
    if (base === undefined && unions.length === 1) return this.#nullable(schema, unions[0]!);
    const factors = base === undefined ? unions : [base, ...unions];
    const text = factors.map((union) => (union.length > 1 ? `(${join(union)})` : join(union))).join("&");
    return this.#nullable(schema, [`(${text})`]);
  }

  #ofType(schema: JsonObject): readonly string[] {
    const type = schema["type"];
    if (typeof type === "string") return this.#ofTypeName(type, schema);
    if (Array.isArray(type)) return unique(type.flatMap((name) => this.#ofTypeName(name, schema)));
    if (isObjectLike(schema)) return [this.#objectType(schema)];
    if (schema["items"] !== undefined || schema["prefixItems"] !== undefined) return [this.#arrayType(schema)];
    return [this.#anything];
  }

  #ofTypeName(type: unknown, schema: JsonObject): readonly string[] {
    switch (type) {
      case "string":
        return STRING;
      case "number":
        return NUMBER;
      case "integer":
        return INTEGER;
      case "boolean":
        return BOOLEAN;
      case "null":
        return NULL;
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
      const kinds = [...unique(values.map(kindOf))].sort();
      const last = kinds.pop()!;
      return [...kinds, this.#detail.check ? last : `${last} /* one of ${values.length} values */`];
    }
    const literals = unique(values.map((value) => literalType(value)));
    for (const literal of literals) this.#spent += literal.length + 1;
    return literals;
  }

  #arrayType(schema: JsonObject): string {
    if (this.#nesting >= MAX_NESTING) return this.#cutOff("levels", "nested too deeply")[0]!;
    const listed = schema["prefixItems"] ?? schema["items"];
    const chain = this.#chain;
    this.#chain = 0;
    this.#nesting++;
    const text =
      Array.isArray(listed) && listed.length > 0
        ? this.#tupleType(schema, listed)
        : arrayOf(this.#alternatives(Array.isArray(listed) ? true : (listed ?? true)));
    this.#nesting--;
    this.#chain = chain;
    this.#spent += 2;
    return text;
  }

  /** For readers a tuple has its elements; a check also takes the shorter and longer arrays a schema allows. */
  #tupleType(schema: JsonObject, listed: readonly unknown[]): string {
    const { check } = this.#detail;
    const rest = Array.isArray(schema["prefixItems"]) ? schema["items"] : schema["additionalItems"];
    const least = typeof schema["minItems"] === "number" ? schema["minItems"] : 0;
    const elements = listed.map((item, place) => {
      const text = join(this.#alternatives(item));
      this.#spent += 4;
      return check && place >= least ? `(${text})?` : text;
    });
    const closed = rest === false || (typeof schema["maxItems"] === "number" && schema["maxItems"] <= listed.length);
    if (!closed && (check || isObject(rest))) elements.push(`...${arrayOf(this.#alternatives(rest ?? true))}`);
    return `[${elements.join(", ")}]`;
  }

  #objectType(schema: JsonObject): string {
    const properties = isObject(schema["properties"]) ? schema["properties"] : NO_PROPERTIES;
    const required: ReadonlySet<unknown> = isFilled(schema["required"]) ? new Set(schema["required"]) : NONE;
    const names = Object.keys(properties);
    for (const name of required) {
      if (typeof name === "string" && !Object.hasOwn(properties, name)) names.push(name);
    }
    if (names.length === 0) return this.#mapType(schema);
    if (this.#objects >= this.#detail.levels || this.#nesting >= MAX_NESTING) {
      return this.#cutOff("levels", `${names.length} ${names.length === 1 ? "property" : "properties"}`)[0]!;
    }
    names.sort(); // by code unit
    const shown = names.length > this.#detail.properties ? this.#foremost(names, required) : names;
    const chain = this.#chain;
    this.#chain = 0;
    this.#nesting++;
    this.#objects++;
    const rows = this.#rows(shown, properties, required, schema["additionalProperties"]);
    const others = this.#othersRow(schema["additionalProperties"], names.length - shown.length);
    if (others !== undefined) rows.push(others);
    this.#objects--;
    this.#nesting--;
    this.#chain = chain;
    return objectOf(rows, this.#indent);
  }

  #foremost(names: readonly string[], required: ReadonlySet<unknown>): string[] {
    this.#cut.add("properties");
    const sorted = [...names.filter((name) => required.has(name)), ...names.filter((name) => !required.has(name))];
    return sorted.slice(0, this.#detail.properties);
  }

  #rows(names: readonly string[], properties: JsonObject, required: ReadonlySet<unknown>, others: unknown): Row[] {
    const schemas: unknown[] = [];
    const comments: string[] = [];
    let commented = false;
    for (const name of names) {
      const schema = Object.hasOwn(properties, name) ? properties[name] : isObject(others) ? others : true;
      const comment = this.#spent > this.#detail.maxChars ? "" : this.#comments.of(name, schema);
      this.#spent += name.length + comment.length + 8;
      schemas.push(schema);
      comments.push(comment);
      if (comment !== "") commented = true;
    }
    if (commented) this.#indent++;
    const rows: Row[] = [];
    for (let at = 0; at < names.length; at++) {
      const isRequired = required.has(names[at]);
      // A property that no value satisfies can only be left out.
      if (schemas[at] === false && !isRequired) continue;
      const head = propertyKey(names[at]!) + (isRequired ? ": " : "?: ");
      rows.push({ text: head + join(this.#alternatives(schemas[at])), comment: comments[at]! });
    }
    if (commented) this.#indent--;
    return rows;
  }

  /**
   * The index signature of an object with properties. Its type is `unknown`, as TypeScript wants it to fit
   * the declared properties too; what the schema says of the others stands in a comment.
   */
  #othersRow(others: unknown, hidden: number): Row | undefined {
    const { check, description } = this.#detail;
    if (hidden > 0) return { text: `[k: string]: ${this.#anything}`, comment: check ? "" : `${hidden} more` };
    if (check) return others === false ? undefined : { text: "[k: string]: any", comment: "" };
    if (!isObject(others) || Object.keys(others).length === 0) return undefined;
    const type = join(this.#alternatives(others));
    const tellable = description > 0 && !type.includes("\n") && !hasReference(type) && type !== "unknown";
    return { text: "[k: string]: unknown", comment: tellable ? `others: ${type}` : "" };
  }

  /** An object without named properties: a map, a closed empty object, or any object. */
  #mapType(schema: JsonObject): string {
    const others = schema["additionalProperties"];
    const patterns = isObject(schema["patternProperties"]) ? schema["patternProperties"] : NO_PROPERTIES;
    const values = Object.keys(patterns)
      .sort()
      .map((pattern) => patterns[pattern]);
    if (values.length === 0 && others === false) return "{}";
    // Unless told otherwise an object is open, which tells a reader of `^x-: string` nothing.
    if (isObject(others) || (this.#detail.check && others !== false)) values.push(others ?? true);
    if (this.#nesting >= MAX_NESTING) return this.#cutOff("levels", "nested too deeply")[0]!;
    const chain = this.#chain;
    this.#chain = 0;
    this.#nesting++;
    const types = values.length === 0 ? [this.#anything] : unique(values.flatMap((value) => this.#alternatives(value)));
    this.#nesting--;
    this.#chain = chain;
    this.#spent += 16;
    return types[0] === "unknown" ? "object" : `{[k: string]: ${join(types)}}`;
  }

  /** Says what stands here without showing it. A check takes anything in its place. */
  #cutOff(what: Cut | undefined, words: string): readonly string[] {
    if (what !== undefined) this.#cut.add(what);
    if (this.#detail.check) return ["any"];
    this.#spent += words.length + 14;
    return [`${what === "levels" ? "object" : "unknown"} /* ${words} */`];
  }
}

const STRING: readonly string[] = ["string"];
const NUMBER: readonly string[] = ["number"];
const INTEGER: readonly string[] = ["int"];
const BOOLEAN: readonly string[] = ["boolean"];
const NULL: readonly string[] = ["null"];
const NONE: ReadonlySet<unknown> = new Set();
const NO_PROPERTIES: JsonObject = Object.freeze(Object.create(null));
