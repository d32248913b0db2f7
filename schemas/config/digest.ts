/**
 * Digests of configuration, for the manifest and for cache keys. They change when artifacts or a tool list
 * could, and say nothing about a person or a machine: no literal value of `env` or `headers`, nothing
 * that looks like a literal secret elsewhere, no absolute path of a file or folder that holds the configuration,
 * no scope. What credentials a variable holds is not part of them either.
 */
import { byCodeUnit, digestOf } from "../canonical.ts";
import { isCommandValue, variablesOf } from "../expand.ts";
import { MASK, maskArgs, maskUrl } from "./secrets.ts";
import {
  type Configuration,
  type ExposureRule,
  type Scope,
  type ServerConfig,
  serversOfScope,
} from "./server-config.ts";

/** Lower-case hex sha256 over how the server is reached. */
export function connectionDigest(server: ServerConfig): string {
  const { transport, protocolVersion } = server;
  if (transport.kind === "http") {
    const { kind, url, headers } = transport;
    return digestOf({ kind, url: maskUrl(url), headers: maskValues(headers, lowerCase), protocolVersion });
  }
  const { kind, command, args, env, cwd } = transport;
  return digestOf({ kind, command, args: maskArgs(args), env: maskValues(env), cwd, protocolVersion });
}

/** Lower-case hex sha256 over everything in the configuration that shapes the artifacts of one scope. */
export function settingsDigest(configuration: Configuration, scope: Scope): string {
  const settings = configuration[scope];
  const servers = serversOfScope(configuration, scope)
    .filter((server) => server.enabled)
    .map((server) => ({
      name: server.name,
      connection: connectionDigest(server),
      exposure: server.exposure,
      toolExposure: ruleRows(server.toolExposure),
      maxOutputBytes: server.maxOutputBytes,
      description: server.description,
    }))
    .sort((a, b) => byCodeUnit(a.name, b.name));
  const overrides = scope === "project" ? overrideRows(configuration) : undefined;
  return digestOf({
    maxOutputBytes: settings.maxOutputBytes,
    inlineBudget: settings.inlineBudget,
    servers,
    overrides,
  });
}

function overrideRows({ overrides }: Configuration): unknown {
  return Object.entries(overrides)
    .map(([name, { enabled, exposure, toolExposure, maxOutputBytes }]) => ({
      name,
      enabled,
      exposure,
      toolExposure: toolExposure && ruleRows(toolExposure),
      maxOutputBytes,
    }))
    .sort((a, b) => byCodeUnit(a.name, b.name));
}

/** The order of rules decides, so it is kept. */
function ruleRows(rules: readonly ExposureRule[]): unknown {
  return rules.map(({ pattern, exposure }) => [pattern, exposure]);
}

/** Sorted pairs of a name and what its value refers to. */
function maskValues(values: Readonly<Record<string, string>>, foldName = (name: string) => name): unknown {
  return Object.entries(values)
    .map(([name, value]): [string, unknown] => [foldName(name), referencesOf(value)])
    .sort((a, b) => byCodeUnit(a[0], b[0]));
}

/** A whole-value `!command` as it is, else the variables a value names, without their defaults, else the mask. */
function referencesOf(value: string): unknown {
  if (isCommandValue(value)) return value;
  const names = variablesOf(value);
  return names.length > 0 ? names : MASK;
}

function lowerCase(name: string): string {
  return name.toLowerCase();
}
