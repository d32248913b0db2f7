/**
 * What a host tells a model of its script tool: the fixed text of templates/codemode.md around the compiled declarations. Same
 * artifacts, same bytes, so that a prompt stays cached. Servers' text is in it only as codemode.d.ts has it.
 */
import { readFileSync } from "node:fs";
import type { Loaded } from "../../schemas/artifacts/read.ts";
import type { ToolTable } from "../../schemas/artifacts/tool-table.ts";

export interface DescriptionOptions {
  /** Lines on the host's further globals, each a Markdown item without its `- `. */
  readonly globals?: readonly string[];
}

let template: string | undefined;

/**
 * The description, with the declarations of the scopes that have artifacts, the project's first. A scope whose declarations show a tool
 * that the project hid or replaced is left to searchTools(). Errors: the artifacts' (`artifacts-torn`).
 */
export function codemodeDescription(table: ToolTable, options: DescriptionOptions = {}): Loaded<string> {
  const declarations: string[] = [];
  for (const scope of ["project", "user"] as const) {
    const folder = table.folder(scope);
    const budget = folder?.json("budget.json");
    if (folder === undefined || budget === undefined) continue;
    if (!budget.ok) return budget;
    const declared = Object.entries(budget.value.tools).filter(([, tool]) => tool.declared);
    const isCurrent = declared.every(([name]) => {
      const entry = table.byName(name);
      return entry?.scope === scope && entry.exposure === "codemode";
    });
    if (declared.length === 0 || !isCurrent) continue;
    const text = folder.text("codemode.d.ts");
    if (!text.ok) return text;
    declarations.push(text.value.trimEnd());
  }
  return { ok: true, value: renderDescription(declarations.join("\n\n"), options) };
}

/** The description around declarations that are at hand; without any, it has no block for them. */
export function renderDescription(declarations: string, { globals = [] }: DescriptionOptions = {}): string {
  template ??= readFileSync(new URL("../../templates/codemode.md", import.meta.url), "utf8");
  const lines = globals.map((line) => `\n- ${line}`).join("");
  const text = declarations === "" ? template.replace(/\n```ts\n.*\n```\n/s, "") : template;
  // By functions: a `$&` in a server's text must stay one.
  return text.replace("{{globals}}", () => lines).replace("{{declarations}}", () => declarations);
}
