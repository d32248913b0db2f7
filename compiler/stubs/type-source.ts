/**
 * Schema in, TypeScript type out, for all schemas of a server at once. Types of unchanged schemas come from a
 * cache, and then neither the converter nor TypeScript is imported. Never throws for what a server sent: a
 * schema that can't be typed is `unknown`, with a remark that the stub's diagnostics carry.
 */
import { canonicalJson, sha256 } from "../../schemas/canonical.ts";
import { convertToTypes } from "./convert.ts";
import { ANY_TYPE, OBJECT } from "./json-schema.ts";
import { type NormalSchema, normalise } from "./normalise.ts";
import { TokenTable, withTypeNames } from "./plain-schema.ts";
import type { TypeRemark } from "./schema-walk.ts";
import { malformedTypes } from "./syntax.ts";

/** Part of every cache key: raise it with any change of what a schema is turned into. */
export const TYPES_REVISION = 1;
/** Characters of type text for one schema; the largest real schema seen makes 30,000. */
export const MAX_TYPE_LENGTH = 200_000;

/** A declaration; references to its siblings are marked as `plain-schema.ts` says, since final names depend on the tool. */
export interface TypeDeclaration {
  /** Empty for the root. */
  readonly name: string;
  /** Safe lines for a JSDoc block. */
  readonly comment: string;
  readonly text: string;
}

/** All that a stub needs of one schema. Plain JSON, so a cache can keep it. */
export interface CachedType {
  /** The root first. */
  readonly declarations: readonly TypeDeclaration[];
  readonly acceptsEmpty: boolean;
  readonly remarks: readonly TypeRemark[];
}

/** Where types of earlier compiles are kept; the key is a sha256 in hex. Storage is the caller's. */
export interface TypeCache {
  get(digest: string): CachedType | undefined;
  set(digest: string, type: CachedType): void;
}

/** An input is always an object, an output whatever its schema says. */
export interface TypeRequest {
  readonly schema: unknown;
  readonly role: "input" | "output";
}

export interface TypeSource {
  /** One type for each request, in their order. */
  typesOf(requests: readonly TypeRequest[]): Promise<readonly CachedType[]>;
}

export function createTypeSource(cache: TypeCache = memoryCache()): TypeSource {
  return {
    async typesOf(requests) {
      const keys = requests.map(cacheKey);
      const known = new Map<string, CachedType>();
      const wanted = new Map<string, TypeRequest>();
      requests.forEach((request, index) => {
        const key = keys[index];
        if (key === undefined || known.has(key) || wanted.has(key)) return;
        const cached = cache.get(key);
        if (cached === undefined) wanted.set(key, request);
        else known.set(key, cached);
      });
      const made = await makeTypes([...wanted.values()]);
      [...wanted.keys()].forEach((key, index) => {
        known.set(key, made[index]!);
        cache.set(key, made[index]!);
      });
      return keys.map((key) =>
        key === undefined ? untyped("the schema is nested too deep to read") : known.get(key)!,
      );
    },
  };
}

export function memoryCache(): TypeCache {
  return new Map<string, CachedType>();
}

/** Whether a value read back from a cache file has the shape of a type; one that hasn't is a miss. */
export function isCachedType(value: unknown): value is CachedType {
  const isRecord = (item: unknown): item is Record<string, unknown> => typeof item === "object" && item !== null;
  const allStrings = (item: unknown, names: readonly string[]) =>
    isRecord(item) && names.every((name) => typeof item[name] === "string");
  if (!isRecord(value) || typeof value["acceptsEmpty"] !== "boolean") return false;
  const { declarations, remarks } = value;
  return (
    Array.isArray(declarations) &&
    declarations.length > 0 &&
    declarations.every((item) => allStrings(item, ["name", "comment", "text"])) &&
    Array.isArray(remarks) &&
    remarks.every((item) => allStrings(item, ["code", "message", "pointer"]))
  );
}

/** Undefined for a schema nested deeper than the stack: it has no canonical form. */
function cacheKey({ schema, role }: TypeRequest): string | undefined {
  try {
    return sha256(`${TYPES_REVISION}\n${role}\n${canonicalJson(schema)}`);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

async function makeTypes(requests: readonly TypeRequest[]): Promise<CachedType[]> {
  if (requests.length === 0) return [];
  const tokens = new TokenTable();
  const normal = requests.map(({ schema, role }) => normalise(schema, role === "input" ? OBJECT : ANY_TYPE, tokens));
  const texts = await convertDistinct(normal, tokens);
  const types = normal.map((schema, index) => assemble(schema, texts[index]!));
  const declared = types.flatMap(({ declarations }, type) => declarations.map(({ text }) => ({ type, text })));
  const bad = await malformedTypes(declared.map(({ text }) => withTypeNames(text, (name) => `Type${name}`)));
  const malformed = new Set(bad.map((index) => declared[index]!.type));
  return types.map((type, index) => (malformed.has(index) ? untyped("its type is not valid TypeScript") : type));
}

/** Equal plain schemas are converted once: servers repeat the same definitions in every tool. */
async function convertDistinct(
  normal: readonly NormalSchema[],
  tokens: TokenTable,
): Promise<(readonly (string | undefined)[])[]> {
  const indexes = new Map<string, number>();
  const distinct = normal.flatMap(({ types }) =>
    types.flatMap(({ schema }) => {
      const key = JSON.stringify(schema);
      if (indexes.has(key)) return [];
      indexes.set(key, indexes.size);
      return [schema];
    }),
  );
  const texts = await convertToTypes(distinct, tokens);
  return normal.map(({ types }) => types.map(({ schema }) => texts[indexes.get(JSON.stringify(schema))!]));
}

function assemble({ types, acceptsEmpty, remarks }: NormalSchema, texts: readonly (string | undefined)[]): CachedType {
  const length = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  if (length > MAX_TYPE_LENGTH) return untyped(`its type has more than ${MAX_TYPE_LENGTH} characters`, acceptsEmpty);
  if (texts.includes(undefined)) return untyped("json-schema-to-typescript can't convert it", acceptsEmpty);
  const declarations = types.map(({ name, comment }, index) => ({ name, comment, text: texts[index]! }));
  return { declarations, acceptsEmpty, remarks };
}

function untyped(message: string, acceptsEmpty = true): CachedType {
  return {
    declarations: [{ name: "", comment: "", text: "unknown" }],
    acceptsEmpty,
    remarks: [{ code: "stub-type-unknown", message, pointer: "" }],
  };
}
