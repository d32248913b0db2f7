/**
 * Resolves `$ref` inside one schema document: JSON pointers, anchors, and ids that the document itself
 * declares. A reference that leaves the document is reported as external and never followed, so no
 * server can make a compile read a file or open a connection.
 */
import { isResource, isSchemaObject, keyword, type SchemaObject, subschemas } from "./json-schema.ts";

/** A place in the document: the schema there and the resource that its own `#` references start from. */
export interface SchemaPlace {
  readonly schema: unknown;
  readonly resource: unknown;
  /** Last step of the reference, for a name: `Addr` of `#/$defs/Addr`. Empty for a whole resource. */
  readonly label: string;
}

export type Resolution =
  | ({ readonly kind: "found" } & SchemaPlace)
  | { readonly kind: "external" }
  | { readonly kind: "missing" };

export interface RefResolver {
  /** `resource` is the nearest enclosing schema with an `$id`, else the document. */
  resolve(ref: string, resource: unknown): Resolution;
}

export function createRefResolver(root: unknown): RefResolver {
  let index: ReadonlyMap<string, SchemaObject> | undefined;
  const named = (key: string) => {
    index ??= indexNames(root);
    return index.get(key);
  };
  return {
    resolve(ref, resource) {
      const hash = ref.indexOf("#");
      const base = hash < 0 ? ref : ref.slice(0, hash);
      const fragment = hash < 0 ? "" : ref.slice(hash + 1);
      const start = base === "" ? resource : (named(base) ?? named(absolute(base, root)));
      if (start === undefined) return { kind: "external" };
      if (fragment === "") return { kind: "found", schema: start, resource: start, label: "" };
      if (!fragment.startsWith("/")) {
        const target = named(`#${fragment}`);
        return target === undefined
          ? { kind: "missing" }
          : { kind: "found", schema: target, resource: isResource(target) ? target : start, label: fragment };
      }
      return followPointer(start, fragment) ?? followPointer(root, fragment) ?? { kind: "missing" };
    },
  };
}

function followPointer(start: unknown, pointer: string): Resolution | undefined {
  let schema = start;
  let resource = start;
  let label = "";
  for (const step of pointer.slice(1).split("/")) {
    label = percentDecoded(step).replace(/~1/g, "/").replace(/~0/g, "~");
    if (typeof schema !== "object" || schema === null || !Object.hasOwn(schema, label)) return undefined;
    schema = (schema as Record<string, unknown>)[label];
    if (isSchemaObject(schema) && isResource(schema)) resource = schema;
  }
  return { kind: "found", schema, resource, label };
}

/** Ids as written and made absolute, and anchors as `#name`; the first of a name wins. */
function indexNames(root: unknown): ReadonlyMap<string, SchemaObject> {
  const index = new Map<string, SchemaObject>();
  const add = (name: string, schema: SchemaObject) => {
    if (!index.has(name)) index.set(name, schema);
  };
  const seen = new Set<SchemaObject>();
  const pending = isSchemaObject(root) ? [root] : [];
  for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
    if (seen.has(schema)) continue;
    seen.add(schema);
    for (const name of ["$id", "id"]) {
      const id = keyword(schema, name);
      if (typeof id !== "string" || id === "") continue;
      add(id.replace(/#$/, ""), schema);
      if (!id.startsWith("#")) add(absolute(id, root), schema);
    }
    for (const name of ["$anchor", "$dynamicAnchor"]) {
      const anchor = keyword(schema, name);
      if (typeof anchor === "string") add(`#${anchor}`, schema);
    }
    pending.push(...subschemas(schema).reverse());
  }
  return index;
}

function absolute(id: string, root: unknown): string {
  const base = isSchemaObject(root) ? keyword(root, "$id") : undefined;
  const url = URL.canParse(id, typeof base === "string" && URL.canParse(base) ? base : "schema:/")
    ? new URL(id, typeof base === "string" && URL.canParse(base) ? base : "schema:/")
    : undefined;
  return url === undefined ? id : url.href.replace(/#$/, "");
}

/** A pointer may hold a bare `%`. */
function percentDecoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch (error) {
    if (error instanceof URIError) return step;
    throw error;
  }
}
