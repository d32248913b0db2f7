/**
 * What one session of Pi has of pimcp: a runtime over the compiled artifacts, and its tools registered with Pi. Opening one
 * connects nothing and starts nothing; closing one ends everything it started. Whatever is wrong with the artifacts is
 * a notice, and the rest works.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { ToolTable } from "../../schemas/artifacts/tool-table.ts";
import type { Diagnostic, DiagnosticCode } from "../../schemas/diagnostic.ts";
import { placed } from "../../schemas/placed.ts";
import type { ConfigurationFiles } from "../connect/configuration-files.ts";
import { createOutputStore, type OutputStore } from "../limits/output-store.ts";
import type { Runtime } from "../runtime.ts";
import { DialogQueue } from "./dialogs/dialog-queue.ts";
import { activateDiscovery, neededDiscovery } from "./discovery/exposure.ts";
import { sectionServers, serversSection } from "./discovery/servers-section.ts";
import { inBackground } from "./in-background.ts";
import type { Loadout } from "./loadout.ts";
import { autoEnablesCodemode } from "./rare-settings.ts";
import type { RegistrationOverride, Registrations } from "./registered/registered-servers.ts";
import { terminalText } from "./terminal-text.ts";
import { type ToolSelection, unreadableFiles } from "./tools/session-tools.ts";
import { Turns } from "./turns.ts";

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
  /** One dialog at a time, whoever asks. */
  readonly dialogs: DialogQueue;
  /** Servers that other extensions have registered, as of the last load. */
  readonly registrations: Registrations;
  /** What the user changed about them, by server, for this session. */
  readonly registrationOverrides: Map<string, RegistrationOverride>;
  /** What loading the artifacts and calling had to say since the last load. */
  readonly notices: readonly Diagnostic[];
  /** The `mcp_servers` section of the system prompt; undefined without servers that need one. */
  readonly serversSection: string | undefined;
  /** Hears when tools, notices or the state of a server changed; the result stops that. */
  onChange(listener: () => void): () => void;
  /** Tells the user, once for each text; on stderr where there is no UI. */
  tell(text: string, kind: "info" | "warning" | "error"): void;
  /** The artifacts were compiled anew: registers what is new or changed, hides what is gone. Calls under way go on. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

/** Makes the tools of `table` those that Pi has; gives back why some of them are missing. */
export type Register = (table: ToolTable, selection: ToolSelection) => readonly Diagnostic[];

export interface SessionOptions {
  readonly pi: ExtensionAPI;
  readonly ctx: ExtensionContext;
  readonly loadout: Loadout;
  readonly registrationOverrides: Map<string, RegistrationOverride>;
  /** What the artifacts had to say while nobody could be told. */
  readonly notices: readonly Diagnostic[];
  /** Opens the artifacts of now; their notices come to `notice`. */
  readonly reopen: () => Promise<Loadout>;
  readonly register: Register;
}

/** Of a registered server. */
const COMPILED_ANEW: ReadonlySet<string> = new Set<DiagnosticCode>([
  "tools-drifted",
  "artifacts-torn",
  "artifacts-format",
]);

/** Servers cause them: the latest are kept. */
const MAX_NOTICES = 200;

export class ArtifactSession implements PiSession {
  readonly pi: ExtensionAPI;
  readonly ctx: ExtensionContext;
  readonly store = createOutputStore();
  readonly dialogs: DialogQueue;
  readonly #options: SessionOptions;
  readonly #ended = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #told = new Set<string>();
  readonly #replaced: Runtime[] = [];
  readonly #reloads = new Turns();
  #notices: Diagnostic[] = [];
  #loadout: Loadout;
  #section: string | undefined;
  #isComplete = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.pi = options.pi;
    this.ctx = options.ctx;
    this.#loadout = options.loadout;
    this.runtime.onStatus(() => this.#changed());
    this.dialogs = new DialogQueue(options.ctx, this.signal);
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

  get registrationOverrides(): Map<string, RegistrationOverride> {
    return this.#options.registrationOverrides;
  }

  get registrations(): Registrations {
    return this.#loadout.registrations;
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
    const shown = terminalText(text);
    if (this.ctx.hasUI) this.ctx.ui.notify(shown, kind);
    else process.stderr.write(`pimcp: ${shown}\n`);
  }

  /**
   * Says what there is to say, registers the tools and makes Pi's tools active that reach them. A conversation that only begins has
   * the tools that are found by search with `complete`: no request before that can be about one.
   */
  async begin(): Promise<void> {
    for (const notice of this.#options.notices) this.notice(notice);
    await this.#present(hasMessages(this.ctx) ? "all" : "told");
  }

  /** Registers what `begin` left, and tells what goes wrong: a timer calls this, and Pi would end with what it throws. */
  complete(): void {
    if (this.#isComplete || this.signal.aborted) return;
    inBackground(this, "MCP tools that are found by search can't be registered", async () => {
      this.#register("all");
      this.#changed();
    });
  }

  /** Takes what the runtime has to say: worth telling is what the user can do something about. */
  notice(notice: Diagnostic): void {
    this.#notices = [...this.#notices.slice(1 - MAX_NOTICES), notice];
    this.#changed();
    // A server that is configured and not compiled is compiled in the background, which says so.
    if (notice.severity === "info" || notice.code === "artifacts-missing") return;
    // Compiled anew by the session itself, which says so.
    const isOwn = this.registrations.servers.some(({ config }) => config.name === notice.server);
    if (isOwn && COMPILED_ANEW.has(notice.code)) return;
    this.tell([placed(notice), ...notice.notes].join("\n  "), notice.severity);
  }

  reload(): Promise<void> {
    // One after another: what was read last is what stays.
    return this.#reloads.take(() => this.#reload());
  }

  async #reload(): Promise<void> {
    if (this.signal.aborted) return;
    this.#notices = [];
    let opened: Loadout;
    try {
      opened = await this.#options.reopen();
    } catch (error) {
      if (this.signal.aborted) return; // Pi answers no more questions of a session that has ended
      throw error;
    }
    if (this.signal.aborted) return opened.runtime.close();
    // Calls under way are answered by the runtime they began with, which is closed with the session; its connections go on.
    this.#replaced.push(this.runtime);
    await this.runtime.retire(opened.runtime);
    if (this.signal.aborted) return opened.runtime.close();
    this.#loadout = opened;
    this.runtime.onStatus(() => this.#changed());
    await this.#present("all");
  }

  async close(): Promise<void> {
    this.#ended.abort();
    await Promise.all([...this.#replaced, this.runtime].map((runtime) => runtime.close()));
  }

  async #present(selection: ToolSelection): Promise<void> {
    const { table } = this;
    for (const found of unreadableFiles(table)) this.notice(found);
    const needed = neededDiscovery(table.tools().map((tool) => tool.exposure));
    const auto = !needed.codemode || (await autoEnablesCodemode(this.files));
    if (this.signal.aborted) return;
    // First: Pi goes through its tools when one becomes active, and once more when ours are there.
    const warning = activateDiscovery(this.pi, needed, auto);
    if (warning !== undefined) this.tell(warning, "warning");
    this.#register(selection);
    this.#section = serversSection(sectionServers(table));
    this.#changed();
  }

  #register(selection: ToolSelection): void {
    const told = new Set(this.#notices.map(({ message }) => message));
    this.#isComplete = selection === "all";
    for (const found of this.#options.register(this.table, selection)) {
      if (told.has(found.message)) continue;
      told.add(found.message);
      this.notice(found);
    }
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** What was found by search in a conversation that goes on has to be there before its next request. */
function hasMessages({ sessionManager }: ExtensionContext): boolean {
  return sessionManager.getBranch().some(({ type }) => type === "message");
}
