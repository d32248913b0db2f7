/** A server's entry in the configuration, and what to say where it has none that can be used. */
import { canonicalJson } from "../schemas/canonical.ts";
import type { Configuration, Scope, ServerConfig } from "../schemas/config/server-config.ts";
import type { Diagnostic, DiagnosticCode } from "../schemas/diagnostic.ts";
import { placed } from "../schemas/placed.ts";
import { loadConfiguration } from "./connect/configuration.ts";
import type { ConfigurationFiles } from "./connect/configuration-files.ts";

/** Findings after which a configuration is not what its files are meant to say. */
export const UNUSABLE: ReadonlySet<string> = new Set<DiagnosticCode>([
  "config-syntax",
  "config-unreadable",
  "config-shape",
]);

/** The server's entry; a finding where it has none that can be used. */
export function entryOf(configuration: Configuration, server: string): ServerConfig | Diagnostic {
  const config = configuration.servers.find((one) => one.name === server);
  if (config?.enabled) return config;
  const why = config ? "is disabled in mcp.json" : "is in no mcp.json that applies here";
  return { code: "unknown-server", severity: "error", message: `server "${server}" ${why}`, server, notes: [] };
}

/** What of a server's settings makes a connection another one; who may see its tools doesn't. */
export function howReached(config: ServerConfig): string {
  const { name, transport, baseDir, protocolVersion, tasks, requestTimeoutMs, probeTimeoutMs } = config;
  return canonicalJson({ name, transport, baseDir, protocolVersion, tasks, requestTimeoutMs, probeTimeoutMs });
}

/**
 * The mistake that keeps a server out of the configuration: one in its entry, else one that makes a file of its scope
 * unreadable. Undefined where nothing is wrong but that it isn't there. Reads the files anew.
 */
export async function mistakeAbout(
  server: string,
  files: ConfigurationFiles,
  scope: Scope | undefined,
): Promise<Diagnostic | undefined> {
  const { value, diagnostics } = await loadConfiguration(files);
  if (value.servers.some(({ name }) => name === server)) return undefined;
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const own = files.candidates.filter((file) => scope === undefined || file.scope === scope);
  const isOwn = ({ file }: Diagnostic) => own.some(({ display }) => display === file);
  const found =
    errors.find((one) => one.server === server) ?? errors.find((one) => UNUSABLE.has(one.code) && isOwn(one));
  if (found === undefined) return undefined;
  const message = `server "${server}" can't be used: ${placed(found)}`;
  const notes = [...found.notes, "put that right and call again"];
  return { code: found.code, severity: "error", message, server, notes };
}
