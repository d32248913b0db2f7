/**
 * `pimcp call`: one call from a shell. Prints what a model would read of the result, or with `--json` the complete
 * `CallToolResult`; images and other binary content are saved where they are asked for.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { parseKeyValues } from "../runtime/calls/key-values.ts";
import type { CallToolResult, ContentBlock } from "../runtime/codegen/result.ts";
import type { CallOptions } from "../runtime/codegen/v1.ts";
import { extensionFor } from "../runtime/limits/mime.ts";
import { createOutputStore } from "../runtime/limits/output-store.ts";
import { limitResult } from "../runtime/limits/result.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { findTarget, unknownServer } from "../schemas/artifacts/target.ts";
import type { ToolEntry } from "../schemas/artifacts/tool-table.ts";
import { terminalTaken, whenTerminalFree } from "./asking/terminal-queue.ts";
import { cut } from "./columns.ts";
import type { Invocation } from "./commands.ts";
import { fail } from "./fail.ts";
import { EXIT, type Io } from "./io.ts";
import { printable, verbatim } from "./print.ts";
import { NO_SECONDS, secondsFlag } from "./seconds.ts";
import { withRuntime } from "./with-runtime.ts";

export async function run(invocation: Invocation, io: Io): Promise<number> {
  return withRuntime("call", invocation, io, async (runtime) => {
    const target = findTool(runtime, invocation.operands);
    if (typeof target === "string") return fail("call", invocation, io, target, EXIT.reported);
    const { entry, words } = target;
    const definition = runtime.table.definition(entry.name);
    const schema = definition.ok ? definition.value?.inputSchema : undefined;
    const args = await readArguments(invocation, words, schema, io);
    if (!args.ok) return fail("call", invocation, io, args.message, EXIT.usage);
    const timeoutMs = secondsFlag(invocation);
    if (Number.isNaN(timeoutMs)) return fail("call", invocation, io, NO_SECONDS, EXIT.usage);
    // Of a call that became a task: only once its result is out may the task be forgotten.
    let forget: (() => Promise<void>) | undefined;
    const { result } = await withProgress(io, (onProgress, onTask) =>
      runtime.callEntry(entry, args.value, {
        signal: io.signal,
        ...(timeoutMs !== undefined && { timeoutMs }),
        onProgress,
        onTask,
        onTaskResult: (later) => {
          forget = later;
        },
      }),
    );
    const code = await deliver(result, entry, invocation, io);
    await forget?.();
    return code;
  });
}

/** Saves and prints a result; the exit code says whether all of it went well. */
export async function deliver(
  result: CallToolResult,
  tool: Pick<ToolEntry, "server" | "tool" | "maxOutputBytes">,
  invocation: Invocation,
  io: Io,
): Promise<number> {
  const isSaved = await saveBinaries(result, invocation, io);
  const isPrinted = await print(result, tool, invocation, io);
  return result.isError || !isSaved || !isPrinted ? EXIT.reported : EXIT.ok;
}

const QUIET_MS = 1000;
/** Characters of a progress message that are looked at: wider than any terminal. */
const MAX_PROGRESS = 1000;
/** Takes away what a terminal's present line has. */
const WIPE = "\r\u001b[2K";

/** Runs `use` and shows how far it is. A task that takes longer than a moment is named, for who wants to leave it. */
export async function withProgress<T>(
  io: Io,
  use: (
    onProgress: NonNullable<CallOptions["onProgress"]>,
    onTask: (task: { readonly taskId: string }) => void,
  ) => Promise<T>,
): Promise<T> {
  let shown = false;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await use(
      (progress) => {
        shown ||= io.interactive;
        showProgress(io, progress);
      },
      ({ taskId }) => {
        const tell = () => io.err(`${shown ? WIPE : ""}waiting for task ${printable(taskId)}\n`);
        timer = setTimeout(() => whenTerminalFree(tell), QUIET_MS);
      },
    );
  } finally {
    clearTimeout(timer);
    if (shown) io.err(WIPE);
  }
}

/** `mcp__server__tool …`, `server/tool …`, or `SERVER TOOL …`; the words that follow are arguments. */
function findTool(
  runtime: Runtime,
  operands: readonly string[],
): { entry: ToolEntry; words: readonly string[] } | string {
  const [first, second, ...rest] = operands;
  const direct = runtime.table.byName(first!);
  if (direct) return { entry: direct, words: operands.slice(1) };
  // By its very name or namespace: `a_b` must never mean `a-b`, which may be another server altogether.
  const server = runtime.table.servers().find((one) => one.name === first || one.namespace === first);
  if (server && runtime.table.isReachable(server)) {
    const { name } = server;
    if (second === undefined || second.includes("="))
      return `which tool of "${name}"? \`pimcp list ${name}\` names them`;
    const entry = runtime.table.byTool(name, second) ?? runtime.table.byName(second);
    if (entry?.server === name) return { entry, words: rest };
    const missing = findTarget(runtime.table, `${name}/${second}`);
    return missing.ok ? `server "${name}" has no tool "${second}"` : missing.diagnostic.message;
  }
  const found = findTarget(runtime.table, first!);
  if (found.ok && found.value.kind === "tool") return { entry: found.value.tool, words: operands.slice(1) };
  if (second === undefined || second.includes("=")) {
    return found.ok ? `there is no tool "${first}"` : found.diagnostic.message;
  }
  const names = runtime.table.servers().flatMap((one) => (runtime.table.isReachable(one) ? [one.name] : []));
  return unknownServer(names, first!, "compiled server").message;
}

type Arguments = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };

/** `--args` and `key=value` words together: a word replaces a key of `--args`. */
async function readArguments(
  { flags }: Invocation,
  words: readonly string[],
  schema: unknown,
  io: Io,
): Promise<Arguments> {
  const source = flags["args"];
  const json = typeof source === "string" ? await readJson(source, io) : { ok: true as const, value: undefined };
  if (!json.ok || words.length === 0) return json.ok ? { ok: true, value: json.value ?? {} } : json;
  const parsed = parseKeyValues([...words], schema);
  if (!parsed.ok) return { ok: false, message: parsed.message };
  if (json.value === undefined) return { ok: true, value: parsed.args };
  if (typeof json.value !== "object" || json.value === null || Array.isArray(json.value)) {
    return { ok: false, message: "key=value can be added to an object only, and --args is none" };
  }
  return { ok: true, value: { ...json.value, ...parsed.args } };
}

/** `JSON`, `@file` or `-` for standard input. */
async function readJson(source: string, io: Io): Promise<Arguments> {
  const place = source === "-" ? "standard input" : source.startsWith("@") ? source.slice(1) : "--args";
  let text = source;
  try {
    if (source === "-") text = await readAll(process.stdin);
    else if (source.startsWith("@")) text = await readFile(resolve(io.cwd, source.slice(1)), "utf8");
  } catch (error) {
    return { ok: false, message: `${place} can't be read (${(error as NodeJS.ErrnoException).code})` };
  }
  try {
    return { ok: true, value: JSON.parse(text.replace(/^\ufeff/, "")) };
  } catch (error) {
    return { ok: false, message: `${place} is not JSON: ${printable((error as Error).message)}` };
  }
}

function showProgress(
  io: Io,
  { progress, total, message }: { progress: number; total?: number; message?: string },
): void {
  if (!io.interactive || terminalTaken()) return;
  const count = total === undefined ? String(progress) : `${progress}/${total}`;
  const text = printable(`${count}${message === undefined ? "" : ` ${message.slice(0, MAX_PROGRESS)}`}`);
  const room = io.errLook.width - 1;
  io.err(`${WIPE}${room > 0 ? cut(text, room) : ""}`);
}

/** False when there is no way to print it. */
async function print(
  result: CallToolResult,
  entry: Pick<ToolEntry, "server" | "tool" | "maxOutputBytes">,
  invocation: Invocation,
  io: Io,
): Promise<boolean> {
  if (invocation.flags["json"]) {
    const json = jsonOf(result);
    if (json === undefined)
      fail("call", invocation, io, "the result is nested too deeply to be printed as JSON", EXIT.reported);
    else io.out(`${json}\n`);
    return json !== undefined;
  }
  const limited = await limitResult(result, {
    maxBytes: entry.maxOutputBytes,
    server: entry.server,
    tool: entry.tool,
    store: createOutputStore(),
  });
  for (const block of limited.content) {
    io.out(
      block.type === "text"
        ? `${verbatim(block.text, io.outLook)}\n`
        : `[${printable(block.mimeType)} image; --out DIR saves it]\n`,
    );
  }
  return true;
}

function jsonOf(result: CallToolResult): string | undefined {
  try {
    return JSON.stringify(result);
  } catch (error) {
    // Nothing that came as JSON fails otherwise.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * With `--out`, writes images, audio and binary resources as `1.png`, `2.pdf`, …: no name of a server's becomes a path.
 * False when that failed.
 */
async function saveBinaries({ content }: CallToolResult, { flags }: Invocation, io: Io): Promise<boolean> {
  if (typeof flags["out"] !== "string") return true;
  const folder = resolve(io.cwd, flags["out"]);
  try {
    for (const [index, { data, type }] of content.flatMap(binariesOf).entries()) {
      await mkdir(folder, { recursive: true });
      const path = join(folder, `${index + 1}${extensionFor(type)}`);
      await writeFile(path, Buffer.from(data, "base64"));
      io.err(`saved ${path}\n`);
    }
    return true;
  } catch (error) {
    io.err(`pimcp call: can't write to ${printable(folder)} (${(error as NodeJS.ErrnoException).code ?? error})\n`);
    return false;
  }
}

/** `data` is base64. */
function binariesOf(block: ContentBlock): { readonly data: string; readonly type: string | undefined }[] {
  if (block.type === "image" || block.type === "audio") return [{ data: block.data, type: block.mimeType }];
  if (block.type !== "resource" || block.resource.blob === undefined) return [];
  return [{ data: block.resource.blob, type: block.resource.mimeType }];
}
