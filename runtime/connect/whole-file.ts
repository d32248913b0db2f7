/**
 * The one way a small file is replaced: written beside, owner-only unless told otherwise, and renamed into place, so that no
 * reader and no crash ever meets half of it. Rejects with the system's error, and leaves nothing beside then.
 */
import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";

export interface WholeFileOptions {
  /** It is on the disk before this resolves, and not only safe from this process's end. Default false. */
  readonly flush?: boolean;
  /** Exactly these permissions. Default 0600, less what the process's mask takes. */
  readonly mode?: number;
}

export async function writeWhole(
  path: string,
  text: string,
  { flush = false, mode }: WholeFileOptions = {},
): Promise<void> {
  const staged = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const file = await open(staged, "wx", 0o600);
    try {
      if (mode !== undefined) await file.chmod(mode);
      await file.writeFile(text);
      if (flush) await file.sync();
    } finally {
      await file.close();
    }
    await renameOver(staged, path);
  } catch (error) {
    await rm(staged, { force: true });
    throw error;
  }
}

/** On Windows a file that somebody reads just now can't be replaced. */
async function renameOver(from: string, to: string, attempts = process.platform === "win32" ? 20 : 1): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (attempts === 1) throw error;
    await new Promise((resolve) => setTimeout(resolve, 25));
    await renameOver(from, to, attempts - 1);
  }
}
