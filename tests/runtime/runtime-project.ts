/**
 * A project with servers, compiled by the real compiler in this process, and runtimes over it. Folders are those of
 * `Workspace`; runtimes are closed when the test ends.
 */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type CompileOptions, compile } from "../../compiler/compile.ts";
import { introspect } from "../../compiler/introspect/introspect.ts";
import { memoryCache } from "../../compiler/stubs/type-source.ts";
import { loadConfiguration } from "../../runtime/connect/configuration.ts";
import type { ServerError } from "../../runtime/errors.ts";
import { createRuntime, type Runtime, type RuntimeOptions } from "../../runtime/runtime.ts";
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import { type Stub, Workspace } from "../cli/pimcp.ts";
import { noCache } from "../no-cache.ts";
import { type HttpServer, serversDir, startHttp, startHttpStub } from "../servers/run.ts";

/** An entry of `mcpServers`. */
export type Entry = Readonly<Record<string, unknown>>;

/** Types of all schemas that tests of this process had compiled: what is compiled only to be used needn't make them anew. */
const types = memoryCache();

export class RuntimeProject extends Workspace {
  /** Everything that the runtimes of this project had to say. */
  readonly notices: Diagnostic[] = [];

  get surroundings() {
    return {
      cwd: this.project,
      homedir: join(this.root, "home"),
      env: { PATH: process.env["PATH"], PI_CODING_AGENT_DIR: this.agent } as NodeJS.ProcessEnv,
    };
  }

  /** Compiles both scopes; what it found is returned. */
  async compileInProcess(
    env: NodeJS.ProcessEnv = {},
    options: Partial<CompileOptions> = {},
  ): Promise<readonly Diagnostic[]> {
    const surroundings = { ...this.surroundings, env: { ...this.surroundings.env, ...env } };
    const loaded = await loadConfiguration(surroundings);
    const signal = new AbortController().signal;
    const outcome = await compile(loaded.value, {
      scopes: ["user", "project"],
      check: false,
      refresh: true,
      offline: false,
      concurrency: 4,
      types: memoryCache(),
      signal,
      onProgress: () => {},
      introspect: (server) => introspect(server, { ...surroundings, signal }),
      cache: noCache,
      ...options,
    });
    return [...loaded.diagnostics, ...outcome.diagnostics];
  }

  /** Compiles both scopes, for a test of something else; throws what went wrong. */
  async prepare(): Promise<void> {
    const errors = (await this.compileInProcess({}, { types })).filter(({ severity }) => severity === "error");
    const texts = errors.map(({ message, notes }) => [message, ...notes].join("; "));
    if (texts.length > 0) throw new Error(texts.join("\n"));
  }

  async runtime(options: RuntimeOptions = {}): Promise<Runtime> {
    const onNotice = (notice: Diagnostic) => void this.notices.push(notice);
    const runtime = await createRuntime({ ...this.surroundings, onNotice, ...options });
    onTestFinished(() => runtime.close());
    return runtime;
  }

  codes(): string[] {
    return this.notices.map(({ code }) => code);
  }
}

/** A project of these servers, compiled. */
export async function compiled(
  servers: Readonly<Record<string, unknown>>,
  topLevel: object = {},
): Promise<RuntimeProject> {
  const project = new RuntimeProject();
  project.servers(servers, topLevel);
  await project.prepare();
  return project;
}

/** Entry of a script of tests/servers over stdio. */
export function script(name: string, env: Readonly<Record<string, string>> = {}): Entry {
  return { command: process.execPath, args: [join(serversDir, name)], env };
}

/** A script of tests/servers over HTTP, stopped when the test ends. */
export async function overHttp(name: Parameters<typeof startHttp>[0], env: Record<string, string>): Promise<Entry> {
  return entryOf(await startHttp(name, env));
}

export async function httpStub(options: Record<string, unknown>): Promise<{ entry: Entry; server: HttpServer }> {
  const server = await startHttpStub(options);
  return { entry: entryOf(server), server };
}

function entryOf(server: HttpServer): Entry {
  onTestFinished(() => server.stop());
  return { type: "http", url: server.url };
}

/** The real servers of both SDK lines over both transports, for `test.each`. */
export const REAL_SERVERS: readonly [string, () => Promise<Entry>][] = [
  ["legacy over stdio", async () => script("legacy.mjs")],
  ["modern over stdio", async () => script("modern.mjs")],
  ["legacy over HTTP", () => overHttp("legacy.mjs", { HTTP: "streamable" })],
  ["modern over HTTP", () => overHttp("modern.mjs", { HTTP: "1" })],
];

/** What `promise` rejects with. */
export async function rejection<T = Error>(promise: Promise<unknown>): Promise<T> {
  return promise.then(
    (value) => {
      throw new Error(`expected a rejection, got ${JSON.stringify(value)?.slice(0, 200)}`);
    },
    (error: T) => error,
  );
}

/** A tool with this input schema. */
export function declared(name: string, inputSchema: object, more: object = {}): object {
  return { name, description: `Does ${name}`, inputSchema, ...more };
}

/** The `ServerError` that a promise is expected to reject with. */
export const failure = (promise: Promise<unknown>) => rejection<ServerError>(promise);

/** The stub's own tools, open to any arguments. */
export const TOOLS = ["echo", "crash", "hang", "sleep", "progress", "stderr"].map((name) =>
  declared(name, { type: "object" }),
);
/** Messages of this method that the stub received. */
export const count = (stub: Stub, method: string) => stub.log().filter((entry) => entry.method === method).length;
/** Starts and messages since `since`. */
export const happened = (stub: Stub, since: number) =>
  stub
    .log()
    .slice(since)
    .map(({ event, method }) => method ?? event);
