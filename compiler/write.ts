/**
 * The one place that changes an output folder. It promises: every file appears whole (written beside its
 * place, then renamed), the manifest last; a file whose content is unchanged is not touched; a file that
 * pimcp wrote earlier and no longer wants is removed; a file of anybody else's is neither changed nor
 * removed; a path that leads out of the folder, also through a link, is refused. When anything can't
 * be written, nothing is changed.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, lstat, mkdir, readFile, realpath, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { sha256 } from "../schemas/canonical.ts";
import { type Diagnostic, diagnostic, type Outcome } from "../schemas/diagnostic.ts";
import type { Manifest } from "../schemas/manifest.schema.ts";
import type { GeneratedFile } from "./emit/artifacts.ts";

export interface WriteResult {
  /** Relative to the output folder, with forward slashes. */
  readonly path: string;
  readonly status: "created" | "updated" | "unchanged" | "removed";
}

/** What a folder holds now of what is wanted and what was there before. */
interface Intent extends WriteResult {
  readonly content?: string;
}

const MANIFEST = "manifest.json";

/**
 * Makes `folder` hold exactly `files` besides what others put there. With `check`, nothing is written and the
 * result says what would be. `folder` is absolute; `previous` is the manifest found there, if any.
 */
export async function writeFiles(
  folder: string,
  files: readonly GeneratedFile[],
  previous: Manifest | undefined,
  options: { readonly check?: boolean } = {},
): Promise<Outcome<readonly WriteResult[]>> {
  const diagnostics: Diagnostic[] = [];
  const intents = [
    ...(await Promise.all(files.map((file) => intentFor(folder, file, previous, diagnostics)))),
    ...(await obsoleteFiles(folder, files, previous, diagnostics)),
  ].filter((intent) => intent !== undefined);
  const results = intents.map(({ path, status }) => ({ path, status }));
  if (options.check || diagnostics.some((found) => found.severity === "error")) {
    return { value: options.check ? results : [], diagnostics };
  }
  const failure = await carryOut(folder, intents);
  return failure ? { value: [], diagnostics: [...diagnostics, failure] } : { value: results, diagnostics };
}

async function intentFor(
  folder: string,
  file: GeneratedFile,
  previous: Manifest | undefined,
  diagnostics: Diagnostic[],
): Promise<Intent | undefined> {
  if (!isInside(folder, file.path)) {
    diagnostics.push(diagnostic("output-outside", `refused to write ${file.path}: it leads out of the output folder`));
    return undefined;
  }
  const found = await read(join(folder, file.path));
  if (found.kind === "absent") return { path: file.path, status: "created", content: file.content };
  // Line ends that git converted are no change; what we write holds no carriage return of its own.
  if (found.kind === "text" && found.text.replaceAll("\r\n", "\n") === file.content)
    return { path: file.path, status: "unchanged" };
  const ours = found.kind === "text" && (isListed(previous, file.path) || bearsOurMark(file.path, found.text));
  if (!ours) {
    diagnostics.push(
      diagnostic(
        "output-foreign",
        `${file.path} is in the output folder but was not written by pimcp; it was left alone`,
        {
          severity: "error",
          file: file.path,
          notes: ["move it away, or choose another folder with --out or the top-level key `out`"],
        },
      ),
    );
    return undefined;
  }
  return { path: file.path, status: "updated", content: file.content };
}

/** Files of the last compile that this one does not want. One that was edited since is somebody's work and stays. */
async function obsoleteFiles(
  folder: string,
  files: readonly GeneratedFile[],
  previous: Manifest | undefined,
  diagnostics: Diagnostic[],
): Promise<Intent[]> {
  const wanted = new Set(files.map((file) => file.path));
  const obsolete: Intent[] = [];
  for (const [path, digest] of Object.entries(previous?.files ?? {})) {
    if (wanted.has(path) || path === MANIFEST || !isInside(folder, path)) continue;
    const found = await read(join(folder, path));
    if (found.kind === "absent") continue;
    if (found.kind === "text" && sha256(found.text.replaceAll("\r\n", "\n")) === digest)
      obsolete.push({ path, status: "removed" });
    else
      diagnostics.push(
        diagnostic("output-foreign", `${path} is no longer generated, but was edited by hand; it was left in place`, {
          file: path,
        }),
      );
  }
  return obsolete;
}

/** Stages all content first, so that a full disk or a read-only folder is met before anything has changed. */
async function carryOut(folder: string, intents: readonly Intent[]): Promise<Diagnostic | undefined> {
  const staged: { from: string; to: string }[] = [];
  let replaced = 0;
  try {
    for (const { path, content } of intents) {
      if (content === undefined) continue;
      const to = join(folder, path);
      await mkdir(dirname(to), { recursive: true });
      await refuseLinkedFolder(folder, dirname(to));
      // A name nobody can have put a link at, and one that must not exist yet.
      const from = `${to}.pimcp-${randomBytes(6).toString("hex")}.tmp`;
      staged.push({ from, to });
      await writeFile(from, content, { flag: "wx" });
    }
    const isLast = ({ to }: { to: string }) => Number(to === join(folder, MANIFEST));
    for (const one of [...staged].sort((a, b) => isLast(a) - isLast(b))) {
      if (isLast(one)) await removeObsolete(folder, intents);
      await rename(one.from, one.to);
      replaced++;
    }
    if (!staged.some(isLast)) await removeObsolete(folder, intents);
    return undefined;
  } catch (error) {
    await Promise.all(staged.map(({ from }) => rm(from, { force: true }).catch(() => undefined)));
    return unwritable(folder, error, replaced);
  }
}

async function removeObsolete(folder: string, intents: readonly Intent[]): Promise<void> {
  for (const { path, status } of intents) {
    if (status !== "removed") continue;
    await rm(join(folder, path), { force: true });
    const parent = dirname(join(folder, path));
    // An emptied subfolder was ours; a folder with anything else in it refuses to go, which is right.
    if (parent !== folder) await rmdir(parent).catch(() => undefined);
  }
}

async function refuseLinkedFolder(folder: string, parent: string): Promise<void> {
  const [root, real] = await Promise.all([realpath(folder), realpath(parent)]);
  if (real !== root && !real.startsWith(root + sep)) throw new LeadsOutside(relative(folder, parent));
}

class LeadsOutside extends Error {
  override readonly name = "LeadsOutside";
}

async function unwritable(folder: string, error: unknown, replaced: number): Promise<Diagnostic> {
  if (error instanceof LeadsOutside) {
    return diagnostic(
      "output-outside",
      `refused to write into ${error.message}: the link leads out of the output folder`,
    );
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
  const why = REASONS[code === "ENOENT" ? await whyNotMade(folder) : code] ?? code;
  const note =
    replaced === 0
      ? "nothing was changed: what was compiled before is still there"
      : `${replaced} files were replaced before that; compile again once it is put right`;
  return diagnostic("output-unwritable", `cannot write to the output folder: ${why}`, { file: folder, notes: [note] });
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  ENOTDIR: "a file is where a folder should be",
  EEXIST: "a file is where a folder should be",
  EISDIR: "a folder is where a file should be",
  ENOENT: "the folder above it is not there",
};

/** Making folders on a read-only file system fails as if the parent were missing; asking the parent tells. */
async function whyNotMade(folder: string): Promise<string> {
  for (let parent = folder; ; parent = dirname(parent)) {
    const code = await access(parent, constants.W_OK).then(
      () => "ENOENT",
      (error: NodeJS.ErrnoException) => error.code ?? "ENOENT",
    );
    if (code !== "ENOENT" || parent === dirname(parent)) return code;
  }
}

function isInside(folder: string, path: string): boolean {
  const target = resolve(folder, path);
  return target.startsWith(resolve(folder) + sep) && !path.includes("\0");
}

type Found = { kind: "absent" } | { kind: "text"; text: string } | { kind: "other" };

async function read(path: string, tries = 2): Promise<Found> {
  try {
    return { kind: "text", text: await readFile(path, "utf8") };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "ENOENT" && code !== "ENOTDIR") return { kind: "other" };
    const entry = await lstat(path).catch(() => undefined);
    if (!entry) return { kind: "absent" };
    // A dangling link is somebody's, though nothing can be read through it; anything else came just now, from
    // another compile.
    return entry.isSymbolicLink() || tries <= 1 ? { kind: "other" } : read(path, tries - 1);
  }
}

function isListed(previous: Manifest | undefined, path: string): boolean {
  return path === MANIFEST ? previous !== undefined : previous !== undefined && Object.hasOwn(previous.files, path);
}

/** Recognises our files where the manifest that listed them is lost, torn, or in conflict after a merge. */
function bearsOurMark(path: string, text: string): boolean {
  // A crash may leave nothing of a file, zeros, or its first letters.
  const start = text.replace(/^\0+$/, "");
  if (path.endsWith(".ts"))
    return "// Made by pimcp".startsWith(start) || /^\/\/ (?:Made by pimcp|\[\.\.\]: constraints of)/.test(text);
  return '{"formatVersion"'.startsWith(start.replace(/\s/g, "")) || /^\{\s*"formatVersion"/.test(text);
}
