/**
 * The schemas of one document that may be met more than once, or inside themselves. Each is rendered
 * once (once a level where types are written in place), so that crossing references cost what the
 * document's size is, not the number of ways through it.
 */
import { baseName, type Definition, hasReference, reference } from "./named-types.ts";
import { join, unique } from "./type-text.ts";

/** A definition this short is written in place at once. */
const SHORT = 24;

type Types = readonly string[];

export class Definitions {
  readonly #known = new Map<object, Definition>();
  /** Definitions in the order they were finished: a body's own references come before it. */
  readonly finished: Definition[] = [];
  /** What a schema came to at each level; `undefined` while it is being made. */
  #placed: Map<object, (Types | undefined)[]> | undefined;

  /** The document itself, to which `#` refers. */
  root(schema: object, named: boolean, body: () => Types): string {
    if (!named) return join(this.placed(schema, 0, body) ?? []);
    const root = this.#define(schema, "Root", 0, body);
    return root.recursive ? reference(root) : join(root.alternatives!);
  }

  /** The schema's types, or a reference to be named later; `undefined` when it is met inside itself at one level. */
  named(schema: object, name: string, level: number, body: () => Types): Types | undefined {
    const known = this.#known.get(schema);
    if (known !== undefined) known.uses++;
    const definition = known ?? this.#define(schema, name, level, body);
    if (definition.alternatives !== undefined) {
      return isShort(definition.alternatives) ? definition.alternatives : [reference(definition)];
    }
    if (definition.level === level) return undefined;
    definition.recursive = true;
    return [reference(definition)];
  }

  /** The schema's types to be written in place, or `undefined` when it is met inside itself at one level. */
  placed(schema: object, level: number, body: () => Types): Types | undefined {
    this.#placed ??= new Map();
    const levels = this.#placed.get(schema) ?? [];
    this.#placed.set(schema, levels);
    if (Object.hasOwn(levels, level)) return levels[level];
    levels[level] = undefined;
    const types = unique(body());
    levels[level] = types;
    return types;
  }

  #define(schema: object, name: string, level: number, body: () => Types): Definition {
    const definition: Definition = {
      id: this.#known.size,
      base: baseName(name),
      level,
      alternatives: undefined,
      uses: 1,
      recursive: false,
    };
    this.#known.set(schema, definition);
    definition.alternatives = unique(body());
    this.finished.push(definition);
    return definition;
  }
}

function isShort(alternatives: readonly string[]): boolean {
  let length = 0;
  for (const type of alternatives) {
    length += type.length + 1;
    if (length > SHORT || type.includes("\n") || hasReference(type)) return false;
  }
  return true;
}
