/**
 * Turns a server's schema, of whatever draft or mixture, into plain schemas: one for its root and one for every
 * schema it refers to, so that recursion and shared references stay finite. The type made from the result
 * accepts every value the schema accepts, except that keywords about objects or arrays are read as saying
 * that the value is one. What TypeScript can't say (`if`, `not`, `pattern`, lengths) widens, it never narrows.
 *
 * An object whose schema doesn't mention `additionalProperties` gets no index signature: other values stay
 * assignable, and a misspelt name in an object literal is a compile error.
 */
import type { DiagnosticCode } from "../../schemas/diagnostic.ts";
import { commentText } from "./doc-comment.ts";
import { boundIntersections } from "./intersection-bound.ts";
import {
  ANY_TYPE,
  ARRAY,
  declaredTypes,
  describesArray,
  describesObject,
  ignoresRefSiblings,
  isResource,
  isSchemaObject,
  keyword,
  literalsOf,
  NULL,
  OBJECT,
  type SchemaObject,
  schemaList,
  type TypeSet,
  typeOfValue,
} from "./json-schema.ts";
import { arrayType, objectType, typesAsUnion } from "./object-and-array.ts";
import {
  intersection,
  literalType,
  NEVER,
  NULL_TYPE,
  OPEN_OBJECT,
  type PlainSchema,
  type TokenTable,
  typeReference,
  UNKNOWN,
  union,
} from "./plain-schema.ts";
import { createRefResolver, type RefResolver, type SchemaPlace } from "./schema-refs.ts";
import { acceptsEmptyObject, allowedTypes, referenceClosesLoop } from "./schema-structure.ts";
import { down, type NamedPlainSchema, type Position, type SchemaWalk, type TypeRemark } from "./schema-walk.ts";

/** Deeper levels become `unknown`: no schema written by a person comes near, and recursion stays bounded. */
const MAX_DEPTH = 64;
/** Schemas visited for one root; the rest becomes `unknown`. The largest real one seen has about 3,000. */
const MAX_SCHEMAS = 20_000;
/** Named types made for one schema; further references become `unknown`. */
const MAX_DEFINITIONS = 1000;

export interface NormalSchema {
  /** The root first, then what it refers to in order of first mention. */
  readonly types: readonly NamedPlainSchema[];
  /** `{}` satisfies the schema as far as its keywords for objects say. */
  readonly acceptsEmpty: boolean;
  readonly remarks: readonly TypeRemark[];
}

interface Definition {
  readonly name: string;
  readonly place: SchemaPlace;
  readonly pointer: string;
}

export function normalise(schema: unknown, rootTypes: TypeSet, tokens: TokenTable): NormalSchema {
  return new Normaliser(schema, tokens).run(rootTypes);
}

/** The walk over one schema document. */
class Normaliser implements SchemaWalk {
  readonly tokens: TokenTable;
  readonly #root: unknown;
  readonly #resolver: RefResolver;
  readonly #legacyRefs: boolean;
  readonly #definitions = new Map<unknown, Definition>();
  readonly #names = new Set<string>([""]);
  readonly #remarks: TypeRemark[] = [];
  readonly #types = new Map<SchemaObject, TypeSet>();
  #visited = 0;

  constructor(root: unknown, tokens: TokenTable) {
    this.tokens = tokens;
    this.#root = root;
    this.#resolver = createRefResolver(root);
    this.#legacyRefs = ignoresRefSiblings(root);
  }

  run(rootTypes: TypeSet): NormalSchema {
    const place = { schema: this.#root, resource: this.#root, label: "" };
    if (isSchemaObject(this.#root)) this.#definitions.set(this.#root, { name: "", place, pointer: "" });
    const types: NamedPlainSchema[] = [];
    const declare = ({ name, place, pointer }: Definition, allowed: TypeSet) => {
      const declaring = isSchemaObject(place.schema) ? place.schema : undefined;
      const comment = declaring === undefined ? "" : commentText(keyword(declaring, "description"));
      const position = { pointer, depth: 0, resource: place.resource, declaring };
      types.push({ name, comment, schema: this.shape(place.schema, position, allowed) });
    };
    declare({ name: "", place, pointer: "" }, rootTypes);
    // A Map yields what is added while it is walked: definitions that definitions mention.
    for (const definition of this.#definitions.values()) if (definition.name !== "") declare(definition, ANY_TYPE);
    return {
      types: boundIntersections(types, this.tokens, (remark) => this.#remarks.push(remark)),
      acceptsEmpty: acceptsEmptyObject(this.#root, this.#resolver),
      remarks: this.#remarks,
    };
  }

  named(schema: unknown, position: Position, label: string): PlainSchema {
    const short = !isSchemaObject(schema) || isLeaf(schema) || isReferenceAlone(schema);
    if (short) return this.shape(schema, position, ANY_TYPE);
    return this.#referTo({ schema, resource: position.resource, label }, position.pointer);
  }

  shape(schema: unknown, position: Position, allowed: TypeSet): PlainSchema {
    if (schema === false) return NEVER;
    if (schema === true) return typesAsUnion(allowed, UNKNOWN);
    if (!isSchemaObject(schema)) {
      this.#remark("stub-type-unknown", "not a schema", position.pointer);
      return UNKNOWN;
    }
    if (position.depth > MAX_DEPTH || ++this.#visited > MAX_SCHEMAS) {
      // One remark for a schema too large, not one for each of its leaves.
      if (position.depth > MAX_DEPTH || this.#visited === MAX_SCHEMAS + 1) {
        const limit = position.depth > MAX_DEPTH ? `${MAX_DEPTH} levels` : `${MAX_SCHEMAS} schemas`;
        this.#remark("stub-type-unknown", `the schema goes past ${limit}`, position.pointer);
      }
      return UNKNOWN;
    }
    const here = isResource(schema) ? { ...position, resource: schema } : position;
    const type = this.#constrained(schema, here, allowed);
    const nullable = keyword(schema, "nullable") === true && (allowed & NULL) !== 0;
    return nullable ? union([type, NULL_TYPE]) : type;
  }

  #constrained(schema: SchemaObject, here: Position, allowed: TypeSet): PlainSchema {
    const not = keyword(schema, "not");
    if (not === true || (isSchemaObject(not) && Object.keys(not).length === 0)) return NEVER;
    const reference = this.#reference(schema, here);
    if (reference !== undefined && this.#legacyRefs) return reference;

    const stated = allowed & this.#allowedTypes(schema, here.resource);
    const implied = (describesObject(schema) ? OBJECT : 0) | (describesArray(schema) ? ARRAY : 0);
    const types = stated === ANY_TYPE && implied !== 0 ? implied : stated;
    const literals = literalsOf(schema);
    if (literals !== undefined) return this.#literalUnion(literals, types & declaredTypes(schema));

    const alternatives = (name: string) =>
      schemaList(schema, name)?.map((member, index) => this.shape(member, down(here, `${name}/${index}`), types));
    const parts = [
      ...(reference === undefined ? [] : [reference]),
      ...(alternatives("allOf") ?? []),
      ...["anyOf", "oneOf"].map(alternatives).flatMap((members) => (members === undefined ? [] : [union(members)])),
    ].filter((part) => part !== UNKNOWN && part !== OPEN_OBJECT);
    const informative =
      ((types & OBJECT) !== 0 && describesObject(schema)) || ((types & ARRAY) !== 0 && describesArray(schema));
    const own = informative || parts.length === 0 ? [this.#ownType(schema, here, types)] : [];
    return intersection([...own, ...parts]);
  }

  /** What the schema's own keywords say for each type it allows. */
  #ownType(schema: SchemaObject, here: Position, types: TypeSet): PlainSchema {
    if (types === ANY_TYPE && !describesObject(schema) && !describesArray(schema)) return UNKNOWN;
    return union([
      typesAsUnion(types & ~(ARRAY | OBJECT | NULL), NEVER),
      ...(types & ARRAY ? [arrayType(this, schema, here)] : []),
      ...(types & OBJECT ? [objectType(this, schema, here)] : []),
      typesAsUnion(types & NULL, NEVER),
    ]);
  }

  #remark(code: DiagnosticCode, message: string, pointer: string): void {
    this.#remarks.push({ code, message, pointer });
  }

  #literalUnion(values: readonly unknown[], types: TypeSet): PlainSchema {
    const accepted = values.filter((value) => (typeOfValue(value) & types) !== 0);
    const texts = new Set(accepted.map((value) => literalType(value)));
    return union([...texts].map((text) => this.tokens.atom(text)));
  }

  #reference(schema: SchemaObject, here: Position): PlainSchema | undefined {
    const ref = ["$ref", "$dynamicRef", "$recursiveRef"]
      .map((name) => keyword(schema, name))
      .find((value) => value !== undefined);
    if (ref === undefined) return undefined;
    const found = typeof ref === "string" ? this.#resolver.resolve(ref, here.resource) : { kind: "missing" as const };
    if (found.kind === "external") {
      this.#remark("schema-external-ref", "a $ref leaves the schema; its type is unknown", `${here.pointer}/$ref`);
      return UNKNOWN;
    }
    if (found.kind === "missing") {
      this.#remark("stub-type-unknown", "a $ref points at nothing", `${here.pointer}/$ref`);
      return UNKNOWN;
    }
    if (!isSchemaObject(found.schema)) return this.shape(found.schema, here, ANY_TYPE);
    if (isLeaf(found.schema))
      return this.shape(found.schema, { ...down(here, "$ref"), resource: found.resource }, ANY_TYPE);
    if (here.declaring !== undefined && referenceClosesLoop(found, here.declaring, this.#resolver)) {
      this.#remark(
        "stub-type-unknown",
        "a $ref leads back to itself, or through too many others",
        `${here.pointer}/$ref`,
      );
      return UNKNOWN;
    }
    return this.#referTo(found, `${here.pointer}/$ref`);
  }

  #referTo(place: SchemaPlace, pointer: string): PlainSchema {
    const known = this.#definitions.get(place.schema);
    if (known === undefined && this.#definitions.size > MAX_DEFINITIONS) {
      this.#remark("stub-type-unknown", `the schema refers to more than ${MAX_DEFINITIONS} others`, pointer);
      return UNKNOWN;
    }
    const { name } = known ?? this.#define(place, pointer);
    return this.tokens.atom(typeReference(name));
  }

  #define(place: SchemaPlace, pointer: string): Definition {
    const base = pascalCase(place.label) || "Type";
    let name = base;
    for (let count = 2; this.#names.has(name); count++) name = `${base}_${count}`;
    this.#names.add(name);
    const definition = { name, place, pointer };
    this.#definitions.set(place.schema, definition);
    return definition;
  }

  #allowedTypes(schema: SchemaObject, resource: unknown): TypeSet {
    return allowedTypes(schema, resource, this.#resolver, this.#types);
  }
}

const COMPOUND = ["properties", "patternProperties", "additionalProperties", "required", "items", "prefixItems"].concat(
  ["allOf", "anyOf", "oneOf", "enum", "const", "not", "$ref", "$dynamicRef", "$recursiveRef"],
);

/** A schema as short as its name: worth no declaration. */
function isLeaf(schema: SchemaObject): boolean {
  return !COMPOUND.some((name) => Object.hasOwn(schema, name));
}

function isReferenceAlone(schema: SchemaObject): boolean {
  return Object.hasOwn(schema, "$ref") && COMPOUND.every((name) => name === "$ref" || !Object.hasOwn(schema, name));
}

/** Letters and digits of a label as the end of a type name. */
function pascalCase(label: string): string {
  return label
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("")
    .slice(0, 60);
}
