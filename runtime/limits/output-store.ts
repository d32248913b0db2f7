/**
 * Owner-only files for output that a model isn't shown in full. The folder (0700) is made on first need
 * under the system's temporary folder with a name nobody can guess; every file (0600) is created
 * exclusively, so a link planted at its path is an error and is never followed. File names are ours: no part
 * of them comes from a server. Files are left for the model to read; the system's own cleaning removes them.
 */
import { lstat, mkdir, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type SaveOutcome =
  | { readonly ok: true; readonly path: string; readonly bytes: number }
  | { readonly ok: false; readonly reason: string };

export interface OutputStore {
  /**
   * Writes one new file. Text is UTF-8 (a lone surrogate becomes U+FFFD) and is encoded piece by piece.
   * `extension` has its dot and is one of ours (`mime.ts`). A failed write leaves no partial file.
   */
  save(data: string | Uint8Array, extension: string): Promise<SaveOutcome>;
}

/** A store in `folder` (made if missing), else in a temporary folder that only this user can look into. */
export function createOutputStore(folder?: string): OutputStore {
  let ready: Promise<string> | undefined;
  const openFolder = () => {
    ready ??= makeFolder(folder).catch((error: unknown) => {
      ready = undefined;
      throw error;
    });
    return ready;
  };
  return {
    async save(data, extension) {
      try {
        return await writeInto(await openFolder(), data, extension);
      } catch (error) {
        if (errorCode(error) !== "ENOENT") return { ok: false, reason: describeFailure(error) };
      }
      // The system's cleaning took the folder since the last write: make another, once.
      ready = undefined;
      try {
        return await writeInto(await openFolder(), data, extension);
      } catch (error) {
        return { ok: false, reason: describeFailure(error) };
      }
    },
  };
}

async function makeFolder(folder: string | undefined): Promise<string> {
  if (folder === undefined) return (await sharedFolder()) ?? mkdtemp(join(tmpdir(), "pimcp-"));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** One temporary folder for all of a user's processes, if it is really this user's alone. */
async function sharedFolder(): Promise<string | undefined> {
  const uid = process.getuid?.();
  const folder = join(tmpdir(), `pimcp-${uid ?? "outputs"}`);
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (errorCode(error) !== "EEXIST") throw error;
  });
  const found = await lstat(folder);
  // Somebody else may have been first with a folder, or a link, of this name.
  const isOurs = found.isDirectory() && (uid === undefined || (found.uid === uid && (found.mode & 0o077) === 0));
  return isOurs ? folder : undefined;
}

async function writeInto(folder: string, data: string | Uint8Array, extension: string): Promise<SaveOutcome> {
  const path = join(folder, `output-${randomName()}${extension}`);
  const file = await open(path, "wx", 0o600);
  let bytes = 0;
  try {
    for (const piece of typeof data === "string" ? encodePieces(data) : [data]) {
      await file.writeFile(piece);
      bytes += piece.length;
    }
    await file.close();
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(path, { force: true });
    throw error;
  }
  return { ok: true, path, bytes };
}

/** UTF-16 units encoded at a time. */
const PIECE_UNITS = 1 << 19;

function* encodePieces(text: string): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  const buffer = new Uint8Array(Math.min(text.length, PIECE_UNITS) * 3);
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + PIECE_UNITS);
    // A pair that a boundary would split goes into the next piece as a whole.
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--;
    yield buffer.subarray(0, encoder.encodeInto(text.slice(start, end), buffer).written);
    start = end;
  }
}

function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" ? code : undefined;
}

function describeFailure(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** From the global `crypto`: importing `node:crypto` costs a fresh process some milliseconds, and most never cut an output. */
function randomName(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex");
}
