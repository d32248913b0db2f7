/**
 * What a person can do to a server in a session, each as one call with a result in words: sign in and out, connect anew, turn
 * on and off, change the exposure. A change is saved to the file that defines the server, then that server alone is compiled
 * anew and the session takes over what came of it. Actions take turns. Nothing here draws or asks.
 */
import type { Scope } from "../../../schemas/config/server-config.ts";
import { placed } from "../../../schemas/placed.ts";
import type { Interactive } from "../../connect/auth/interactive.ts";
import { loadConfiguration } from "../../connect/configuration.ts";
import { type ConfigurationFiles, homeFolder } from "../../connect/configuration-files.ts";
import { RefusedError, ServerError } from "../../errors.ts";
import { compileInBackground } from "../background-compile.ts";
import { locateFiles } from "../loadout.ts";
import { changeRegistered, compileOwn } from "../registered/registered-actions.ts";
import type { PiSession } from "../session.ts";
import type { PiTrust } from "../trust/pi-trust.ts";
import { Turns } from "../turns.ts";
import { type ActionOutcome, changeText, compileOutcome, failed, failure, noSuchServer } from "./action-outcome.ts";
import { noteCompile } from "./compile-findings.ts";
import { editConfig } from "./edit-config.ts";
import { type ChangePlan, type PlannedChange, planChange, type ServerChange } from "./server-change.ts";
import { driftReason } from "./server-overview.ts";
import { serverSources } from "./server-sources.ts";

export interface ActionOptions {
  /** Told what takes a while; the last is undefined. */
  readonly onProgress?: ((text: string | undefined) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ChangeOptions extends ActionOptions {
  /** For the project at hand alone. */
  readonly inProject?: boolean;
  /** Asked before the project's configuration is made, and the project trusted with that. */
  readonly confirm?: (title: string, text: string) => Promise<boolean>;
}

interface Recompile {
  readonly server: string;
  /** What has been done already. */
  readonly text?: string;
  /** Whose artifacts depend on what was changed; default all that the session has. */
  readonly scope?: Scope | "all";
  /** What changed can be told without asking the server. */
  readonly isOffline?: boolean;
}

export class ServerActions {
  readonly #session: PiSession;
  readonly #trust: Pick<PiTrust, "save">;
  readonly #turns = new Turns();

  constructor(session: PiSession, trust: Pick<PiTrust, "save">) {
    this.#session = session;
    this.#trust = trust;
  }

  change(server: string, change: ServerChange, options: ChangeOptions = {}): Promise<ActionOutcome> {
    return this.#inTurn(() => this.#change(server, change, options), options);
  }

  signIn(server: string, interactive: Interactive, options: ActionOptions = {}): Promise<ActionOutcome> {
    return this.#inTurn(() => this.#signIn(server, interactive, options), options);
  }

  signOut(server: string, options: ActionOptions = {}): Promise<ActionOutcome> {
    return this.#inTurn(() => this.#signOut(server, options), options);
  }

  /** Ends the connection, so that calls under way fail, and connects anew. */
  reconnect(server: string, options: ActionOptions = {}): Promise<ActionOutcome> {
    return this.#inTurn(() => this.#reconnect(server, options), options);
  }

  /** Asks the server again what it offers. */
  compile(server: string, options: ActionOptions = {}): Promise<ActionOutcome> {
    return this.#inTurn(() => this.#compiled({ server }, options), options);
  }

  #inTurn(action: () => Promise<ActionOutcome>, { onProgress }: ActionOptions): Promise<ActionOutcome> {
    return this.#turns.take(() => action().finally(() => onProgress?.(undefined)));
  }

  async #change(name: string, change: ServerChange, options: ChangeOptions): Promise<ActionOutcome> {
    const { inProject = false } = options;
    const place = inProject ? await this.#projectFiles(options) : { ok: true as const, files: this.#session.files };
    if (!place.ok) return place.outcome;
    const { value, diagnostics } = await loadConfiguration(place.files);
    const server = value.servers.find((one) => one.name === name);
    const registered = this.#registered(name);
    if (registered !== undefined) return changeRegistered(this.#session, registered, change, inProject);
    if (server === undefined) return noSuchServer(name, value, diagnostics);
    const sources = await serverSources(place.files, name);
    const plan: ChangePlan = planChange({ server, sources, change, inProject });
    if (!plan.ok) return failure(plan.message);
    const saved = await this.#save(plan.changes);
    if (!saved.ok) return saved.outcome;
    const text = changeText(name, change, plan.changes, saved.isChanged);
    if (!saved.isChanged) return { ok: true, text };
    // What was started for it ends with it.
    if (change.kind === "enabled" && !change.enabled) await this.#session.runtime.disconnect(name);
    const scopes = new Set(plan.changes.map(({ file }) => file.scope));
    const scope = scopes.size === 1 ? [...scopes][0]! : "all";
    return this.#compiled({ server: name, text, scope, isOffline: isKnownWithoutAsking(change) }, options);
  }

  async #save(
    changes: readonly PlannedChange[],
  ): Promise<
    { readonly ok: true; readonly isChanged: boolean } | { readonly ok: false; readonly outcome: ActionOutcome }
  > {
    let isChanged = false;
    for (const { file, edits } of changes) {
      const edited = await editConfig(file, edits);
      if (!edited.ok) return { ok: false, outcome: failed(edited.diagnostic) };
      isChanged ||= edited.kind !== "unchanged";
    }
    return { ok: true, isChanged };
  }

  /** The files of the project at hand, which the user may have to trust first: a project's file is made and used. */
  async #projectFiles(
    options: ChangeOptions,
  ): Promise<
    { readonly ok: true; readonly files: ConfigurationFiles } | { readonly ok: false; readonly outcome: ActionOutcome }
  > {
    const { ctx, files, isProjectTrusted } = this.#session;
    if (isProjectTrusted) return { ok: true, files };
    const refused = (text: string) => ({ ok: false as const, outcome: failure(text) });
    if (!ctx.isProjectTrusted()) return refused("this project isn't trusted; use /trust first");
    const located = await locateFiles(ctx.cwd);
    const { projectDir } = located;
    const asked = `${projectDir}\n\nIts configuration is read from now on, and its artifacts are used; what an mcp.json names there runs with your permissions. The answer is kept with Pi's project trust.`;
    if (options.confirm === undefined || !(await options.confirm("Use this project's MCP configuration?", asked)))
      return refused(`nothing was changed: ${projectDir} has no MCP configuration that is in use`);
    await this.#trust.save(projectDir, true);
    return { ok: true, files: located };
  }

  /** Compiles one server and takes over what came of it. */
  async #compiled(
    { server, text, scope, isOffline = false }: Recompile,
    options: ActionOptions,
  ): Promise<ActionOutcome> {
    const { ctx, env, signal, isProjectTrusted } = this.#session;
    options.onProgress?.(`compiling ${server}…`);
    if (this.#registered(server)) return compileOwn(this.#session, server, text);
    const request = {
      servers: [server],
      cwd: ctx.cwd,
      // Of an untrusted project nothing is read.
      scope: scope ?? (isProjectTrusted ? "all" : "user"),
      env,
      signal: options.signal ? AbortSignal.any([signal, options.signal]) : signal,
    };
    let report = await compileInBackground({ ...request, offline: isOffline });
    if (isOffline && report.problems.length > 0) report = await compileInBackground(request);
    if (signal.aborted) return failure("the session has ended");
    noteCompile(this.#session, [server], report.errors);
    await this.#session.reload();
    if (!isOffline && report.problems.length === 0) await forgetFailure(this.#session, server);
    return compileOutcome(server, text, report.problems);
  }

  async #signIn(name: string, interactive: Interactive, options: ActionOptions): Promise<ActionOutcome> {
    options.onProgress?.(`signing in to ${name}…`);
    const found = await this.#signable(name, options);
    if (!found.ok) return failed(found.diagnostic);
    const [{ logIn }, { findingsOf, loggedInText }] = await Promise.all([
      import("../../connect/auth/log-in.ts"),
      import("../../connect/auth/outcome-text.ts"),
    ]);
    const { config, resolved, agentDir, fetch, signal } = found;
    const outcome = await logIn(config, resolved, { agentDir, fetch, interactive, signal });
    if (outcome.kind === "failed")
      return signal.aborted ? failure("the sign-in was cancelled") : failed(outcome.diagnostic);
    const text = [loggedInText(outcome, name), ...findingsOf(outcome, name).map(placed)].join("\n");
    if (outcome.kind === "not-needed") return { ok: true, text };
    if (this.#session.table.server(name) === undefined) return this.#compiled({ server: name, text }, options);
    await this.#session.runtime.disconnect(name);
    return { ok: true, text };
  }

  async #signOut(name: string, options: ActionOptions): Promise<ActionOutcome> {
    const found = await this.#signable(name, options);
    if (!found.ok) return failed(found.diagnostic);
    const [{ logOut }, { findingsOf, loggedOutText }] = await Promise.all([
      import("../../connect/auth/log-out.ts"),
      import("../../connect/auth/outcome-text.ts"),
    ]);
    const outcome = await logOut(found.config, found.resolved, { agentDir: found.agentDir }, found.fetch);
    if (outcome.kind === "failed") return failed(outcome.diagnostic);
    await this.#session.runtime.disconnect(name);
    const findings = findingsOf(outcome, name);
    return { ok: findings.length === 0, text: [loggedOutText(outcome, name), ...findings.map(placed)].join("\n") };
  }

  #registered(name: string) {
    const { servers, disabled } = this.#session.registrations;
    return [...servers, ...disabled].find(({ config }) => config.name === name);
  }

  async #signable(name: string, options: ActionOptions) {
    const { findSignable } = await import("../../connect/auth/signable-server.ts");
    const { files, env, registrations } = this.#session;
    const others = registrations.servers.map(({ config }) => config);
    const signal = options.signal ? AbortSignal.any([this.#session.signal, options.signal]) : this.#session.signal;
    const found = await findSignable(files, name, { env, homedir: homeFolder(env), signal, others });
    return found.ok ? { ...found, signal } : found;
  }

  async #reconnect(name: string, { onProgress }: ActionOptions): Promise<ActionOutcome> {
    const { runtime, table, files } = this.#session;
    if (table.server(name) === undefined) {
      const { value, diagnostics } = await loadConfiguration(files);
      const server = value.servers.find((one) => one.name === name) ?? this.#registered(name)?.config;
      if (server === undefined) return noSuchServer(name, value, diagnostics);
      return failure(
        server.enabled ? `"${name}" has not been compiled; run /mcp compile ${name}` : `"${name}" is disabled`,
      );
    }
    onProgress?.(`connecting to ${name}…`);
    await runtime.disconnect(name);
    try {
      const drift = await runtime.compareWithServer(name);
      const { state } = runtime.status(name);
      if (state.kind === "needs-sign-in") return failed(state.finding);
      if (drift === undefined) return failure(`connected to "${name}", but it would not list its tools`);
      if (drift.tools.length === 0)
        return { ok: true, text: `connected to "${name}"; its tools are those that were compiled` };
      return { ok: true, text: `connected to "${name}"\n${driftReason(drift)}` };
    } catch (error) {
      if (error instanceof ServerError) return failure([error.message, error.stderrTail].filter(Boolean).join("\n"));
      if (error instanceof RefusedError) return failure(error.message);
      throw error;
    }
  }
}

/** It has just been reached: why it could not be before is no longer true. */
async function forgetFailure({ runtime }: PiSession, server: string): Promise<void> {
  const { kind } = runtime.status(server).state;
  if (kind === "failed" || kind === "needs-sign-in") await runtime.disconnect(server);
}

/** Who may see what is decided without the server; what it offers has to be asked where it may be unknown. */
function isKnownWithoutAsking(change: ServerChange): boolean {
  return change.kind !== "enabled" || !change.enabled;
}
