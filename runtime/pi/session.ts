/**
 * What one session of Pi has of pimcp: a runtime over the compiled artifacts, and its tools registered with Pi. Opening one
 * connects nothing and starts nothing; closing one ends everything it started. Whatever is wrong with the artifacts is
 * a notice, and the rest works.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { ToolTable } from "../../schemas/artifacts/tool-table.ts";
import { type Diagnostic, diagnostic } from "../../schemas/diagnostic.ts";
import type { ConfigurationFiles } from "../connect/configuration-files.ts";
import { createOutputStore, type OutputStore } from "../limits/output-store.ts";
import type { Runtime } from "../runtime.ts";
import { autoEnablesCodemode } from "./auto-enable.ts";
import { activateDiscovery, neededDiscovery } from "./exposure.ts";
import type { Loadout } from "./loadout.ts";
import { sectionServers, serversSection } from "./servers-section.ts";

export interface PiSession {
  readonly pi: ExtensionAPI;
  /** Of the session_start; stale once `signal` is aborted. */
  readonly ctx: ExtensionContext;
  /** Aborted when the session ends. */
  readonly signal: AbortSignal;
  /** Another one after `reload`. */
  readonly runtime: Runtime;
  readonly table: ToolTable;
  readonly files: ConfigurationFiles;
  /** False: nothing of the project is read, compiled or run. */
  readonly isProjectTrusted: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly store: OutputStore;
  /** What loading the artifacts and calling had to say since the last load. */
  readonly notices: readonly Diagnostic[];
  /** The `mcp_servers` section of the system prompt; undefined without servers that need one. */
  readonly serversSection: string | undefined;
  /** Hears when tools or notices changed; the result stops that. */
  onChange(listener: () => void): () => void;
  /** Tells the user, once for each text; on stderr where there is no UI. */
  tell(text: string, kind: "info" | "warning" | "error"): void;
  /** The artifacts were compiled anew: registers what is new or changed, hides what is gone. Calls under way go on. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly pi: ExtensionAPI;
  readonly ctx: ExtensionContext;
  readonly loadout: Loadout;
  /** What the artifacts had to say while nobody could be told. */
  readonly notices: readonly Diagnostic[];
  /** Opens the artifacts of now; their notices come to `notice`. */
  readonly reopen: () => Promise<Loadout>;
  /** Makes the tools of `table` those that Pi has; gives back names that another extension owns. */
  readonly register: (table: ToolTable) => readonly string[];
}

export class ArtifactSession implements PiSession {
  readonly pi: ExtensionAPI;
  readonly ctx: ExtensionContext;
  readonly store = createOutputStore();
  readonly #options: SessionOptions;
  readonly #ended = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #told = new Set<string>();
  readonly #replaced: Runtime[] = [];
  #notices: Diagnostic[] = [];
  #loadout: Loadout;
  #section: string | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.pi = options.pi;
    this.ctx = options.ctx;
    this.#loadout = options.loadout;
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  get runtime(): Runtime {
    return this.#loadout.runtime;
  }

  get table(): ToolTable {
    return this.runtime.table;
  }

  get files(): ConfigurationFiles {
    return this.#loadout.files;
  }

  get isProjectTrusted(): boolean {
    return this.#loadout.project;
  }

  get env(): NodeJS.ProcessEnv {
    return this.#loadout.env;
  }

  get notices(): readonly Diagnostic[] {
    return this.#notices;
  }

  get serversSection(): string | undefined {
    return this.#section;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tell(text: string, kind: "info" | "warning" | "error"): void {
    if (this.signal.aborted || this.#told.has(text)) return;
    this.#told.add(text);
    if (this.ctx.hasUI) this.ctx.ui.notify(text, kind);
    else process.stderr.write(`pimcp: ${text}\n`);
  }

  /** Says what there is to say, registers the tools and makes Pi's tools active that reach them. */
  async begin(): Promise<void> {
    for (const notice of this.#options.notices) this.notice(notice);
    await this.#present();
  }

  /** Takes what the runtime has to say: worth telling is what the user can do something about. */
  notice(notice: Diagnostic): void {
    this.#notices.push(notice);
    this.#changed();
    // A server that is configured and not compiled is compiled in the background, which says so.
    if (notice.severity === "info" || notice.code === "artifacts-missing") return;
    this.tell([notice.message, ...notice.notes].join("\n  "), notice.severity);
  }

  async reload(): Promise<void> {
    this.#notices = [];
    const opened = await this.#options.reopen();
    if (this.signal.aborted) return opened.runtime.close();
    // Calls under way are answered by the runtime they began with: it is closed with the session.
    this.#replaced.push(this.runtime);
    this.#loadout = opened;
    await this.#present();
  }

  async close(): Promise<void> {
    this.#ended.abort();
    await Promise.all([...this.#replaced, this.runtime].map((runtime) => runtime.close()));
  }

  async #present(): Promise<void> {
    const { table } = this;
    for (const name of this.#options.register(table)) this.notice(ownedByAnother(name));
    this.#section = serversSection(sectionServers(table));
    const needed = neededDiscovery(table.tools().map((tool) => tool.exposure));
    const auto = !needed.codemode || (await autoEnablesCodemode(this.files));
    const warning = activateDiscovery(this.pi, needed, auto);
    if (warning !== undefined) this.tell(warning, "warning");
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

function ownedByAnother(name: string): Diagnostic {
  return diagnostic(
    "tool-name-collision",
    `${name} belongs to another extension; the MCP tool of that name is left out`,
  );
}
