/**
 * Finds the configuration files of a run, without reading one: cheap enough for every start, and free of the
 * JSON parser. What the files say is `configuration.ts`'s matter.
 */
import { lstatSync, realpathSync, type StatSyncFn, type Stats, statSync } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { Scope } from "../../schemas/config/server-config.ts";
import { expandHome } from "../../schemas/expand.ts";

export interface LocateOptions {
  /** Absolute folder the command runs in. */
  readonly cwd: string;
  /** `--config`: this file alone, as a project's; relative to `cwd`. */
  readonly config?: string | undefined;
  /** The configuration itself, in place of any file: a project's, or with `project: false` the user's. */
  readonly text?: string | undefined;
  /** False leaves the project's files out altogether: not one of its paths is looked at. */
  readonly project?: boolean | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Absolute home folder, see `homeFolder`. */
  readonly homedir: string;
}

export interface CandidateFile {
  /** Absolute; there need not be such a file. */
  readonly path: string;
  /** As messages name it. */
  readonly display: string;
  readonly scope: Scope;
  /** What it says, where that is in no file. */
  readonly text?: string;
}

export interface ConfigurationFiles {
  /** From low to high. */
  readonly candidates: readonly CandidateFile[];
  /** The one candidate was named by `--config`, and must exist. */
  readonly isNamed: boolean;
  /** Absolute project root. */
  readonly projectDir: string;
  /** Absolute agent folder. */
  readonly agentDir: string;
  /** Absolute folder the session runs in. */
  readonly sessionDir: string;
  /** Absolute output folders, where the project's files name no other. */
  readonly defaultOut: Readonly<Record<Scope, string>>;
}

/** A project's files, from low to high. */
const PROJECT_FILES: readonly string[] = [".mcp.json", "mcp.json", join(".pi", "mcp.json")];

/** `$HOME`, else the home folder that the system names. */
export function homeFolder(env: NodeJS.ProcessEnv): string {
  return env["HOME"] || homedir();
}

export async function locateConfiguration(options: LocateOptions): Promise<ConfigurationFiles> {
  const cwd = resolve(options.cwd);
  const agentDir = agentFolder(options, cwd);
  const userFile = join(agentDir, "mcp.json");
  const { text, config = text === undefined ? undefined : "mcp.json" } = options;
  const named = config === undefined ? undefined : resolve(cwd, config);
  const projectDir = named === undefined ? rootOf(options, cwd, userFile) : projectOf(named);
  const candidate = (path: string, scope: Scope): CandidateFile => ({
    path,
    display: displayPath(path, cwd, options.homedir),
    scope,
  });
  const candidates =
    named === undefined
      ? [
          candidate(userFile, "user"),
          ...(options.project === false ? [] : projectFiles(projectDir, userFile)).map((path) =>
            candidate(path, "project"),
          ),
        ]
      : text === undefined
        ? [candidate(named, "project")]
        : [{ ...candidate(named, options.project === false ? "user" : "project"), display: "stdin", text }];
  return {
    candidates,
    isNamed: named !== undefined,
    projectDir,
    agentDir,
    sessionDir: cwd,
    defaultOut: { project: join(projectDir, "generated"), user: join(agentDir, "pimcp", "generated") },
  };
}

/** Changes when a file is written, replaced, removed or added; reads none of them. */
export async function configurationSignature({ candidates }: ConfigurationFiles): Promise<string> {
  const infos = await Promise.all(
    candidates.map(({ path }) => stat(path).catch((error: NodeJS.ErrnoException) => error)),
  );
  return infos
    .map((info) => (info instanceof Error ? info.code : `${info.ino}:${info.size}:${info.mtimeMs}:${info.ctimeMs}`))
    .join(" ");
}

/** `$PI_CODING_AGENT_DIR`, else `~/.pi/agent`. */
function agentFolder({ env, homedir }: LocateOptions, cwd: string): string {
  const chosen = env["PI_CODING_AGENT_DIR"];
  return chosen ? resolve(cwd, expandHome(chosen, homedir)) : join(homedir, ".pi", "agent");
}

function rootOf({ homedir, project }: LocateOptions, cwd: string, userFile: string): string {
  return project === false ? cwd : projectRoot(cwd, homedir, userFile);
}

function projectOf(file: string): string {
  const folder = dirname(file);
  return basename(folder) === ".pi" ? dirname(folder) : folder;
}

/** The agent folder may lie in the project, or be it: its file is the user's and no project's. */
function projectFiles(folder: string, userFile: string): string[] {
  return PROJECT_FILES.map((name) => join(folder, name)).filter((path) => path !== userFile);
}

/**
 * The nearest folder from `cwd` upwards that has a project file, else `cwd`. The search ends at a
 * repository's root and below the home folder and the folders above it: what lies there was not written for
 * this project. Nor was a file that somebody else put into a folder anyone may write to, such as `/tmp`.
 */
function projectRoot(cwd: string, homedir: string, userFile: string): string {
  const homes = [homedir, canonical(homedir)];
  const isHomeOrAbove = (folder: string) => homes.some((home) => home === folder || isInside(home, folder));
  for (let folder = cwd; ; folder = dirname(folder)) {
    const paths = projectFiles(folder, userFile);
    if (paths.some(isThere) && (folder === cwd || !isPlanted(folder, paths))) return folder;
    if (isThere(join(folder, ".git")) || dirname(folder) === folder || isHomeOrAbove(dirname(folder))) return cwd;
  }
}

function isPlanted(folder: string, files: readonly string[]): boolean {
  const self = process.getuid?.();
  if (self === undefined || ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & 0o002) === 0) return false;
  const owners = files.map((file) => lookAt(file)?.uid ?? self);
  return owners.some((owner) => owner !== self && owner !== 0);
}

function canonical(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder; // there need not be such a folder
  }
}

/** Also for a symbolic link to nowhere. */
export function isThere(path: string): boolean {
  return lookAt(path) !== undefined;
}

/** A handful of paths at every start: waiting for each of them would take longer than looking. */
export function lookAt(path: string, look: StatSyncFn = lstatSync): Stats | undefined {
  try {
    return look(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // below a file, or in a folder that may not be read
  }
}

/** The same where nothing waits for it. */
export function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** `path` as people should see it: relative to the working folder or to home where it lies inside, with `/`. */
function displayPath(path: string, cwd: string, homedir: string): string {
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
