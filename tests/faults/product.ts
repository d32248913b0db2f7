/**
 * The whole product as acceptance tests use it: a project of small real servers, compiled and called, mostly by the built
 * command line. Nothing here knows how the product works; what is asserted is what a user or a server sees.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { CompileJson } from "../../cli/compile-command.ts";
import type { CatalogFile } from "../../schemas/catalog.schema.ts";
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import type { RunOptions, Stub, Workspace } from "../cli/pimcp.ts";
import { startHttp } from "../servers/run.ts";

type Env = NonNullable<RunOptions["env"]>;

export { compiled as compiledProduct } from "../runtime/runtime-project.ts";

/** Compiles by the command line; throws what went wrong. */
export async function compiledOk(work: Workspace, env: Env = {}): Promise<CompileJson> {
  const { code, json } = await work.compileWith(env);
  if (code !== 0) throw new Error(`compile exited with ${code}: ${JSON.stringify(json.diagnostics, undefined, 1)}`);
  return json;
}

export interface Called {
  readonly code: number | string;
  /** The `CallToolResult`, or `{ error }`. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever a server sent
  readonly json: any;
  readonly stderr: string;
}

/** `pimcp call SERVER TOOL --json`. */
export async function call(
  work: Workspace,
  [server, tool]: readonly [string, string],
  args: object | string = {},
  options: RunOptions = {},
): Promise<Called> {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  const { code, stdout, stderr } = await work.start(["call", server, tool, "--json", "--args", text], options).finished;
  if (stdout === "") throw new Error(`pimcp call printed nothing on stdout and on stderr:\n${stderr}`);
  return { code, json: JSON.parse(stdout), stderr };
}

/** `pimcp call SERVER TOOL` as a model or a person reads it. Files it saves are below `<root>/tmp`. */
export async function callText(work: Workspace, server: string, tool: string): Promise<string> {
  const TMPDIR = join(work.root, "tmp");
  mkdirSync(TMPDIR, { recursive: true });
  const { code, stdout, stderr } = await work.start(["call", server, tool], { env: { TMPDIR } }).finished;
  if (code !== 0) throw new Error(`pimcp call exited with ${code}: ${stderr}`);
  return stdout;
}

/** Parameters of every `tools/call` that the server got. */
export function callsOf(stub: Pick<Stub, "log">): { readonly name: string; readonly arguments: unknown }[] {
  const calls = stub.log().filter(({ method }) => method === "tools/call");
  return calls.map(({ params }) => params as { name: string; arguments: unknown });
}

/** Own names of the tools in the project's catalog, by server. */
export function catalogTools(work: Workspace): Record<string, string[]> {
  const { servers } = JSON.parse(work.read("project/generated/catalog.json")) as CatalogFile;
  return Object.fromEntries(servers.map(({ name, tools }) => [name, tools.map(({ tool }) => tool)]));
}

/** The findings of this severity about a server. */
export function findingsOn(json: CompileJson, server: string, severity: Diagnostic["severity"]): Diagnostic[] {
  return json.diagnostics.filter((found) => found.server === server && found.severity === severity) as Diagnostic[];
}

/** Serves the stub over HTTP until the test ends; its options can go on changing. */
export async function serve(stub: Stub): Promise<{ readonly type: "http"; readonly url: string }> {
  const server = await startHttp("stub.mjs", stub.entry.env);
  onTestFinished(() => server.stop());
  return { type: "http", url: server.url };
}
