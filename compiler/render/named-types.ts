/**
 * Decides which definitions of a schema get a name of their own, and puts the others in place. A
 * recursive definition must be named; another one is where that makes the text shorter. A name ends
 * in a digest of the type's whole text, so that equal types of many tools share one declaration and
 * different ones never share a name; nothing depends on which tool is rendered first.
 */
import { byCodeUnit, sha256 } from "../../schemas/canonical.ts";

/** A definition met while rendering. Its body stands for other definitions by `reference(id)`. */
export interface Definition {
  readonly id: number;
  /** What the schema calls it, as an identifier. */
  readonly base: string;
  /** Object and array levels around the place where it was first met. */
  readonly level: number;
  alternatives: readonly string[] | undefined;
  uses: number;
  recursive: boolean;
}

export interface NamedType {
  readonly name: string;
  /** The whole statement, `type Name = …;`. */
  readonly text: string;
}

const DIGEST_DIGITS = 6;
/** Rendered text has no control characters, so this one can bracket an id. */
const MARK = "\u0001";
const MARKED = /\u0001(\d+)\u0001/g;

export function reference(definition: Definition): string {
  return `${MARK}${definition.id}${MARK}`;
}

export function hasReference(text: string): boolean {
  return text.includes(MARK);
}

/** A definition's name from the last word of its reference: `linked-node` → `Linked_node`. */
export function baseName(word: string): string {
  const letters = word.replace(/[^A-Za-z0-9]+/g, "_").slice(0, 24);
  const name = /^[A-Za-z]/.test(letters) ? letters : `T${letters}`;
  return name[0]!.toUpperCase() + name.slice(1);
}

/** `definitions` in the order they were finished, so that a body's own references come before it. */
export function nameTypes(
  text: string,
  definitions: readonly Definition[],
): { readonly text: string; readonly types: readonly NamedType[] } {
  if (!hasReference(text)) return { text, types: [] };
  const bodies = new Map<number, string>();
  const byId = new Map(definitions.map((definition) => [definition.id, definition]));
  const named = new Set<number>();
  const inline = (body: string) =>
    body.replace(MARKED, (mark, id: string, at: number) => {
      const target = byId.get(Number(id))!;
      if (target.recursive || named.has(target.id)) return mark;
      const before = body[at - 1];
      const after = body[at + mark.length];
      const placed = indented(bodies.get(target.id)!, body, at);
      const isPart = before === "&" || after === "&" || after === "[";
      return isPart && target.alternatives!.length > 1 ? `(${placed})` : placed;
    });
  for (const definition of definitions) {
    const body = inline(definition.alternatives!.join("|"));
    bodies.set(definition.id, body);
    const nameLength = definition.base.length + 1 + DIGEST_DIGITS;
    const saved = (definition.uses - 1) * body.length;
    if (saved > (definition.uses + 1) * nameLength + "type  = ;\n".length) named.add(definition.id);
  }
  const main = inline(text);
  const names = nameAll(main, bodies, byId);
  const withNames = (body: string) => body.replace(MARKED, (_, id: string) => names.get(Number(id))!);
  const types = new Map<string, NamedType>();
  for (const [id, name] of names) types.set(name, { name, text: `type ${name} = ${withNames(bodies.get(id)!)};` });
  return { text: withNames(main), types: [...types.values()].sort((a, b) => byCodeUnit(a.name, b.name)) };
}

/** A multi-line body at the indentation of the line it is put into. */
function indented(body: string, around: string, at: number): string {
  if (!body.includes("\n")) return body;
  const lineStart = around.lastIndexOf("\n", at) + 1;
  let blanks = 0;
  while (around[lineStart + blanks] === " ") blanks++;
  return blanks === 0 ? body : body.replaceAll("\n", `\n${" ".repeat(blanks)}`);
}

/** Names for everything reachable from `main`: base name and digest of all the text the type stands for. */
function nameAll(
  main: string,
  bodies: ReadonlyMap<number, string>,
  byId: ReadonlyMap<number, Definition>,
): Map<number, string> {
  const reachable = reach(main, bodies);
  const names = new Map<number, string>();
  for (const id of reachable) {
    const order = [id, ...reach(bodies.get(id)!, bodies).filter((other) => other !== id)];
    const places = new Map(order.map((other, place) => [other, place]));
    const whole = order.map((other) => {
      const body = bodies.get(other)!.replace(MARKED, (_, target: string) => `${MARK}${places.get(Number(target))}`);
      return `${byId.get(other)!.base}=${body}`;
    });
    names.set(id, `${byId.get(id)!.base}_${sha256(whole.join("\n")).slice(0, DIGEST_DIGITS)}`);
  }
  return names;
}

/** Ids that a text refers to, directly and through other bodies, in order of first mention. */
function reach(text: string, bodies: ReadonlyMap<number, string>): number[] {
  const found = new Set<number>();
  const pending = [text];
  for (let body = pending.shift(); body !== undefined; body = pending.shift()) {
    for (const [, digits] of body.matchAll(MARKED)) {
      const id = Number(digits);
      if (found.has(id)) continue;
      found.add(id);
      pending.push(bodies.get(id)!);
    }
  }
  return [...found];
}
