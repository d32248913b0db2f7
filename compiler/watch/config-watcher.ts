/**
 * Notices when a file of the configuration changes, those that don't exist yet included: written in place, replaced
 * by renaming, removed, or changed behind a link. What counts is a file's signature (which file it is, its size, its time),
 * compared whenever the system reports anything in one of the folders, and every few seconds for file systems
 * that report nothing. Other files never count, so pimcp's own outputs start no build.
 *
 * Why not chokidar: it drops a replacement by rename that follows another change within 50 ms, and with it the
 * last state of the file. Comparing a handful of signatures can't lose one.
 */
import { type FSWatcher, watch } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";

export interface ConfigWatcher {
  /** Takes another set of files. */
  setFiles(files: readonly string[]): Promise<void>;
  close(): void;
}

/** Milliseconds between comparisons that nothing asked for. */
const POLL_MS = 2000;

/** `files` are absolute paths. `onChange` gets the path that changed, as it was given. */
export async function watchConfiguration(
  files: readonly string[],
  onChange: (file: string) => void,
): Promise<ConfigWatcher> {
  const watcher = new SignatureWatcher(onChange);
  await watcher.setFiles(files);
  return watcher;
}

class SignatureWatcher implements ConfigWatcher {
  readonly #onChange: (file: string) => void;
  readonly #signatures = new Map<string, string>();
  readonly #folders = new Map<string, FSWatcher>();
  readonly #timer = setInterval(() => this.#compare(), POLL_MS);
  #comparing: Promise<void> | undefined;
  #again = false;
  #closed = false;

  constructor(onChange: (file: string) => void) {
    this.#onChange = onChange;
  }

  async setFiles(files: readonly string[]): Promise<void> {
    for (const file of this.#signatures.keys()) if (!files.includes(file)) this.#signatures.delete(file);
    for (const file of files) {
      if (!this.#signatures.has(file)) this.#signatures.set(file, await signatureOf(file));
    }
    await this.#watchFolders();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  /** One comparison at a time; anything reported meanwhile leads to one more. */
  #compare(): void {
    if (this.#closed) return;
    if (this.#comparing) {
      this.#again = true;
      return;
    }
    this.#comparing = this.#compareAll().finally(() => {
      this.#comparing = undefined;
      if (!this.#again) return;
      this.#again = false;
      this.#compare();
    });
  }

  async #compareAll(): Promise<void> {
    for (const [file, known] of this.#signatures) {
      const signature = await signatureOf(file);
      if (signature === known || this.#closed) continue;
      this.#signatures.set(file, signature);
      await this.#watchFolders();
      this.#onChange(file);
    }
  }

  /** Watches the folder of every file and of what it points at; a folder that is not there has its parent watched. */
  async #watchFolders(): Promise<void> {
    const wanted = new Set<string>();
    for (const file of this.#signatures.keys()) {
      wanted.add(await existing(dirname(file)));
      const target = await realpath(file).catch(() => undefined);
      if (target !== undefined) wanted.add(dirname(target));
    }
    for (const [folder, watcher] of this.#folders) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const folder of wanted) this.#watchFolder(folder);
  }

  #watchFolder(folder: string): void {
    if (this.#folders.has(folder) || this.#closed) return;
    try {
      const watcher = watch(folder, { persistent: true }, () => this.#compare());
      // Its folder went away, or the system is out of watches: the next comparison looks again.
      watcher.on("error", () => {
        watcher.close();
        this.#folders.delete(folder);
      });
      this.#folders.set(folder, watcher);
    } catch {
      // Comparing every few seconds has to do for this one.
    }
  }
}

async function signatureOf(file: string): Promise<string> {
  const found = await stat(file, { bigint: true }).catch(() => undefined);
  return found ? `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}` : "absent";
}

/** The folder, or the nearest one above it that exists. */
async function existing(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined);
  return found?.isDirectory() || dirname(folder) === folder ? folder : existing(dirname(folder));
}
