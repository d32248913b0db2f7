/** A server's `prompts/list`. Small caps: each prompt becomes a command that a person picks from a list. */
import type { Connection } from "./connection.ts";
import { type Listing, listNamed } from "./list-named.ts";
import type { ListedServer, ListKind, ListOptions } from "./list-pages.ts";

const PROMPTS: ListKind = {
  method: "prompts/list",
  member: "prompts",
  noun: "prompt",
  caps: { pages: 100, entries: 1000, bytes: 4 * 1024 * 1024, levels: 50 },
};

export function listPrompts(connection: Connection, server: ListedServer, options: ListOptions): Promise<Listing> {
  return listNamed(connection, PROMPTS, server, options);
}
