/** The part of a runtime that exists once something has been called: connections, calls, resources, drift. */
import type { ToolEntry, ToolTable } from "../schemas/artifacts/tool-table.ts";
import type { Diagnostic } from "../schemas/diagnostic.ts";
import { type CallContext, callTool, type EntryCallOptions, readyForCall } from "./call.ts";
import type { InterpretedResult } from "./calls/results.ts";
import { capabilitiesOf, hearCompletions } from "./client-features.ts";
import type { ConfigurationFiles } from "./connect/configuration-files.ts";
import type { Connection } from "./connect/connection.ts";
import type { TraceSink } from "./connect/trace.ts";
import { Connections } from "./connections.ts";
import { DriftWatch } from "./drift-watch.ts";
import { Gate } from "./gate.ts";
import { answerQuestion, type Question } from "./questions.ts";
import { Resources } from "./resources.ts";
import type { RuntimeOptions } from "./runtime.ts";
import type { ServerStates } from "./server-states.ts";
import { Skills } from "./skills.ts";
import { TaskCalls } from "./tasks/task-calls.ts";
import { Tasks } from "./tasks/tasks.ts";

export interface LiveOptions
  extends Pick<
    RuntimeOptions,
    | "handlers"
    | "onDrift"
    | "onServerLog"
    | "idleMs"
    | "maxMessageBytes"
    | "fetch"
    | "open"
    | "signIn"
    | "providerToken"
  > {
  readonly env: NodeJS.ProcessEnv;
  readonly homedir: string;
  /** Absolute folder for what outlives the process. */
  readonly stateDir: string;
  readonly files: ConfigurationFiles;
  readonly table: ToolTable;
  /** What loading the artifacts had to say. */
  readonly diagnostics: readonly Diagnostic[];
  readonly onNotice: (notice: Diagnostic) => void;
  readonly trace?: TraceSink | undefined;
  readonly states: ServerStates;
}

export interface Live {
  readonly connections: Connections;
  readonly drift: DriftWatch;
  readonly resources: Resources;
  readonly skills: Skills;
  readonly gate: Gate;
  readonly tasks: Tasks;
  call(entry: ToolEntry, args: unknown, options?: EntryCallOptions): Promise<InterpretedResult>;
  prepare(entry: ToolEntry): Promise<void>;
  /** Ends every connection and what it started; tasks stay on disk. */
  close(): Promise<void>;
}

function hearServerLog(connection: Connection, onServerLog: LiveOptions["onServerLog"]): () => void {
  if (onServerLog === undefined) return () => undefined;
  return connection.onNotification((method, params) => {
    if (method === "notifications/message") onServerLog(connection.server, connection.redact(params, "secrets").value);
  });
}

export function openLive(options: LiveOptions): Live {
  const { table, onNotice, handlers = {} } = options;
  const gate = new Gate(table, options.diagnostics);
  const capabilities = capabilitiesOf(handlers);
  const drift = new DriftWatch(table, onNotice, capabilities, (server, failure) =>
    connections.failed(server, "tools/list", failure),
  );
  // People are asked without the credentials that a server was given and repeats.
  const answer = (question: Question) =>
    answerQuestion(handlers, { ...question, params: connections.discreet(question.server)(question.params) });
  const connections: Connections = new Connections({
    ...options,
    capabilities,
    answer,
    onOpen: (connection) => {
      hearCompletions(connection, handlers);
      calls.notices.opened(connection);
      const stops = [hearServerLog(connection, options.onServerLog), drift.watch(connection)];
      return () => {
        for (const stop of stops) stop();
      };
    },
  });
  const calls = new TaskCalls({ ...options, connections, capabilities, answer });
  const context: CallContext = {
    table,
    connections,
    drift,
    tasks: calls,
    onNotice,
    onDrift: () => options.onDrift ?? connections.onDrift(),
  };
  return {
    connections,
    drift,
    resources: new Resources(table, gate, connections),
    skills: new Skills(gate, connections),
    gate,
    tasks: new Tasks({ table, connections, calls, onNotice }),
    call: (entry, args, callOptions) => callTool(context, entry, args, callOptions),
    prepare: (entry) => readyForCall(context, entry),
    async close() {
      await calls.close();
      await connections.close();
    },
  };
}
