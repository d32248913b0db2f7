/**
 * Finds and reads the configuration files of a run; what they mean is decided in `schemas/config/`. This
 * is the compiler's only reader of configuration. A file that can't be read is reported and the others
 * still count; nothing is written and nothing in a file is expanded.
 */
import { lstat, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { LayerFile } from "../schemas/config/layers.ts";
import { layerConfiguration } from "../schemas/config/layers.ts";
import type { Configuration, Scope } from "../schemas/config/server-config.ts";
import { type Diagnostic, diagnostic, type Outcome } from "../schemas/diagnostic.ts";
import { expandHome } from "../schemas/expand.ts";

export interface LoadOptions {
  /** Absolute folder the command runs in. */
  readonly cwd: string;
  /** `--config`: this file alone, as a project's; relative to `cwd`. */
  readonly config?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Absolute home folder. */
  readonly homedir: string;
  /** `--out`: the project's output folder, anywhere; relative to `cwd`. */
  readonly out?: string | undefined;
}

/** A project's files, from low to high. */
export const PROJECT_FILES: readonly string[] = [".mcp.json", "mcp.json", join(".pi", "mcp.json")];

/** Bigger than any configuration: a mistaken path should not be read into memory. */
const LARGEST_FILE_BYTES = 8 * 1024 * 1024;

export async function loadConfiguration(options: LoadOptions): Promise<Outcome<Configuration>> {
  const cwd = resolve(options.cwd);
  const agentDir = agentFolder(options, cwd);
  const single = options.config === undefined ? undefined : resolve(cwd, options.config);
  const userFile = join(agentDir, "mcp.json");
  const projectDir =
    single === undefined ? await projectRoot(cwd, options.homedir, userFile) : projectOfFile(dirname(single));
  const projectFiles = PROJECT_FILES.map((name) => join(projectDir, name)).filter((path) => path !== userFile);
  const candidates: [string, Scope][] =
    single === undefined
      ? [[userFile, "user"], ...projectFiles.map((path): [string, Scope] => [path, "project"])]
      : [[single, "project"]];

  const diagnostics: Diagnostic[] = [];
  const files = await Promise.all(
    candidates.map(([path, scope]) => readLayer(path, scope, displayPath(path, cwd, options.homedir), diagnostics)),
  );
  diagnostics.sort((a, b) => displayOrder(files, a) - displayOrder(files, b));
  const missing = single !== undefined && files[0]?.text === undefined && !files[0]?.unreadable;
  if (missing) {
    const file = files[0]!.display;
    const notes = ["--config names a file relative to the working folder; pimcp init writes a starter mcp.json"];
    diagnostics.push(diagnostic("config-not-found", `there is no file ${file}`, { file, notes }));
  }
  const out = options.out === undefined ? {} : { out: resolve(cwd, options.out) };
  const layered = layerConfiguration({
    files: missing ? files.map((file) => ({ ...file, unreadable: true })) : files,
    projectDir,
    agentDir,
    sessionDir: cwd,
    ...out,
  });
  return { value: layered.value, diagnostics: [...diagnostics, ...layered.diagnostics] };
}

/** `$PI_CODING_AGENT_DIR`, else `~/.pi/agent`. */
function agentFolder({ env, homedir }: LoadOptions, cwd: string): string {
  const chosen = env["PI_CODING_AGENT_DIR"];
  return chosen ? resolve(cwd, expandHome(chosen, homedir)) : join(homedir, ".pi", "agent");
}

function projectOfFile(folder: string): string {
  return basename(folder) === ".pi" ? dirname(folder) : folder;
}

/**
 * The nearest folder from `cwd` upwards that has a project file, else `cwd`. The search ends at a
 * repository's root and below the home folder and the folders above it: what lies there was not written for
 * this project. Nor was a file that somebody else put into a folder anyone may write to, such as `/tmp`.
 */
async function projectRoot(cwd: string, homedir: string, userFile: string): Promise<string> {
  const homes = [homedir, await realpath(homedir).catch(() => homedir)];
  const isHomeOrAbove = (folder: string) => homes.some((home) => home === folder || isInside(home, folder));
  for (let folder = cwd; ; folder = dirname(folder)) {
    const paths = PROJECT_FILES.map((name) => join(folder, name)).filter((path) => path !== userFile);
    const found = await Promise.all(paths.map(exists));
    if (found.includes(true) && (folder === cwd || !(await isPlanted(folder, paths)))) return folder;
    if ((await exists(join(folder, ".git"))) || dirname(folder) === folder || isHomeOrAbove(dirname(folder)))
      return cwd;
  }
}

async function isPlanted(folder: string, files: readonly string[]): Promise<boolean> {
  const self = process.getuid?.();
  if (self === undefined || ((await stat(folder)).mode & 0o002) === 0) return false;
  const owners = await Promise.all(
    files.map((file) =>
      lstat(file).then(
        (info) => info.uid,
        () => self,
      ),
    ),
  );
  return owners.some((owner) => owner !== self && owner !== 0);
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** `path` as people should see it: relative to the working folder or to home where it lies inside, with `/`. */
export function displayPath(path: string, cwd: string, homedir: string): string {
  const shown = isInside(path, cwd)
    ? relative(cwd, path)
    : isInside(path, homedir)
      ? join("~", relative(homedir, path))
      : path;
  return sep === "/" ? shown : shown.split(sep).join("/");
}

function isInside(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

async function readLayer(path: string, scope: Scope, display: string, diagnostics: Diagnostic[]): Promise<LayerFile> {
  const unreadable = (why: string, remedy: string): LayerFile => {
    const notes = [remedy, "the other configuration files are still used"];
    diagnostics.push(diagnostic("config-unreadable", `cannot read ${display}: ${why}`, { file: display, notes }));
    return { path, display, scope, text: undefined, unreadable: true };
  };
  try {
    const info = await stat(path);
    if (!info.isFile()) return unreadable(`it is ${info.isDirectory() ? "a folder" : "not a file"}`, "move it away");
    if (info.size > LARGEST_FILE_BYTES) return unreadable("it has more than 8 MB", "is this the right file?");
    const bytes = await readFile(path);
    const text = decodeUtf8(bytes);
    return text === undefined ? unreadable("it is not UTF-8 text", "save it as UTF-8") : { path, display, scope, text };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined) throw error;
    const absent = code === "ENOTDIR" || (code === "ENOENT" && !(await exists(path)));
    if (absent) return { path, display, scope, text: undefined };
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

function displayOrder(files: readonly LayerFile[], { file }: Diagnostic): number {
  return files.findIndex((layer) => layer.display === file);
}
