/**
 * `pimcp run`: a script from a file or standard input, checked before it acts. What it shows goes to stdout; its console, its fate and
 * its errors go to stderr. An interrupt ends the script and cancels its calls.
 */
import { resolve } from "node:path";
import { loadConfiguration } from "../runtime/connect/configuration.ts";
import { createOutputStore } from "../runtime/limits/output-store.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { layOut, type ShownRun, showRun } from "../runtime/sandbox/output.ts";
import { codeFrame } from "../runtime/sandbox/place.ts";
import { runtimeHost } from "../runtime/sandbox/runtime-host.ts";
import {
  createSandbox,
  type PreparedScript,
  type RunError,
  type RunOptions,
  type RunResult,
} from "../runtime/sandbox/sandbox.ts";
import {
  createScriptChecker,
  forbidsRunning,
  type ScriptChecker,
  type ScriptFinding,
  type TypecheckMode,
} from "../runtime/sandbox/script-checker.ts";
import type { Invocation } from "./commands.ts";
import { configurationOptions } from "./compile-command.ts";
import { fail } from "./fail.ts";
import { EXIT, type Io, interruptedExit } from "./io.ts";
import { paint, printable, verbatim } from "./print.ts";
import { readScript, readStore, writeStore } from "./run-files.ts";
import { withRuntime } from "./with-runtime.ts";

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags, operands } = invocation;
  const timeoutMs = flags["timeout"] === undefined ? undefined : Number(flags["timeout"]);
  if (timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && timeoutMs > 0)) {
    return fail("run", invocation, io, "--timeout is a positive whole number of milliseconds", EXIT.usage);
  }
  const script = await readScript(operands[0]!, io.cwd);
  if (!script.ok) return fail("run", invocation, io, script.message, EXIT.usage);
  const storeFile = typeof flags["store"] === "string" ? resolve(io.cwd, flags["store"]) : undefined;
  const stored = await readStore(storeFile);
  if (!stored.ok) return fail("run", invocation, io, stored.message, EXIT.usage);
  const checker = createScriptChecker();
  const typecheck = await typecheckMode(invocation, io);
  // Its thread loads while the rest is read; what names no tool mostly needs none.
  if (typecheck !== "off" && script.text.includes("tools")) checker.warm();
  const code = withRuntime("run", invocation, io, async (runtime) => {
    const result = await runScript(runtime, { checker, typecheck }, script.text, io, {
      signal: io.signal,
      file: script.name,
      store: stored.value,
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    const failure =
      result.ok && storeFile !== undefined ? await writeStore(storeFile, stored.value, result.storeWrites) : undefined;
    const shown = await showRun(result, { store: createOutputStore() });
    if (flags["json"]) io.out(`${JSON.stringify(jsonOf(result, shown))}\n`);
    else print(result, shown, io);
    if (failure !== undefined) io.err(`pimcp run: ${printable(failure)}\n`);
    if (io.signal.aborted) return interruptedExit(io.signal);
    return result.ok && failure === undefined ? EXIT.ok : EXIT.reported;
  });
  return code.finally(() => checker.close());
}

async function runScript(
  runtime: Runtime,
  { checker, typecheck: mode }: { readonly checker: ScriptChecker; readonly typecheck: TypecheckMode },
  source: string,
  io: Io,
  options: RunOptions,
): Promise<RunResult> {
  const { renderDescription } = await import("../compiler/render/declaration.ts");
  const sandbox = createSandbox(runtimeHost(runtime, { declare: renderDescription }));
  // Asked for once, while the script's thread starts.
  const prepare = async (code: string): Promise<PreparedScript> => {
    const { js, findings } = await checker.checkScript({ source: code, table: runtime.table, mode, signal: io.signal });
    for (const finding of findings) io.err(findingText(finding, code, options.file!, io));
    if (!forbidsRunning(findings, mode)) return { ok: true, js };
    return { ok: false, error: checkError(findings) };
  };
  try {
    return await sandbox.run(source, { ...options, prepare });
  } finally {
    await sandbox.close();
  }
}

/** `--no-typecheck`, else what the configuration says; what is wrong with that is told when a server is connected. */
async function typecheckMode(invocation: Invocation, io: Io): Promise<TypecheckMode> {
  if (invocation.flags["no-typecheck"] === true) return "off";
  const { value } = await loadConfiguration(configurationOptions(invocation, io));
  return value.typecheck ?? "error";
}

/** The first of the errors; all of them were told. */
function checkError(findings: readonly ScriptFinding[]): RunError {
  const errors = findings.filter(({ severity }) => severity === "error");
  const { kind, message, line, column } = errors[0]!;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return {
    kind: kind === "syntax" ? "syntax" : "types",
    name: kind === "syntax" ? "SyntaxError" : "TypeCheckError",
    message: `${message}${more}; nothing was run`,
    line,
    column,
  };
}

function findingText({ severity, message, line, column }: ScriptFinding, code: string, file: string, io: Io): string {
  const label = paint(io.errLook, severity === "error" ? "red" : "yellow", `${severity}:`);
  return `${printable(file)}:${line}:${column}: ${label} ${printable(message)}\n${verbatim(codeFrame(code, { line, column }), io.errLook)}\n`;
}

/** The run shape of DESIGN section 4. Images are named by their file; their data would drown the rest. */
function jsonOf(result: RunResult, shown: ShownRun): Record<string, unknown> {
  const { name, message, line, column, kind } = result.ok ? ({} as Partial<RunError>) : result.error;
  return {
    ok: result.ok,
    output: shown.items.map((item) => ({
      type: item.type,
      ...(item.type === "image" && item.path !== undefined ? {} : { text: item.text }),
      ...(item.path !== undefined && { path: item.path }),
    })),
    console: shown.console,
    ...(result.ok ? {} : { error: { name, message, kind, ...(line !== undefined && { line, column }) } }),
    calls: result.calls,
    durationMs: Math.round(result.durationMs),
  };
}

function print(result: RunResult, shown: ShownRun, io: Io): void {
  for (const part of layOut(shown.items, [])) io.out(`${verbatim(part, io.outLook)}\n`);
  for (const line of shown.console) io.err(`${verbatim(line, io.errLook)}\n`);
  const seconds = (result.durationMs / 1000).toFixed(1);
  const calls = result.calls.length === 1 ? "1 call" : `${result.calls.length} calls`;
  const head = result.ok ? paint(io.errLook, "green", "Script completed") : paint(io.errLook, "red", "Script failed");
  io.err(`${head} in ${seconds} s, ${calls}\n`);
  if (shown.error !== undefined) io.err(`${verbatim(shown.error, io.errLook)}\n`);
}
