/** The part of a runtime that exists once something has been called: connections, calls, resources, drift. */
import type { ToolEntry, ToolTable } from "../schemas/artifacts/tool-table.ts";
import type { Diagnostic } from "../schemas/diagnostic.ts";
import { type CallContext, callTool } from "./call.ts";
import type { InterpretedResult } from "./calls/results.ts";
import { capabilitiesOf, registerHandlers } from "./client-features.ts";
import type { CallOptions } from "./codegen/v1.ts";
import type { ConfigurationFiles } from "./connect/configuration-files.ts";
import { Connections } from "./connections.ts";
import { DriftWatch } from "./drift-watch.ts";
import { Gate } from "./gate.ts";
import { Resources } from "./resources.ts";
import type { RuntimeOptions } from "./runtime.ts";

export interface LiveOptions
  extends Pick<RuntimeOptions, "handlers" | "onDrift" | "idleMs" | "maxMessageBytes" | "fetch" | "open"> {
  readonly env: NodeJS.ProcessEnv;
  readonly homedir: string;
  readonly files: ConfigurationFiles;
  readonly table: ToolTable;
  /** What loading the artifacts had to say. */
  readonly diagnostics: readonly Diagnostic[];
  readonly onNotice: (notice: Diagnostic) => void;
}

export interface Live {
  readonly connections: Connections;
  readonly drift: DriftWatch;
  readonly resources: Resources;
  readonly gate: Gate;
  call(entry: ToolEntry, args: unknown, options?: CallOptions): Promise<InterpretedResult>;
}

export function openLive(options: LiveOptions): Live {
  const { table, onNotice, handlers = {} } = options;
  const gate = new Gate(table, options.diagnostics);
  const drift = new DriftWatch(table, onNotice);
  const connections = new Connections({
    ...options,
    capabilities: capabilitiesOf(handlers),
    configure: (client) => registerHandlers(client, handlers),
    onOpen: (connection) => drift.watch(connection),
  });
  const context: CallContext = { table, connections, drift, onNotice, onDrift: options.onDrift ?? "warn" };
  return {
    connections,
    drift,
    resources: new Resources(table, gate, connections),
    gate,
    call: (entry, args, callOptions) => callTool(context, entry, args, callOptions),
  };
}
