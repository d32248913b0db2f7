/** The files that `pimcp run` reads and writes: the script, and the values that outlive it. */
import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { writeWhole } from "../runtime/connect/whole-file.ts";

type Read<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly message: string };

/** A script and the name it has in messages; `-` is standard input. */
export async function readScript(operand: string, cwd: string): Promise<Read<{ text: string; name: string }>> {
  const name = operand === "-" ? "stdin" : basename(operand);
  try {
    const text = operand === "-" ? await readAll(process.stdin) : await readFile(resolve(cwd, operand), "utf8");
    return { ok: true, text, name };
  } catch (error) {
    return { ok: false, message: `${operand} can't be read (${codeOf(error)})` };
  }
}

/** What the last run left; nothing where there is no file yet. */
export async function readStore(path: string | undefined): Promise<Read<{ value: Record<string, unknown> }>> {
  if (path === undefined) return { ok: true, value: {} };
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return { ok: true, value: {} };
    return { ok: false, message: `the store ${path} can't be read (${codeOf(error)})` };
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ok: true, value: { ...value } };
  } catch {
    // Said below, in the same words as for JSON of another shape.
  }
  return { ok: false, message: `the store ${path} is not a JSON object; delete it, or name another file` };
}

/** Writes the store whole (0600), by rename. Gives what went wrong, if something did. */
export async function writeStore(
  path: string,
  before: Readonly<Record<string, unknown>>,
  writes: { readonly set: Readonly<Record<string, unknown>>; readonly delete: readonly string[] },
): Promise<string | undefined> {
  const values = new Map(Object.entries(before));
  for (const key of writes.delete) values.delete(key);
  for (const [key, value] of Object.entries(writes.set)) values.set(key, value);
  try {
    await writeWhole(path, `${JSON.stringify(Object.fromEntries(values), null, 2)}\n`);
    return undefined;
  } catch (error) {
    return `the store ${path} can't be written (${codeOf(error)})`;
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
