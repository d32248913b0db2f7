/**
 * The event channel `tool-meta`: another extension emits `{ reply }` and is answered, before `emit` returns, with the
 * `_meta` that servers declared for their tools. Each answer is a copy of its own. Hidden tools are in none.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { ToolTable } from "../../../schemas/artifacts/tool-table.ts";

const TOOL_META_CHANNEL = "tool-meta";

/** Answers questions from now on, from the table of the moment; the result stops that. */
export function answerToolMeta(pi: Pick<ExtensionAPI, "events">, table: () => ToolTable | undefined): () => void {
  return pi.events.on(TOOL_META_CHANNEL, (question) => {
    const reply = (question as { reply?: unknown } | undefined)?.reply;
    if (typeof reply === "function") reply(toolMeta(table()));
  });
}

/** `_meta` by folded name; tools without one are left out. */
export function toolMeta(table: ToolTable | undefined): Record<string, unknown> {
  const found = (table?.tools() ?? []).flatMap((entry): [string, unknown][] => {
    const definition = table!.definition(entry.name);
    const meta = definition.ok ? definition.value?._meta : undefined;
    return meta === undefined ? [] : [[entry.name, structuredClone(meta)]];
  });
  return Object.fromEntries(found);
}
