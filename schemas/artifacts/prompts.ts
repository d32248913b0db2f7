/**
 * The prompts that loaded artifacts offer. Those of a server whose own `exposure` hides it are not among them, as its
 * resources are not. Read from the catalog when they are asked for.
 */
import type { CatalogPrompt } from "../catalog.schema.ts";
import type { ToolTable } from "./tool-table.ts";

export interface PromptEntry extends CatalogPrompt {
  readonly server: string;
  /** Whether the server completes values of arguments. */
  readonly completes: boolean;
}

/** Sorted by server and own name; of two with one folded name the project's. A server whose catalog can't be read is left out. */
export function promptsOf(table: ToolTable): readonly PromptEntry[] {
  const found = new Map<string, PromptEntry>();
  // The project's first: as with tools, what the user has under the same name gives way.
  const ordered = [...table.servers()].sort((a, b) => Number(a.scope === "user") - Number(b.scope === "user"));
  for (const { name: server, exposure } of ordered) {
    if (exposure === "hidden") continue;
    const definition = table.serverDefinition(server);
    const described = definition.ok ? definition.value : undefined;
    const completes = Object.hasOwn(described?.capabilities ?? {}, "completions");
    for (const prompt of described?.promptList ?? []) {
      if (!found.has(prompt.name)) found.set(prompt.name, { ...prompt, server, completes });
    }
  }
  const servers = new Map(table.servers().map(({ name }, index) => [name, index]));
  return [...found.values()].sort((a, b) => servers.get(a.server)! - servers.get(b.server)!);
}
