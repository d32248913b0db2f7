/**
 * `key=value` words of a command line as a tool's arguments, with types taken from its input schema. The rules:
 * - `key=text`: a string wherever the schema allows one, however numeric it looks; else the number, boolean or null it spells;
 *   a value that begins with `{` or `[` is JSON where an object or array is wanted;
 * - `key:=JSON` says the value in JSON, whatever the schema;
 * - a repeated key collects the items of an array;
 * - `a.b=1` sets `b` inside the object `a`, unless a property is called `a.b`.
 * A name the schema doesn't declare is an error unless the schema is explicitly open. Nothing else is special: files are
 * read for `--args @file` alone. What comes out has yet to be checked by `prepareArguments`.
 */
import { nearest } from "../../schemas/nearest.ts";
import { shellWord } from "../../schemas/shell-word.ts";
import { setOwn } from "./dialect.ts";
import { describeSchema } from "./expectation.ts";
import {
  acceptedKinds,
  declaredProperties,
  forEachPart,
  isSchema,
  type Kind,
  propertySchemas,
} from "./schema-kinds.ts";

export interface KeyValueError {
  /** The word as typed. */
  readonly word: string;
  readonly message: string;
  /** A declared name close to an unknown one. */
  readonly suggestion?: string;
}

export type KeyValues =
  | { readonly ok: true; readonly args: Record<string, unknown> }
  | { readonly ok: false; readonly errors: readonly KeyValueError[]; readonly message: string };

/** All words, or everything that is wrong with them. */
export function parseKeyValues(words: readonly string[], inputSchema: unknown): KeyValues {
  const args: Record<string, unknown> = {};
  const errors: KeyValueError[] = [];
  for (const word of words) {
    const problem = addWord(args, word, inputSchema);
    if (problem !== undefined) errors.push({ word, ...problem });
  }
  if (errors.length === 0) return { ok: true, args };
  return { ok: false, errors, message: errors.map(({ message }) => message).join("\n") };
}

type Problem = Omit<KeyValueError, "word">;
type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };

function addWord(args: Record<string, unknown>, word: string, root: unknown): Problem | undefined {
  const split = /^([^=]+?)(:?)=([\s\S]*)$/.exec(word);
  if (split === null) return { message: `${JSON.stringify(word)} is not key=value` };
  const [, key, colon, value] = split as unknown as [string, string, string, string];
  const place = locate(args, key, root);
  if (!place.ok) return place.problem;
  const { holder, name, schemas } = place;
  if (colon === ":") {
    const parsed = parseJson(value);
    return parsed.ok ? put(holder, name, key, parsed.value, false) : { message: `${key}: ${parsed.message}` };
  }
  const kinds = unionOfKinds(schemas, root);
  const item = kinds.has("array") && !kinds.has("string") && !/^\s*[[]/.test(value);
  const parsed = item ? parseItem(value, schemas, root) : parseValue(value, schemas, kinds);
  return parsed.ok ? put(holder, name, key, parsed.value, item) : { message: `${key}: ${parsed.message}` };
}

function put(
  holder: Record<string, unknown>,
  name: string,
  key: string,
  value: unknown,
  item: boolean,
): Problem | undefined {
  const existing = Object.hasOwn(holder, name) ? holder[name] : undefined;
  if (item && Array.isArray(existing)) existing.push(value);
  else if (existing !== undefined) return { message: `${key} is given twice, and is not an array` };
  else setOwn(holder, name, item ? [value] : value);
  return undefined;
}

type Place =
  | {
      readonly ok: true;
      readonly holder: Record<string, unknown>;
      readonly name: string;
      readonly schemas: readonly unknown[];
    }
  | { readonly ok: false; readonly problem: Problem };

/** The object a key sets a property of, making the objects on a dotted way there. */
function locate(args: Record<string, unknown>, key: string, root: unknown): Place {
  let holder = args;
  let scope: readonly unknown[] = [root];
  let rest = key;
  while (true) {
    const dot = rest.indexOf(".");
    const first = dot > 0 ? rest.slice(0, dot) : rest;
    if (dot <= 0 || isDeclared(scope, rest, root) || !isDeclared(scope, first, root)) {
      const problem = unknownName(scope, rest, key, root);
      if (problem !== undefined) return { ok: false, problem };
      return { ok: true, holder, name: rest, schemas: membersOf(scope, rest, root) };
    }
    scope = membersOf(scope, first, root);
    if (!unionOfKinds(scope, root).has("object")) {
      return { ok: false, problem: { message: `${key}: ${first} is ${describeSchema(scope[0])}, not an object` } };
    }
    if (!Object.hasOwn(holder, first)) setOwn(holder, first, {});
    const next = holder[first];
    if (!isSchema(next))
      return { ok: false, problem: { message: `${key}: ${first} is already set to something else` } };
    holder = next as Record<string, unknown>;
    rest = rest.slice(dot + 1);
  }
}

function membersOf(scope: readonly unknown[], name: string, root: unknown): unknown[] {
  return scope.flatMap((schema) => propertySchemas(schema, name, root));
}

function isDeclared(scope: readonly unknown[], name: string, root: unknown): boolean {
  return scope.some((schema) => declaredProperties(schema, root).includes(name));
}

/** Undefined for a declared name, and in an object that is open or declares nothing. */
function unknownName(scope: readonly unknown[], name: string, key: string, root: unknown): Problem | undefined {
  const declared = scope.flatMap((schema) => declaredProperties(schema, root));
  if (declared.includes(name) || scope.some((schema) => isOpen(schema, declared, root))) return undefined;
  const suggestion = nearest(name, declared);
  const known = declared.length === 0 ? "it takes no arguments" : `it takes ${declared.slice(0, 20).join(", ")}`;
  const hint = suggestion === undefined ? known : `did you mean ${shellWord(suggestion)}?`;
  return { message: `unknown argument ${key}; ${hint}`, ...(suggestion === undefined ? {} : { suggestion }) };
}

function isOpen(schema: unknown, declared: readonly string[], root: unknown): boolean {
  let open = false;
  let closed = false;
  forEachPart(schema, root, (part) => {
    const additional = part["additionalProperties"];
    if (additional === false) closed = true;
    else if (additional !== undefined || isSchema(part["patternProperties"])) open = true;
  });
  return open || (declared.length === 0 && !closed);
}

function unionOfKinds(schemas: readonly unknown[], root: unknown): ReadonlySet<Kind> {
  if (schemas.length === 0) return acceptedKinds(true, root);
  return new Set(schemas.flatMap((schema) => [...acceptedKinds(schema, root)]));
}

function parseItem(value: string, schemas: readonly unknown[], root: unknown): Parsed {
  const items: unknown[] = [];
  for (const schema of schemas) {
    forEachPart(schema, root, (part) => {
      if (part["items"] !== undefined && !Array.isArray(part["items"])) items.push(part["items"]);
    });
  }
  return parseValue(value, items, unionOfKinds(items, root));
}

function parseValue(value: string, schemas: readonly unknown[], kinds: ReadonlySet<Kind>): Parsed {
  if (kinds.has("string")) return { ok: true, value };
  if (kinds.has("null") && value === "null") return { ok: true, value: null };
  if (kinds.has("boolean") && (value === "true" || value === "false")) return { ok: true, value: value === "true" };
  const numeric = kinds.has("number") || kinds.has("integer");
  if (numeric && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value)) return parseNumber(value, kinds);
  if ((kinds.has("object") || kinds.has("array")) && /^\s*[[{]/.test(value)) return parseJson(value);
  const expected = schemas.length === 0 ? [...kinds].join(" or ") : describeSchema(schemas[0]);
  return { ok: false, message: `expected ${expected}, got ${JSON.stringify(value)}` };
}

function parseNumber(value: string, kinds: ReadonlySet<Kind>): Parsed {
  const number = Number(value);
  if (!Number.isInteger(number) && !kinds.has("number")) {
    return { ok: false, message: `expected integer, got ${value}` };
  }
  if (/^-?\d+$/.test(value) && !Number.isSafeInteger(number)) {
    return { ok: false, message: `${value} is too large to be sent exactly` };
  }
  return { ok: true, value: number };
}

function parseJson(value: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(value) as unknown };
  } catch (error) {
    return { ok: false, message: `not valid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}
