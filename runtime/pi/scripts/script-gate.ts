/**
 * One script, before Pi's codemode tool runs it: its types are checked and then taken away, and what can't be right is refused
 * with the places of its errors. Where nothing can check (no compiler, a lost or a slow thread) the script runs unchecked, and
 * the user is told once. Never runs anything itself. Loaded with a session's first script.
 */
import { createScriptChecker, forbidsRunning, type ScriptFinding } from "../../sandbox/script-checker.ts";
import { parseSource, type SourceOptions } from "../../sandbox/source.ts";
import { typecheckMode } from "../rare-settings.ts";
import type { PiSession } from "../session.ts";
import { refusal, remarks } from "./script-findings.ts";
import { hostDeclarations, type OutputSchemaOf, scriptTools } from "./script-tools.ts";

export type Verdict =
  /** `code`: what to run in its place. `remarks`: what the model should know of it. `servers`: whose tools it names. */
  | { readonly runs: true; readonly code?: string; readonly remarks?: string; readonly servers: readonly string[] }
  | { readonly runs: false; readonly reason: string };

export interface GateOptions {
  /** Of tools that aren't compiled; without it their results are `any`. */
  readonly outputSchemaOf?: OutputSchemaOf;
  /** Scripts get results without `structured`. */
  readonly plainResults: boolean;
}

export interface ScriptGate {
  /** Starts what checks, while the model still writes. */
  warm(): Promise<void>;
  /** Rejects only with the signal's reason. */
  judge(code: string, options: GateOptions, signal?: AbortSignal): Promise<Verdict>;
  /** A tool's declaration in full; undefined where nothing can write it. */
  declare: ReturnType<typeof createScriptChecker>["declare"];
}

/** Milliseconds that the check of a script may take, a cold start included. */
const DEADLINE_MS = 20_000;
const gates = new WeakMap<PiSession, ScriptGate>();

/** The gate of a session; it ends with the session. */
export function gateOf(session: PiSession): ScriptGate {
  const known = gates.get(session) ?? openGate(session);
  gates.set(session, known);
  return known;
}

function openGate(session: PiSession): ScriptGate {
  const checker = createScriptChecker({ timeoutMs: DEADLINE_MS });
  session.signal.addEventListener("abort", () => void checker.close(), { once: true });
  return {
    warm: async () => {
      if ((await typecheckMode(session.files)) !== "off" && !session.signal.aborted) checker.warm();
    },
    declare: (tool) => checker.declare(tool),
    async judge(code, options, signal) {
      const mode = await typecheckMode(session.files);
      const parsed = parseSource(code);
      if (!parsed.ok) {
        // With checking off, whoever runs it says what is wrong.
        if (mode === "off") return { runs: true, servers: [] };
        return { runs: false, reason: `Script not run: line ${parsed.line}: ${parsed.message}` };
      }
      const { table, pi } = session;
      const host = hostDeclarations(pi, table, parsed.code, options);
      const script = { source: parsed.code, table, mode, host, ...(signal && { signal }) };
      const { js, findings, checked, absent } = await checker.checkScript(script);
      if (mode !== "off" && forbidsRunning(findings, mode)) {
        return { runs: false, reason: refusal(findings, parsed.code) };
      }
      if (absent) session.tell("Scripts run without a check of their types: the compiler is not installed.", "warning");
      const told = checked ? findings : reasonsOnly(findings, session);
      // Types are gone, or it came in a code fence or as JSON.
      const isChanged = js !== parsed.code || !code.endsWith(parsed.code);
      return {
        runs: true,
        servers: namedServers(session, parsed.code),
        ...(isChanged && { code: withOptions(js, parsed.options) }),
        ...(told.length > 0 && mode !== "off" && { remarks: remarks(told, parsed.code) }),
      };
    },
  };
}

/** Servers of the tools that a script names and may call. */
function namedServers({ pi, table }: PiSession, code: string): readonly string[] {
  const entries = [...new Set(code.match(/[\w$]+/g))].flatMap((word) => table.byName(word) ?? []);
  if (entries.length === 0) return [];
  const callable = scriptTools(pi, table);
  return [...new Set(entries.flatMap(({ name, server }) => (callable.get(name)?.isCompiled ? [server] : [])))];
}

/** Why nothing was checked is for the user; the model can't change it. */
function reasonsOnly(findings: readonly ScriptFinding[], session: PiSession): readonly ScriptFinding[] {
  for (const { kind, message } of findings) if (kind === "types") session.tell(`Scripts: ${message}.`, "warning");
  return [];
}

/** The options line stands on the first line, which `parseSource` left empty for it. */
function withOptions(js: string, { maxOutputTokens, timeoutMs }: SourceOptions): string {
  if (maxOutputTokens === undefined && timeoutMs === undefined) return js;
  const options = { max_output_tokens: maxOutputTokens, timeout_ms: timeoutMs };
  return `// @options: ${JSON.stringify(options)}${js}`;
}
