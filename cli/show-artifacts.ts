/**
 * What `list`, `describe` and `search` have in common: find the artifacts of this configuration, ask them
 * something, print the answer as text or as one JSON object. Connects to nothing and writes nothing.
 */
import { folderReader } from "../runtime/artifacts/folder.ts";
import { configNewer } from "../runtime/artifacts/freshness.ts";
import { layerArtifacts } from "../schemas/artifacts/layer.ts";
import { type Loaded, openArtifacts } from "../schemas/artifacts/read.ts";
import type { ToolTable } from "../schemas/artifacts/tool-table.ts";
import type { Configuration, Scope } from "../schemas/config/server-config.ts";
import { type Diagnostic, diagnostic, type Outcome } from "../schemas/diagnostic.ts";
import type { Invocation } from "./commands.ts";
import { EXIT, type Io } from "./io.ts";
import { asText, diagnosticsText, type Look, shownFolder } from "./print.ts";

/**
 * Runs a command on the artifacts: `ask` makes its value, which `--json` prints as it is (with `diagnostics` beside it
 * where there are errors), `show` its text.
 */
export async function showArtifacts<T>(
  { flags }: Invocation,
  io: Io,
  ask: (table: ToolTable) => Loaded<T>,
  show: (value: T, look: Look) => string[],
): Promise<number> {
  const { loadConfiguration } = await import("../runtime/connect/configuration.ts");
  const config = typeof flags["config"] === "string" ? flags["config"] : undefined;
  const configuration = await loadConfiguration({ cwd: io.cwd, config, env: io.env, homedir: io.homedir });
  const scopes: readonly Scope[] = config === undefined ? ["project", "user"] : ["project"];
  const table = openTable(configuration.value, io.cwd, scopes);
  const answer = ask(table.value);
  // A table that could not be made has said why; that nothing is in it is no second finding.
  const unusable = table.value.servers().length === 0 && table.diagnostics.some((found) => found.severity === "error");
  const stale = unusable ? [] : await staleness(configuration.value, table.value, scopes);
  const diagnostics: Diagnostic[] = [...table.diagnostics, ...stale];
  if (!answer.ok && !unusable) diagnostics.push(answer.diagnostic);
  if (diagnostics.length > 0) io.err(diagnosticsText(diagnostics, io.errLook, flags["verbose"] === true));
  const failed = diagnostics.some((found) => found.severity === "error");
  const value = answer.ok ? answer.value : {};
  if (flags["json"] === true) io.out(`${JSON.stringify(failed ? { ...value, diagnostics } : value)}\n`);
  else if (answer.ok && !unusable) io.out(asText(show(answer.value, io.outLook)));
  return failed ? EXIT.reported : EXIT.ok;
}

/** The table of these scopes; folders are named in messages as seen from `cwd`. */
function openTable(configuration: Configuration, cwd: string, scopes: readonly Scope[]): Outcome<ToolTable> {
  const open = (scope: Scope) => {
    if (!scopes.includes(scope)) return undefined;
    const folder = configuration[scope].out;
    return openArtifacts(shownFolder(folder, cwd), folderReader(folder, { pin: false }).readFile);
  };
  return layerArtifacts({ project: open("project"), user: open("user") });
}

/** What the configuration has that the artifacts were not made from. */
async function staleness(
  configuration: Configuration,
  table: ToolTable,
  scopes: readonly Scope[],
): Promise<Diagnostic[]> {
  const { settingsDigest } = await import("../schemas/config/digest.ts");
  return scopes.flatMap((scope) => {
    const manifest = table.folder(scope)?.manifest;
    if (manifest?.settings === settingsDigest(configuration, scope)) return [];
    if (manifest) return [configNewer(scope)];
    const waiting = configuration.servers.filter((server) => server.scope === scope && server.enabled);
    if (waiting.length === 0) return [];
    const names = waiting.map((server) => server.name).join(", ");
    return [diagnostic("config-newer", `servers of the ${scope} were never compiled: ${names}; run \`pimcp compile\``)];
  });
}
