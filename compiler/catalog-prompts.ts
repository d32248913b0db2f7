/**
 * The prompts of a catalog: each under the folded name that becomes a command. Names follow the rules of tools, among
 * prompts alone: a prompt and a tool of one name are no collision. What can't be used is left out and reported.
 */
import { byCodeUnit } from "../schemas/canonical.ts";
import type { CatalogPrompt } from "../schemas/catalog.schema.ts";
import { type Diagnostic, diagnostic, type Outcome } from "../schemas/diagnostic.ts";
import { foldToolNames, type ToolRef } from "../schemas/names.ts";
import { definePrompt, type PromptDefinition } from "../schemas/prompt-list.ts";
import type { CompiledServer } from "./catalog.ts";
import { nameCollisions } from "./name-collisions.ts";
import type { ServerSnapshot } from "./snapshot.ts";

/** Prompts of each server, in the order of `servers`, sorted by their own names. */
export function catalogPrompts(servers: readonly CompiledServer[]): Outcome<readonly (readonly CatalogPrompt[])[]> {
  const diagnostics: Diagnostic[] = [];
  const definitions = servers.map(({ snapshot }) => promptDefinitions(snapshot, diagnostics));
  const refs = servers.flatMap(({ config }, index) =>
    definitions[index]!.map((definition): ToolRef => ({ server: config.name, tool: definition.prompt })),
  );
  const names = foldToolNames(refs);
  diagnostics.push(...nameCollisions("prompt", refs, names, servers));
  let next = 0;
  const value = definitions.map((prompts) =>
    prompts.map((definition) => ({ name: names[next++]!, ...definition }) as CatalogPrompt),
  );
  return { value, diagnostics };
}

function promptDefinitions({ server, promptList = [] }: ServerSnapshot, diagnostics: Diagnostic[]): PromptDefinition[] {
  const definitions = promptList.map((entry, index) => {
    const { definition, illTyped } = definePrompt(entry);
    for (const { member, expected } of illTyped) {
      const message = `${member} of prompt "${entry.name}" is not ${expected} and was left out`;
      const notes = [`prompts/list of "${server}", /prompts/${index}/${member}`];
      diagnostics.push(diagnostic("invalid-prompt", message, { server, notes }));
    }
    return definition;
  });
  return definitions.sort((a, b) => byCodeUnit(a.prompt, b.prompt));
}
