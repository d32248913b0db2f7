/**
 * The values of `store()` and `load()`, kept in the session as Pi's own codemode keeps them: each script that stored something and
 * succeeded adds an entry to its branch. So a resumed session has them, and after a fork or a step back in the tree a script finds
 * what was written on its own path. Either engine reads what the other wrote.
 */
import type { ExtensionAPI, SessionEntry } from "@earendil-works/pi-coding-agent";
import { isRecord } from "../../../schemas/record.ts";

/** Of the entries, in Pi's session files. */
const ENTRY_TYPE = "codemode-store";

export interface StoreWrites {
  readonly set: Readonly<Record<string, unknown>>;
  readonly delete: readonly string[];
}

/** What a script at the end of `branch` finds. Entries of another shape are passed over. */
export function storedValues(branch: readonly SessionEntry[]): Readonly<Record<string, unknown>> {
  const values = new Map<string, unknown>();
  for (const entry of branch) {
    if (entry.type !== "custom" || entry.customType !== ENTRY_TYPE || !isWrites(entry.data)) continue;
    for (const key of entry.data.delete) values.delete(key);
    for (const [key, value] of Object.entries(entry.data.set)) values.set(key, value);
  }
  return Object.fromEntries(values);
}

/** Keeps what a script wrote; one that wrote nothing leaves no entry. */
export function keepValues(pi: Pick<ExtensionAPI, "appendEntry">, writes: StoreWrites): void {
  if (Object.keys(writes.set).length === 0 && writes.delete.length === 0) return;
  pi.appendEntry<StoreWrites>(ENTRY_TYPE, { set: writes.set, delete: writes.delete });
}

function isWrites(data: unknown): data is StoreWrites {
  if (!isRecord(data) || !isRecord(data["set"])) return false;
  const { delete: deleted } = data;
  return Array.isArray(deleted) && deleted.every((key) => typeof key === "string");
}
