/**
 * The entries of a server's list that can be used: those with a name, one for each name, without the credentials that
 * the server was given and repeats. What is left out is reported.
 */
import { canonicalJson } from "../../schemas/canonical.ts";
import type { Connection } from "./connection.ts";
import { type ListKind, type Report, TOO_DEEP } from "./list-pages.ts";
import { printableLine } from "./redact.ts";

/** An entry as the server sent it, unknown keys included. Only `name` is certain to be a string. */
export interface NamedEntry {
  readonly name: string;
  readonly [key: string]: unknown;
}

export interface Entry {
  readonly item: NamedEntry;
  /** Its place in the list. */
  readonly index: number;
}

/** Findings name a tool; for other entries the message does. */
const toolOf = ({ noun }: ListKind, name: string) => (noun === "tool" ? { tool: name } : {});

export function namedEntries(entries: readonly unknown[], kind: ListKind, report: Report): Entry[] {
  const { noun, member, caps } = kind;
  return entries.flatMap((entry, index) => {
    const name = typeof entry === "object" && entry !== null ? (entry as { name?: unknown }).name : undefined;
    if (typeof name === "string" && name !== "") return [{ item: entry as NamedEntry, index }];
    const why = entry === TOO_DEEP ? `is nested more than ${caps.levels} levels deep` : "has no name";
    report(`invalid-${noun}`, `entry ${index} of its ${noun} list ${why} and is left out`, {
      pointer: `/${member}/${index}`,
    });
    return [];
  });
}

/**
 * The entries without the credentials that the server was given: what is listed ends up in files. One that is named after
 * a credential can't be asked for by another name, so it is left out.
 */
export function discreetEntries(
  entries: readonly Entry[],
  connection: Pick<Connection, "redact">,
  { noun, member }: ListKind,
  report: Report,
): Entry[] {
  const echoing = new Set<string>();
  let unnamable = 0;
  const kept = entries.flatMap(({ item, index }): Entry[] => {
    const { value, found } = connection.redact(item);
    if (found && value.name !== item.name) {
      unnamable++;
      return [];
    }
    if (found) echoing.add(printableLine(item.name, 80));
    return [{ item: value, index }];
  });
  if (unnamable > 0) {
    const [are, their] =
      unnamable === 1 ? [`1 ${noun} is`, "its name holds"] : [`${unnamable} ${member} are`, "their names hold"];
    report("secret-echoed", `${are} left out: ${their} a secret that the server was given`);
  }
  if (echoing.size > 0) {
    const names = [...echoing];
    const what = `${names.length === 1 ? noun : member} ${listed(names)}`;
    report("secret-echoed", `repeats a secret that it was given in ${what}; it is left out`);
  }
  return kept;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 10).map((name) => `"${name}"`);
  return `${shown.join(", ")}${names.length > shown.length ? ` and ${names.length - shown.length} more` : ""}`;
}

/** One entry a name. Of several, the one whose canonical JSON sorts first: no order of the server's decides. */
export function distinctEntries(entries: readonly Entry[], kind: ListKind, report: Report): NamedEntry[] {
  const { noun, member } = kind;
  const chosen = new Map<string, Entry>();
  for (const entry of entries) {
    const { name } = entry.item;
    const other = chosen.get(name);
    if (other === undefined) {
      chosen.set(name, entry);
      continue;
    }
    report(`duplicate-${noun}`, `lists the ${noun} "${printableLine(name, 80)}" more than once; one is kept`, {
      ...toolOf(kind, name),
      pointer: `/${member}/${entry.index}`,
    });
    if (canonicalJson(entry.item) < canonicalJson(other.item)) chosen.set(name, entry);
  }
  return [...chosen.values()].map(({ item }) => item);
}
