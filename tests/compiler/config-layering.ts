/** Layers texts as the given files of one user and one project, for the configuration tests. */
import { layerConfiguration } from "../../schemas/config/layers.ts";
import type { Configuration } from "../../schemas/config/server-config.ts";
import type { Diagnostic, Outcome } from "../../schemas/diagnostic.ts";

export interface Texts {
  readonly user?: string | object;
  readonly ".mcp.json"?: string | object;
  readonly "mcp.json"?: string | object;
  readonly ".pi/mcp.json"?: string | object;
}

export function layered(texts: Texts): Outcome<Configuration> {
  const text = (value: string | object | undefined) => (typeof value === "object" ? JSON.stringify(value) : value);
  const project = ([".mcp.json", "mcp.json", ".pi/mcp.json"] as const).map((name) => ({
    path: `/work/app/${name}`,
    display: name,
    scope: "project" as const,
    text: text(texts[name]),
  }));
  const user = { path: "/home/u/.pi/agent/mcp.json", display: "~/.pi/agent/mcp.json", scope: "user" as const };
  return layerConfiguration({
    files: [{ ...user, text: text(texts.user) }, ...project],
    projectDir: "/work/app",
    agentDir: "/home/u/.pi/agent",
    sessionDir: "/work/app/sub",
    defaultOut: { project: "/work/app/generated", user: "/home/u/.pi/agent/pimcp/generated" },
  });
}

/** One line each, as `cli` prints them, without notes. */
export function lines(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ file, line, column, severity, message, code }) => {
    const place = file === undefined ? "" : line === undefined ? `${file}: ` : `${file}:${line}:${column}: `;
    return `${place}${severity}: ${message} [${code}]`;
  });
}

export function names(configuration: Configuration): string[] {
  return configuration.servers.map((server) => server.name);
}

/** Diagnostics of a project `mcp.json` that holds this text. */
export function found(text: string): string[] {
  return lines(layered({ "mcp.json": text }).diagnostics);
}
