/**
 * The tools that this extension has registered with Pi. Nothing is registered before a session starts: only then is it
 * known which names others own (two extensions that register one name earlier keep Pi from starting), and whether the
 * project may be used. Pi can't unregister a tool, so one that is gone is registered anew as hidden. A name that another
 * extension owns is left to it. Registers only what changed.
 */
import type { ExtensionAPI, ToolDefinition } from "@earendil-works/pi-coding-agent";
import { type Diagnostic, diagnostic } from "../../../schemas/diagnostic.ts";
import { registerTogether } from "./register-together.ts";

export interface Registrable {
  readonly tool: ToolDefinition;
  /** The definition as text: equal text, equal tool. Asked for only when a tool is registered again. */
  readonly digest: () => string;
}

type Pi = Pick<ExtensionAPI, "registerTool" | "getAllTools" | "getActiveTools" | "setActiveTools">;

export class ToolRegistry {
  readonly #pi: Pi;
  readonly #registered = new Map<string, Registrable & { readonly isHidden: boolean }>();

  constructor(pi: Pi) {
    this.#pi = pi;
  }

  /** Makes `wanted` the tools there are. Gives back the names that another extension owns. */
  replaceAll(wanted: readonly Registrable[]): readonly string[] {
    const foreign = this.#foreign();
    // Another extension took the name since: hiding ours would take the other's tool from the model.
    for (const name of foreign) this.#registered.delete(name);
    const left = wanted.filter(({ tool }) => foreign.has(tool.name));
    const own = wanted.filter(({ tool }) => !foreign.has(tool.name));
    const names = new Set(own.map(({ tool }) => tool.name));
    const gone = [...this.#registered].flatMap(([name, known]) => (names.has(name) ? [] : [known]));
    const changes = [
      ...own.flatMap((registrable) => this.#change(registrable, false)),
      ...gone.flatMap((known) => this.#change(known, true)),
    ];
    registerTogether(this.#pi, changes);
    this.#deactivateHidden();
    return left.map(({ tool }) => tool.name);
  }

  /** What Pi has to be told of one tool; nothing where it knows. */
  #change({ tool, digest }: Registrable, isHidden: boolean): readonly ToolDefinition[] {
    const known = this.#registered.get(tool.name);
    if (known?.isHidden === isHidden && (known.digest === digest || known.digest() === digest())) return [];
    this.#registered.set(tool.name, { tool, digest, isHidden });
    return [isHidden ? { ...tool, exposure: "hidden" } : tool];
  }

  #foreign(): ReadonlySet<string> {
    // Pi hands out the schema it was given, so one that isn't ours was registered by somebody else, and is the one it uses.
    const isOwn = (name: string, schema: unknown) => this.#registered.get(name)?.tool.parameters === schema;
    return new Set(this.#pi.getAllTools().flatMap(({ name, parameters }) => (isOwn(name, parameters) ? [] : [name])));
  }

  /** A tool that was direct and is gone would stay declared; one that tool_search loaded is left alone. */
  #deactivateHidden(): void {
    const hidden = (name: string) => this.#registered.get(name)?.isHidden === true;
    const active = this.#pi.getActiveTools();
    if (active.some(hidden)) this.#pi.setActiveTools(active.filter((name) => !hidden(name)));
  }
}

export function ownedByAnother(name: string): Diagnostic {
  return diagnostic(
    "tool-name-collision",
    `${name} belongs to another extension; the MCP tool of that name is left out`,
  );
}
