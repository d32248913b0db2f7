/**
 * Which kinds of JSON value a schema can accept, read off its keywords without validating anything. Errs
 * towards "any": a keyword that isn't understood excludes nothing. Only local references are followed; recursive and
 * hostile schemas end at a fixed number of steps.
 */

export const KINDS = ["null", "boolean", "integer", "number", "string", "array", "object"] as const;
export type Kind = (typeof KINDS)[number];
type Schema = Readonly<Record<string, unknown>>;

/** Subschemas looked at for one question. */
const MAX_STEPS = 500;

/** The kind of a JSON value; whole numbers are `integer`. */
export function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "string" || typeof value === "boolean" ? (typeof value as Kind) : "object";
}

/** Kinds that `schema` may accept; `root` is the document its references point into. `number` implies `integer`. */
export function acceptedKinds(schema: unknown, root: unknown): ReadonlySet<Kind> {
  return accepted(schema, root, { left: MAX_STEPS });
}

function accepted(schema: unknown, root: unknown, steps: { left: number }): ReadonlySet<Kind> {
  if (schema === false) return new Set();
  if (!isSchema(schema) || steps.left-- <= 0) return new Set(KINDS);
  let kinds = ownKinds(schema);
  const target = resolveLocal(schema, root);
  if (target !== undefined) kinds = intersection(kinds, accepted(target, root, steps));
  for (const member of branches(schema, "allOf")) kinds = intersection(kinds, accepted(member, root, steps));
  for (const keyword of ["anyOf", "oneOf"] as const) {
    const members = branches(schema, keyword);
    if (members.length === 0) continue;
    const union = new Set<Kind>();
    for (const member of members) for (const kind of accepted(member, root, steps)) union.add(kind);
    kinds = intersection(kinds, union);
  }
  return kinds;
}

function ownKinds(schema: Schema): ReadonlySet<Kind> {
  if (Object.hasOwn(schema, "const")) return new Set([kindOf(schema["const"])]);
  if (Array.isArray(schema["enum"])) return new Set(schema["enum"].map(kindOf));
  const stated = [schema["type"]].flat().filter((type): type is Kind => KINDS.includes(type as Kind));
  if (stated.length === 0) return new Set(KINDS);
  // OpenAPI's word for "or null".
  const nullable: Kind[] = schema["nullable"] === true ? ["null"] : [];
  return new Set([...stated, ...nullable, ...(stated.includes("number") ? (["integer"] as const) : [])]);
}

function intersection(a: ReadonlySet<Kind>, b: ReadonlySet<Kind>): ReadonlySet<Kind> {
  return new Set([...a].filter((kind) => b.has(kind)));
}

/**
 * The schemas that a property of `schema` has to do with: those declared for it anywhere in it, else its
 * `additionalProperties`. Empty for a name nothing is said about.
 */
export function propertySchemas(schema: unknown, name: string, root: unknown): unknown[] {
  const declared: unknown[] = [];
  const additional: unknown[] = [];
  forEachPart(schema, root, (part) => {
    const properties = part["properties"];
    if (isSchema(properties) && Object.hasOwn(properties, name)) declared.push(properties[name]);
    else if (part["additionalProperties"] !== undefined) additional.push(part["additionalProperties"]);
  });
  return declared.length > 0 ? declared : additional;
}

/** Names of all properties declared anywhere in `schema`, in its order. */
export function declaredProperties(schema: unknown, root: unknown): string[] {
  const names = new Set<string>();
  forEachPart(schema, root, (part) => {
    const properties = part["properties"];
    if (isSchema(properties)) for (const name of Object.keys(properties)) names.add(name);
  });
  return [...names];
}

/** Calls `visit` with `schema` and everything that applies, or may apply, to the same value. */
export function forEachPart(schema: unknown, root: unknown, visit: (part: Schema) => void): void {
  const seen = new Set<unknown>();
  const pending: unknown[] = [schema];
  for (let part = pending.shift(); part !== undefined && seen.size < MAX_STEPS; part = pending.shift()) {
    if (!isSchema(part) || seen.has(part)) continue;
    seen.add(part);
    visit(part);
    const next = [resolveLocal(part, root), part["then"], part["else"]];
    pending.push(...next.filter((member) => member !== undefined));
    for (const keyword of ["allOf", "anyOf", "oneOf"] as const) pending.push(...branches(part, keyword));
  }
}

/** What a `$ref` such as `#` or `#/$defs/Item` points to in `root`; undefined for any other reference. */
function resolveLocal(schema: Schema, root: unknown): unknown {
  const ref = schema["$ref"];
  if (typeof ref !== "string" || (ref !== "#" && !ref.startsWith("#/"))) return undefined;
  let target: unknown = root;
  for (const step of ref.split("/").slice(1)) {
    const key = decodePointerStep(step);
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, key)) return undefined;
    target = (target as Schema)[key];
  }
  return target;
}

function decodePointerStep(step: string): string {
  let decoded = step;
  try {
    decoded = decodeURIComponent(step);
  } catch {
    // A stray `%` stands for itself.
  }
  return decoded.replaceAll("~1", "/").replaceAll("~0", "~");
}

function branches(schema: Schema, keyword: "allOf" | "anyOf" | "oneOf"): readonly unknown[] {
  const members = schema[keyword];
  return Array.isArray(members) ? members : [];
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
