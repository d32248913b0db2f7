/**
 * `pimcp call`: one call from a shell. Prints what a model would read of the result, or with `--json` the complete
 * `CallToolResult`; images and other binary content are saved where they are asked for.
 */
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseKeyValues } from "../../runtime/calls/key-values.ts";
import type { CallToolResult } from "../../runtime/codegen/result.ts";
import { extensionFor } from "../../runtime/limits/mime.ts";
import { createOutputStore } from "../../runtime/limits/output-store.ts";
import { limitResult } from "../../runtime/limits/result.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { findTarget } from "../../schemas/artifacts/target.ts";
import type { ToolEntry } from "../../schemas/artifacts/tool-table.ts";
import type { Invocation } from "./commands.ts";
import { EXIT, type Io } from "./io.ts";
import { printable } from "./print.ts";
import { withRuntime } from "./with-runtime.ts";

export async function run(invocation: Invocation, io: Io): Promise<number> {
  return withRuntime("call", invocation, io, async (runtime) => {
    const target = findTool(runtime, invocation.operands);
    if (typeof target === "string") return fail(io, invocation, target, EXIT.reported);
    const { entry, words } = target;
    const definition = runtime.table.definition(entry.name);
    const schema = definition.ok ? definition.value?.inputSchema : undefined;
    const args = readArguments(invocation, words, schema, io);
    if (!args.ok) return fail(io, invocation, args.message, EXIT.usage);
    const timeoutMs = secondsFlag(invocation);
    if (Number.isNaN(timeoutMs)) return fail(io, invocation, "--timeout is a positive number of seconds", EXIT.usage);
    const { result } = await runtime.callEntry(entry, args.value, {
      signal: io.signal,
      ...(timeoutMs !== undefined && { timeoutMs }),
      onProgress: (progress) => showProgress(io, progress),
    });
    if (io.interactive) io.err("\r\u001b[2K");
    await print(result, entry, invocation, io);
    return result.isError ? EXIT.reported : EXIT.ok;
  });
}

/** `mcp__server__tool …`, `server/tool …`, or `SERVER TOOL …`; the words that follow are arguments. */
function findTool(
  runtime: Runtime,
  operands: readonly string[],
): { entry: ToolEntry; words: readonly string[] } | string {
  const [first, second, ...rest] = operands;
  const direct = runtime.table.byName(first!);
  if (direct) return { entry: direct, words: operands.slice(1) };
  if (second !== undefined && !second.includes("=")) {
    const server = findTarget(runtime.table, first!);
    if (server.ok && server.value.kind === "server") {
      const entry = runtime.table.byTool(server.value.server.name, second) ?? runtime.table.byName(second);
      if (entry?.server === server.value.server.name) return { entry, words: rest };
      const missing = findTarget(runtime.table, `${server.value.server.name}/${second}`);
      return missing.ok ? `there is no tool "${second}"` : missing.diagnostic.message;
    }
  }
  const found = findTarget(runtime.table, first!);
  if (!found.ok) return found.diagnostic.message;
  if (found.value.kind === "tool") return { entry: found.value.tool, words: operands.slice(1) };
  return `which tool of "${found.value.server.name}"? \`pimcp list ${found.value.server.name}\` names them`;
}

type Arguments = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };

/** `--args` and `key=value` words together: a word replaces a key of `--args`. */
function readArguments({ flags }: Invocation, words: readonly string[], schema: unknown, io: Io): Arguments {
  const source = flags["args"];
  const json = typeof source === "string" ? readJson(source, io) : { ok: true as const, value: undefined };
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
function readJson(source: string, io: Io): Arguments {
  const place = source === "-" ? "standard input" : source.startsWith("@") ? source.slice(1) : "--args";
  let text = source;
  try {
    if (source === "-") text = readFileSync(0, "utf8");
    else if (source.startsWith("@")) text = readFileSync(resolve(io.cwd, source.slice(1)), "utf8");
  } catch (error) {
    return { ok: false, message: `${place} can't be read (${(error as NodeJS.ErrnoException).code})` };
  }
  try {
    return { ok: true, value: JSON.parse(text.replace(/^\ufeff/, "")) };
  } catch (error) {
    return { ok: false, message: `${place} is not JSON: ${printable((error as Error).message)}` };
  }
}

/** Milliseconds; NaN where the flag is no positive number. */
function secondsFlag({ flags }: Invocation): number | undefined {
  if (flags["timeout"] === undefined) return undefined;
  const seconds = Number(flags["timeout"]);
  return seconds > 0 ? seconds * 1000 : Number.NaN;
}

function showProgress(
  io: Io,
  { progress, total, message }: { progress: number; total?: number; message?: string },
): void {
  if (!io.interactive) return;
  const count = total === undefined ? String(progress) : `${progress}/${total}`;
  const text = printable(`${count}${message === undefined ? "" : ` ${message}`}`);
  io.err(`\r\u001b[2K${text.slice(0, io.errLook.width - 1)}`);
}

async function print(result: CallToolResult, entry: ToolEntry, { flags }: Invocation, io: Io): Promise<void> {
  const saved = typeof flags["out"] === "string" ? await saveBinaries(result, resolve(io.cwd, flags["out"])) : [];
  for (const path of saved) io.err(`saved ${path}\n`);
  if (flags["json"]) {
    io.out(`${JSON.stringify(result)}\n`);
    return;
  }
  const limited = await limitResult(result, {
    maxBytes: entry.maxOutputBytes,
    server: entry.server,
    tool: entry.tool,
    store: createOutputStore(),
  });
  for (const block of limited.content) {
    io.out(block.type === "text" ? `${block.text}\n` : `[${block.mimeType} image; --out DIR saves it]\n`);
  }
}

/** Writes images, audio and binary resources as `1.png`, `2.pdf`, …: no name of a server's becomes a path. */
async function saveBinaries({ content }: CallToolResult, folder: string): Promise<string[]> {
  const saved: string[] = [];
  for (const block of content) {
    const [data, type] =
      block.type === "image" || block.type === "audio"
        ? [block.data, block.mimeType]
        : block.type === "resource"
          ? [block.resource.blob, block.resource.mimeType]
          : [];
    if (data === undefined) continue;
    await mkdir(folder, { recursive: true });
    const path = join(folder, `${saved.length + 1}${extensionFor(type)}`);
    await writeFile(path, Buffer.from(data, "base64"));
    saved.push(path);
  }
  return saved;
}

function fail(io: Io, { flags }: Invocation, message: string, code: number): number {
  if (flags["json"]) io.out(`${JSON.stringify({ error: { message } })}\n`);
  io.err(`pimcp call: ${printable(message)}\n`);
  return code;
}
