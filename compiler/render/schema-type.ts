/**
 * One JSON Schema document as one TypeScript type, as short as readable text allows. Drafts 4 to
 * 2020-12 and mixtures. The type accepts at least what the schema accepts: `not`, `if`/`then`/`else` and
 * dependencies only narrow a schema and are left out. Work and output are bounded by `Detail`: rendering
 * stops once the text outgrows `maxChars`, and the caller tries again with less detail. Never throws,
 * whatever the document; never reads outside it.
 */
import { constraintTags, onlyRequires } from "./constraints.ts";
import { arrayType, objectType } from "./containers.ts";
import { Definitions } from "./definitions.ts";
import { type LostReference, MAX_CHAIN, refOf, SchemaDocument } from "./document.ts";
import { literalType } from "./literal.ts";
import { isStructural } from "./merge.ts";
import { type NamedType, nameTypes } from "./named-types.ts";
import { type CommentDetail, PropertyComments } from "./property-comment.ts";
import { isObject, type JsonObject } from "./references.ts";
import { Rendering } from "./rendering.ts";
import { hasMembers, isFilled, isObjectLike, isWrapper, kindOf } from "./schema-shape.ts";
import { join, unique } from "./type-text.ts";

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

/** The document's type, or undefined when it outgrew `detail.maxChars`. */
export function renderType(document: unknown, detail: Detail): RenderedType | undefined {
  return new TypeRenderer(document, detail).render();
}

class TypeRenderer {
  readonly #detail: Detail;
  readonly #schema: unknown;
  readonly #document: SchemaDocument;
  readonly #at: Rendering;
  readonly #definitions = new Definitions();

  constructor(schema: unknown, detail: Detail) {
    this.#schema = schema;
    this.#detail = detail;
    this.#document = new SchemaDocument(schema);
    const comments = new PropertyComments(this.#document, detail);
    this.#at = new Rendering(detail, comments, (part) => this.#alternatives(part));
  }

  render(): RenderedType | undefined {
    const schema = this.#schema;
    const text = isObject(schema)
      ? this.#definitions.root(schema, this.#detail.named, () => this.#alternatives(schema))
      : join(this.#alternatives(schema));
    if (this.#at.spent > this.#detail.maxChars) return undefined;
    const named = nameTypes(text, this.#definitions.finished);
    const chars = named.types.reduce((sum, type) => sum + type.text.length, named.text.length);
    if (chars > this.#detail.maxChars) return undefined;
    const plain = isObject(schema) ? this.#document.plain(schema) : {};
    const others = plain["additionalProperties"];
    const isPlainObject = isObjectLike(plain) && !isFilled(plain["anyOf"]) && !isFilled(plain["oneOf"]);
    return {
      // Member by member: spreading costs a third of all rendering on Node 20.
      text: named.text,
      types: named.types,
      rootTags: this.#detail.tags === undefined ? [] : constraintTags(plain, this.#detail.tags, ""),
      optional: isPlainObject && !isFilled(plain["required"]),
      empty: isPlainObject && !hasMembers(plain) && (others === undefined || others === false),
      lost: this.#document.lost,
      cut: this.#at.cut,
    };
  }

  /** The members of the union a schema stands for, each a type that needs no parentheses. None is `never`. */
  #alternatives(schema: unknown): readonly string[] {
    if (schema === false) return [];
    if (!isObject(schema)) return [this.#at.anything];
    // Counting visits too ends work on what is large and writes little.
    this.#at.spent++;
    if (this.#at.spent > this.#detail.maxChars) return [];
    if (this.#at.chain >= MAX_CHAIN) return this.#at.cutOff("circular", "circular $ref");
    const outer = this.#document.resource;
    if (this.#document.startsResource(schema)) this.#document.resource = schema;
    this.#at.chain++;
    const types = this.#ofSchema(schema);
    this.#at.chain--;
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
    if (target.kind !== "found") return this.#at.cutOff(undefined, `${target.kind} $ref`);
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
      ? this.#definitions.named(schema, name, this.#at.nesting, () => this.#atMargin(body))
      : this.#placedTypes(schema, body);
    // Met inside itself with no object or array between: neither TypeScript nor a reader could tell what it is.
    return types ?? this.#at.cutOff("circular", "circular $ref");
  }

  /** Named types stand at the margin, wherever they were met. */
  #atMargin(body: () => readonly string[]): readonly string[] {
    const indent = this.#at.indent;
    this.#at.indent = 0;
    const types = body();
    this.#at.indent = indent;
    return types;
  }

  /** Text written again without being rendered again counts too. */
  #placedTypes(schema: JsonObject, body: () => readonly string[]): readonly string[] | undefined {
    const spent = this.#at.spent;
    const types = this.#definitions.placed(schema, this.#at.nesting, body);
    if (this.#at.spent === spent && types !== undefined) for (const type of types) this.#at.spent += type.length;
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
      if (!union.includes(this.#at.anything)) unions.push(union);
    }
    const base = isObjectLike(schema) && hasMembers(schema) ? [objectType(this.#at, schema)] : undefined;
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
    if (isObjectLike(schema)) return [objectType(this.#at, schema)];
    if (schema["items"] !== undefined || schema["prefixItems"] !== undefined) return [arrayType(this.#at, schema)];
    return [this.#at.anything];
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
        return [arrayType(this.#at, schema)];
      case "object":
        return [objectType(this.#at, schema)];
      default:
        return [this.#at.anything];
    }
  }

  #nullable(schema: JsonObject, types: readonly string[]): readonly string[] {
    return schema["nullable"] === true ? unique([...types, "null"]) : types;
  }

  #literals(values: readonly unknown[]): readonly string[] {
    if (values.length > this.#detail.enumValues) {
      this.#at.cut.add("enumerations");
      const kinds = [...unique(values.map(kindOf))].sort();
      const last = kinds.pop()!;
      return [...kinds, this.#detail.check ? last : `${last} /* one of ${values.length} values */`];
    }
    const literals = unique(values.map((value) => literalType(value)));
    for (const literal of literals) this.#at.spent += literal.length + 1;
    return literals;
  }
}

const STRING: readonly string[] = ["string"];
const NUMBER: readonly string[] = ["number"];
const INTEGER: readonly string[] = ["int"];
const BOOLEAN: readonly string[] = ["boolean"];
const NULL: readonly string[] = ["null"];
