/**
 * What a `$ref` names inside one schema document: JSON Pointers, `$anchor`, `$dynamicRef`, `$id` of
 * embedded resources, in any mixture of drafts. Looks inside the document only and never fetches:
 * a reference that leads out of it is reported as external, one that leads nowhere as missing.
 */
import { byCodeUnit } from "../../schemas/canonical.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export type Resolution =
  | { readonly kind: "found"; readonly schema: unknown; readonly resource: JsonObject; readonly name: string }
  | { readonly kind: "external" }
  | { readonly kind: "missing" };

/** Base for documents that don't say what they are called; `.invalid` never resolves. */
const BASE = "http://schema.invalid/";
/** Nodes looked at for anchors and ids; a document beyond it has its later ones reported as external. */
const MAX_INDEXED_NODES = 100_000;
/** Keywords whose values are data, in which `$id` and `$anchor` mean nothing. */
const DATA_KEYWORDS = new Set(["const", "enum", "default", "examples", "example"]);

/** A schema with a name, and the resource it stands in. */
interface Place {
  readonly schema: JsonObject;
  readonly resource: JsonObject;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `schema` starts an embedded resource, against whose root `#/…` is resolved. */
export function isResource(schema: JsonObject): boolean {
  return typeof schema["$id"] === "string" && !schema["$id"].startsWith("#");
}

export class References {
  readonly root: JsonObject;
  #index: Map<string, Place> | undefined;
  #bases: Map<JsonObject, string> | undefined;

  constructor(root: JsonObject) {
    this.root = root;
  }

  /** `resource` is the resource (the root, or a subschema with `$id`) the reference stands in. */
  resolve(ref: string, resource: JsonObject): Resolution {
    if (ref === "#" || ref.startsWith("#/")) {
      const found = pointTo(ref, resource);
      // Generators embed a schema with its `$id` and keep pointing from the document's root.
      return found.kind === "missing" && resource !== this.root ? pointTo(ref, this.root) : found;
    }
    if (this.#index === undefined) this.#buildIndex();
    const uri = absolute(ref, this.#bases?.get(resource) ?? BASE);
    if (uri === undefined) return { kind: "missing" };
    const [document = "", fragment = ""] = uri.split("#", 2);
    const whole = this.#index?.get(uri) ?? (fragment === "" ? this.#index?.get(document) : undefined);
    if (whole !== undefined) {
      return { kind: "found", schema: whole.schema, resource: whole.resource, name: lastWord(ref) };
    }
    const start = this.#index?.get(document);
    if (start !== undefined && fragment.startsWith("/")) return pointTo(`#${fragment}`, start.schema);
    return { kind: ref.startsWith("#") ? "missing" : "external" };
  }

  /** Walks the document once, in key order, so that the first of two equal names is always the same. */
  #buildIndex(): void {
    const index = new Map<string, Place>();
    const bases = new Map<JsonObject, string>();
    const add = (uri: string | undefined, place: Place) => {
      if (uri !== undefined && !index.has(uri)) index.set(uri, place);
    };
    const pending: { value: unknown; resource: JsonObject; base: string }[] = [
      { value: this.root, resource: this.root, base: BASE },
    ];
    const seen = new Set<unknown>();
    for (let node = pending.pop(); node !== undefined && seen.size < MAX_INDEXED_NODES; node = pending.pop()) {
      if (typeof node.value !== "object" || node.value === null || seen.has(node.value)) continue;
      seen.add(node.value);
      let { resource, base } = node;
      if (isObject(node.value)) {
        const id = node.value["$id"] ?? node.value["id"];
        if (typeof id === "string") {
          const uri = absolute(id, base);
          if (isResource(node.value) && uri !== undefined) {
            resource = node.value;
            base = uri.split("#", 1)[0]!;
            add(base, { schema: node.value, resource });
          }
          add(uri, { schema: node.value, resource });
        }
        if (node.value === this.root) add(base, { schema: this.root, resource });
        if (resource === node.value) bases.set(resource, base);
        for (const keyword of ["$anchor", "$dynamicAnchor"]) {
          const anchor = node.value[keyword];
          if (typeof anchor === "string") add(`${base}#${anchor}`, { schema: node.value, resource });
        }
      }
      const parent = node.value as JsonObject;
      for (const key of Object.keys(parent).sort(byCodeUnit).reverse()) {
        if (!DATA_KEYWORDS.has(key) || !isObject(node.value)) pending.push({ value: parent[key], resource, base });
      }
    }
    this.#index = index;
    this.#bases = bases;
  }
}

function pointTo(ref: string, start: JsonObject): Resolution {
  let current: unknown = start;
  let resource = start;
  let name = "Root";
  if (ref !== "#") {
    for (const segment of ref.slice(2).split("/")) {
      const key = decode(segment);
      if (key === undefined || typeof current !== "object" || current === null || !Object.hasOwn(current, key)) {
        return { kind: "missing" };
      }
      current = (current as JsonObject)[key];
      name = key;
      if (isObject(current) && isResource(current)) resource = current;
    }
  }
  return { kind: "found", schema: current, resource, name };
}

/** A pointer segment: percent-decoded, then `~1` and `~0` undone; a malformed escape names nothing. */
function decode(segment: string): string | undefined {
  let text = segment;
  if (text.includes("%")) {
    try {
      text = decodeURIComponent(text);
    } catch {
      return undefined;
    }
  }
  return text.includes("~") ? text.replaceAll("~1", "/").replaceAll("~0", "~") : text;
}

function absolute(ref: string, base: string): string | undefined {
  return URL.canParse(ref, base) ? new URL(ref, base).href : undefined;
}

function lastWord(ref: string): string {
  return ref.split(/[/#]/).filter(Boolean).at(-1) ?? "Root";
}
