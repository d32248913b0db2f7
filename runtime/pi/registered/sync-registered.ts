/**
 * Keeps a session and the servers that other extensions register in step: one that is new or changed is compiled by a
 * process of its own, which is told its configuration and writes none of it, and has its tools when that is done; one
 * that is gone is disconnected and its tools are hidden. What can't be compiled is told; a session goes on without it.
 */
import { type CompileReport, compileText } from "../background-compile.ts";
import { noteCompile } from "../servers/compile-findings.ts";
import type { PiSession } from "../session.ts";
import { Turns } from "../turns.ts";
import { isCompiled, type RegisteredServer, type RegistrationOverride } from "./registered-servers.ts";
import { discardArtifacts } from "./tidy-registered.ts";

/** Processes at a time. */
const MAX_PROCESSES = 2;

/** What is under way for a session, and what was tried: what failed is tried again by the next session. */
interface Progress {
  /** One change after another, whatever an extension does in a row. */
  readonly turns: Turns;
  /** Folders of artifacts that a process was started for. */
  readonly tried: Set<string>;
  readonly refreshed: Set<string>;
}
const bySession = new WeakMap<PiSession, Progress>();

function progressOf(session: PiSession): Progress {
  const known = bySession.get(session) ?? { turns: new Turns(), tried: new Set(), refreshed: new Set() };
  bySession.set(session, known);
  return known;
}

/** `changed`: servers have been registered, unregistered or overridden since the session's artifacts were loaded. */
export function syncRegistered(session: PiSession, changed: boolean): Promise<void> {
  return progressOf(session).turns.take(() => sync(session, changed));
}

/** Changes a registered server for the rest of the session; what was changed before stays. */
export function overrideRegistered(session: PiSession, server: string, override: RegistrationOverride): Promise<void> {
  const before = session.registrationOverrides.get(server);
  const toolExposure = { ...before?.toolExposure, ...override.toolExposure };
  session.registrationOverrides.set(server, { ...before, ...override, toolExposure });
  return syncRegistered(session, true);
}

/** Asks a registered server again what it offers, and takes that over. Undefined where there is no such server. */
export async function compileRegistered(session: PiSession, server: string): Promise<CompileReport | undefined> {
  const found = session.registrations.servers.find(({ config }) => config.name === server);
  if (found === undefined) return undefined;
  const report = await compileOne(session, found, { refresh: true });
  if (!session.signal.aborted && report.compiled.length > 0) await session.reload();
  return report;
}

/** A session keeps the tools it began with: what is compiled now is for the next one. */
export async function refresh(session: PiSession, servers: readonly RegisteredServer[]): Promise<void> {
  const { refreshed } = progressOf(session);
  for (const server of servers.filter(({ out }) => !refreshed.has(out))) {
    refreshed.add(server.out);
    const { compiled } = await compileOne(session, server, { refresh: true });
    const { name } = server.config;
    if (compiled.length === 0) continue;
    session.tell(`MCP server "${name}" offers other tools than before; the next session has them`, "info");
  }
}

async function sync(session: PiSession, changed: boolean): Promise<void> {
  if (session.signal.aborted) return;
  if (changed) {
    const { runtime, registrations } = session;
    await session.reload();
    const kept = new Set(session.registrations.servers.map(identityOf));
    const gone = registrations.servers.filter((server) => !kept.has(identityOf(server)));
    await Promise.all(gone.map(({ config }) => runtime.disconnect(config.name)));
  }
  await compileMissing(session);
}

async function compileMissing(session: PiSession): Promise<void> {
  const { tried } = progressOf(session);
  const missing = session.registrations.servers.filter(
    ({ config, out }) => !isCompiled(session.table, config.name) && !tried.has(out),
  );
  for (const { out } of missing) tried.add(out);
  const problems: string[] = [];
  const next = missing.values();
  const work = async () => {
    for (const server of next) {
      const report = await compileOne(session, server);
      problems.push(...report.problems);
      if (session.signal.aborted || report.compiled.length === 0) continue;
      await session.reload();
      session.tell(`MCP servers of extensions are ready: ${server.config.name}`, "info");
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_PROCESSES, missing.length) }, work));
  if (problems.length > 0)
    session.tell(["MCP servers of extensions could not be compiled:", ...problems].join("\n  "), "warning");
}

async function compileOne(
  session: PiSession,
  { config, out, text }: RegisteredServer,
  { refresh = false } = {},
): Promise<CompileReport> {
  const { ctx, env, signal } = session;
  const compile = () => compileText({ text, out, refresh, server: config.name, cwd: ctx.cwd, env, signal });
  let report = await compile();
  if (report.errors.some(({ code }) => code === "output-foreign")) {
    // Torn beyond recognition: in this folder nothing can be anybody else's.
    await discardArtifacts(out);
    report = await compile();
  }
  noteCompile(session, [config.name], report.errors);
  return report;
}

/** Another configuration is another server: its connection is not to be used. */
function identityOf({ config, text }: RegisteredServer): string {
  return `${config.name}\0${text}`;
}
