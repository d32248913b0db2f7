/**
 * Reads the configuration files of a run; what they mean is decided in `schemas/config/`. With
 * configuration-files.ts this is the only reader of configuration, for both halves. A file that can't be read is
 * reported and the others still count; nothing is written and nothing in a file is expanded.
 */
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type LayerFile, layerConfiguration } from "../../schemas/config/layers.ts";
import type { Configuration } from "../../schemas/config/server-config.ts";
import { type Diagnostic, diagnostic, type Outcome } from "../../schemas/diagnostic.ts";
import {
  type CandidateFile,
  type ConfigurationFiles,
  exists,
  type LocateOptions,
  locateConfiguration,
} from "./configuration-files.ts";

export interface LoadOptions extends LocateOptions {
  /** `--out`: the project's output folder, anywhere; relative to `cwd`. */
  readonly out?: string | undefined;
}

/** Bigger than any configuration: a mistaken path should not be read into memory. */
const LARGEST_FILE_BYTES = 8 * 1024 * 1024;

/** Reads and layers the files that were located, or that `options` locate. */
export async function loadConfiguration(options: LoadOptions | ConfigurationFiles): Promise<Outcome<Configuration>> {
  const located = "candidates" in options ? options : await locateConfiguration(options);
  const { candidates, projectDir, agentDir, sessionDir, defaultOut, isNamed } = located;
  const read = await Promise.all(candidates.map(readLayer));
  const diagnostics = read.flatMap((one) => one.diagnostics);
  const files = read.map((one) => one.file);
  const named = isNamed ? files[0] : undefined;
  const isMissing = named !== undefined && named.text === undefined && !named.unreadable;
  if (isMissing) diagnostics.push(notFound(named.display));
  const { value, diagnostics: found } = layerConfiguration({
    files: isMissing ? [{ ...named, unreadable: true }] : files,
    projectDir,
    agentDir,
    sessionDir,
    defaultOut,
    ...("out" in options && options.out !== undefined && { out: resolve(sessionDir, options.out) }),
  });
  return { value, diagnostics: [...diagnostics, ...found] };
}

function notFound(file: string): Diagnostic {
  const notes = ["--config names a file relative to the working folder; pimcp init writes a starter mcp.json"];
  return diagnostic("config-not-found", `there is no file ${file}`, { file, notes });
}

interface ReadFile {
  readonly file: LayerFile;
  readonly diagnostics: readonly Diagnostic[];
}

async function readLayer(candidate: CandidateFile): Promise<ReadFile> {
  const { path, display } = candidate;
  const readable = (text: string | undefined): ReadFile => ({ file: { ...candidate, text }, diagnostics: [] });
  const unreadable = (why: string, remedy: string): ReadFile => {
    const notes = [remedy, "until then the servers of its scope stay as they were compiled"];
    return {
      file: { ...candidate, text: undefined, unreadable: true },
      diagnostics: [diagnostic("config-unreadable", `cannot read ${display}: ${why}`, { file: display, notes })],
    };
  };
  if (candidate.text !== undefined) return readable(candidate.text);
  try {
    const info = await stat(path);
    if (!info.isFile()) return unreadable(`it is ${info.isDirectory() ? "a folder" : "not a file"}`, "move it away");
    if (info.size > LARGEST_FILE_BYTES) return unreadable("it has more than 8 MB", "is this the right file?");
    const bytes = await readFile(path);
    const text = decodeUtf8(bytes);
    return text === undefined ? unreadable("it is not UTF-8 text", "save it as UTF-8") : readable(text);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined) throw error;
    const absent = code === "ENOTDIR" || (code === "ENOENT" && !(await exists(path)));
    if (absent) return readable(undefined);
    return code === "ENOENT"
      ? unreadable("it is a symbolic link to a file that does not exist", "correct or remove the link")
      : unreadable(READ_FAILURES.get(code) ?? code, "check the file's permissions and its folder's");
  }
}

const READ_FAILURES = new Map([
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["ELOOP", "its symbolic links form a circle"],
  ["EIO", "the disk reports an error"],
]);

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined; // the one way `fatal` reports bytes that are not UTF-8
    throw error;
  }
}
