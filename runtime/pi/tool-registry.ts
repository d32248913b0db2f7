/**
 * The tools that this extension has registered with Pi. Pi can't unregister a tool, so one that is gone is registered
 * anew as hidden. A name that another extension owns is left to it. Registers only what changed: Pi goes through all
 * its tools each time.
 */
import type { ExtensionAPI, ToolDefinition } from "@earendil-works/pi-coding-agent";

export interface Registrable {
  readonly tool: ToolDefinition;
  /** The definition as text: equal text, equal tool. Asked for only when a tool is registered again. */
  readonly digest: () => string;
}

export class ToolRegistry {
  readonly #pi: Pick<ExtensionAPI, "registerTool" | "getAllTools" | "getActiveTools" | "setActiveTools">;
  readonly #registered = new Map<string, Registrable & { readonly isHidden: boolean }>();

  constructor(pi: Pick<ExtensionAPI, "registerTool" | "getAllTools" | "getActiveTools" | "setActiveTools">) {
    this.#pi = pi;
  }

  /** Registers before Pi can be asked what else there is. */
  registerEarly(wanted: readonly Registrable[]): void {
    for (const registrable of wanted) this.#register(registrable, false);
  }

  /** Makes `wanted` the tools there are. Gives back the names that another extension owns. */
  replaceAll(wanted: readonly Registrable[]): readonly string[] {
    const foreign = this.#foreign();
    // What was registered early under such a name is Pi's no more: hiding it would take the other's tool from the model.
    for (const name of foreign) this.#registered.delete(name);
    const left = wanted.filter(({ tool }) => foreign.has(tool.name));
    const own = wanted.filter(({ tool }) => !foreign.has(tool.name));
    for (const registrable of own) this.#register(registrable, false);
    const names = new Set(own.map(({ tool }) => tool.name));
    for (const [name, known] of this.#registered) if (!names.has(name)) this.#register(known, true);
    this.#deactivateIndirect();
    return left.map(({ tool }) => tool.name);
  }

  #register({ tool, digest }: Registrable, isHidden: boolean): void {
    const known = this.#registered.get(tool.name);
    if (known?.isHidden === isHidden && (known.digest === digest || known.digest() === digest())) return;
    this.#registered.set(tool.name, { tool, digest, isHidden });
    this.#pi.registerTool(isHidden ? { ...tool, exposure: "hidden" } : tool);
  }

  #foreign(): ReadonlySet<string> {
    // Pi hands out the schema it was given, so one that isn't ours was registered by somebody else, and is the one it uses.
    const isOwn = (name: string, schema: unknown) => this.#registered.get(name)?.tool.parameters === schema;
    return new Set(this.#pi.getAllTools().flatMap(({ name, parameters }) => (isOwn(name, parameters) ? [] : [name])));
  }

  /** A tool that was direct and no longer is would stay declared; one that tool_search loaded is left alone. */
  #deactivateIndirect(): void {
    const gone = (name: string) => this.#registered.get(name)?.isHidden === true;
    const active = this.#pi.getActiveTools();
    if (active.some(gone)) this.#pi.setActiveTools(active.filter((name) => !gone(name)));
  }
}
