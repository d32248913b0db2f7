/**
 * Reads a script before it runs: erases its types, and checks it against the declarations of the tools it names. Both are work for a
 * thread of its own (checker-thread.ts). Where the compiler isn't installed, or checking is off, a script is
 * only stripped; JavaScript with checking off starts no thread. Nothing of a script is ever executed here.
 */
import type { ToolTable } from "../../schemas/artifacts/tool-table.ts";
import { plainToolName } from "../../schemas/names.ts";
import { nearest } from "../../schemas/nearest.ts";
import type { CheckedTool, CheckFinding, ScriptFinding, TypecheckMode } from "../../schemas/script-finding.ts";
import { CheckerThread, type Gone } from "./checker-thread.ts";
import type { DeclareRequest, WorkerRequest } from "./checker-worker.ts";
import { isPlainJavaScript, notChecked, stripTypes } from "./strip-types.ts";

export type { ScriptFinding, TypecheckMode } from "../../schemas/script-finding.ts";

/** What a host adds to scripts beyond pimcp's globals and MCP tools; trusted text. */
export interface HostDeclarations {
  /** Members of `tools` by name, as in `bash(args: {command: string}): Promise<string>;`. */
  readonly tools?: ReadonlyMap<string, string>;
  /** More members, by their schemas; untrusted. Where the table has one of that name too, the host's counts. */
  readonly schemas?: ReadonlyMap<string, CheckedTool>;
  /** Statements, as in `declare const models: { … };`. */
  readonly globals?: string;
  /** Results of the table's tools come without pimcp's `structured`. */
  readonly plainResults?: boolean;
}

export interface ScriptToCheck {
  /** Body of an async function, JavaScript or TypeScript. */
  readonly source: string;
  readonly table: ToolTable;
  /** Default "error". Only "off" spares the work; what "warn" changes is whether the caller goes on. */
  readonly mode?: TypecheckMode;
  readonly host?: HostDeclarations;
  readonly signal?: AbortSignal;
}

export interface CheckedScript {
  /** The script without types, every character at its line and column. The source itself when it doesn't parse. */
  readonly js: string;
  /** In the order of the script; the same script gives the same findings. */
  readonly findings: readonly ScriptFinding[];
  /** Whether types were checked; false when off, where no checker is installed, and for JavaScript without `tools`. */
  readonly checked: boolean;
  /** Types were to be checked, and no compiler is installed to do it. */
  readonly absent?: true;
}

export interface ScriptChecker {
  /** Starts the thread, so that it loads while something else is read. */
  warm(): void;
  /** Rejects only with the signal's reason. */
  checkScript(script: ScriptToCheck): Promise<CheckedScript>;
  /** A tool's declaration in full; undefined where nothing can write it. Never rejects. */
  declare(tool: DeclareRequest["declare"]): Promise<string | undefined>;
  /** Ends the thread. A script checked later starts a new one. */
  close(): Promise<void>;
}

export interface ScriptCheckerOptions {
  /** Milliseconds after which a script counts as not checkable, loading included, others' scripts not; default 30,000. */
  readonly timeoutMs?: number;
  /** Milliseconds without a script after which the thread and its memory are given back; default 5 minutes, 0 never. */
  readonly idleMs?: number;
}

/** Whether findings keep a script from running: syntax errors always, type errors unless the mode only warns. */
export function forbidsRunning(findings: readonly ScriptFinding[], mode: TypecheckMode): boolean {
  return findings.some(({ severity, kind }) => severity === "error" && (kind === "syntax" || mode === "error"));
}

/** Never more than one thread at a time; scripts wait for each other, and one that takes too long costs only its own check. */
export function createScriptChecker(options: ScriptCheckerOptions = {}): ScriptChecker {
  const timeoutMs = options.timeoutMs ?? 30_000;
  const thread = new CheckerThread(timeoutMs, options.idleMs ?? 300_000);
  return {
    warm: () => thread.warm(),
    checkScript: (script) => checkScript(thread, timeoutMs, script),
    async declare(tool) {
      const reply = await thread.ask({ declare: asJson(tool) });
      return typeof reply === "string" ? undefined : reply.declaration;
    },
    close: () => thread.close(),
  };
}

const DECLARED = /\bdeclare\s+(?:const|let|var|function|class)\s+([\w$]+)/g;
const WORDS = /[A-Za-z_$][\w$]*/g;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

async function checkScript(
  thread: CheckerThread,
  timeoutMs: number,
  { source, table, mode = "error", host, signal }: ScriptToCheck,
): Promise<CheckedScript> {
  signal?.throwIfAborted();
  const plain = isPlainJavaScript(source);
  const words = new Set(source.match(WORDS));
  const isChecked = mode !== "off" && !(plain && isHarmless(words, host));
  if (plain && !isChecked) return { js: source, findings: [], checked: false };
  const check = isChecked ? declarationsFor(source, words, table, host) : undefined;
  const reply = await thread.ask({ source, plain, check }, signal);
  if (typeof reply === "string") return withoutThread(source, plain, reply, timeoutMs);
  const { js, findings, checked, absent } = reply;
  const named = findings.map((finding) => withName(finding, table, host));
  return { js, findings: named, checked, ...(isChecked && absent && { absent }) };
}

/**
 * JavaScript that mentions neither `tools` nor a global of the host's can do nothing that would have to be prevented, so it isn't kept
 * waiting: its own errors tell as much.
 */
function isHarmless(words: ReadonlySet<string>, host: HostDeclarations | undefined): boolean {
  if (words.has("tools") || words.has("globalThis") || words.has("eval")) return false;
  return ![...(host?.globals ?? "").matchAll(DECLARED)].some(([, name]) => words.has(name!));
}

/** The tools whose names the script has words for: three of three thousand cost three declarations. */
function declarationsFor(
  source: string,
  words: ReadonlySet<string>,
  table: ToolTable,
  host: HostDeclarations = {},
): WorkerRequest["check"] {
  const tools: CheckedTool[] = [];
  const hostTools: string[] = [];
  // A name in brackets need not be a word.
  const quoted = [...(host.schemas?.keys() ?? [])].filter((name) => !IDENTIFIER.test(name) && source.includes(name));
  for (const name of [...words, ...quoted].sort()) {
    const [member, schemas] = [host.tools?.get(name), host.schemas?.get(name)];
    if (member !== undefined) hostTools.push(member);
    else if (schemas !== undefined) tools.push(asJson(schemas));
    else if (table.byName(name) !== undefined) tools.push(checkedTool(name, table));
  }
  const { globals = "", plainResults = false } = host;
  return { tools, hostTools: hostTools.join("\n"), hostGlobals: globals, plainResults };
}

/** A host's schemas may hold what no thread can be sent; one that isn't JSON at all says nothing. */
function asJson<T extends CheckedTool>(tool: T): T | CheckedTool {
  try {
    return JSON.parse(JSON.stringify(tool)) as T;
  } catch {
    return { name: tool.name, resolvesTo: "value" };
  }
}

/** A tool whose definition can't be read takes anything: the call will say why. */
function checkedTool(name: string, table: ToolTable): CheckedTool {
  const definition = table.definition(name);
  if (!definition.ok || definition.value === undefined) return { name };
  const { inputSchema, outputSchema } = definition.value;
  return { name, inputSchema, ...(outputSchema !== undefined && { outputSchema }) };
}

/** Finds the tool that was meant, also where it was written as `tools.github.create_issue`. */
function withName(finding: CheckFinding, table: ToolTable, host: HostDeclarations | undefined): ScriptFinding {
  const { unknownTool, ...plain } = finding;
  if (unknownTool === undefined) return plain;
  const { name, member } = unknownTool;
  const composed = member === undefined ? [] : [`${name}__${member}`, plainToolName({ server: name, tool: member })];
  const whole = composed.find((one) => table.byName(one) !== undefined);
  const hostNames = [...(host?.tools?.keys() ?? []), ...(host?.schemas?.keys() ?? [])];
  const names = [...table.tools().map((tool) => tool.name), ...hostNames];
  const suggestion = whole ?? nearest(name, names);
  if (suggestion === undefined) {
    return { ...plain, message: `${plain.message}; searchTools(query) finds tools by what they do` };
  }
  return { ...plain, message: `${plain.message}; did you mean "${suggestion}"?`, suggestion };
}

/** What is left without the thread: the script is stripped where we are, and told that it wasn't checked. */
async function withoutThread(source: string, plain: boolean, why: Gone, timeoutMs: number): Promise<CheckedScript> {
  const reason = why === "late" ? `it took longer than ${timeoutMs} ms` : "the thread for it ended";
  const told = notChecked(reason);
  const stripped = await stripTypes(source, plain);
  return stripped.ok
    ? { js: stripped.js, findings: [told], checked: false }
    : { js: source, findings: [stripped.finding, told], checked: false };
}
