/**
 * How long the artifacts of registered servers are kept: a folder of the user's cache is marked when it is used, and goes when nobody
 * has used it for a month. One that a session has is marked anew each day, so no other process takes it away. Every
 * session loads this once its first request is out, so it imports next to nothing.
 */
import { lstat, readdir, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../../../schemas/user-folders.ts";
import { homeFolder } from "../../connect/configuration-files.ts";
import type { PiSession } from "../session.ts";

const DAY_MS = 86_400_000;
const KEPT_MS = 30 * DAY_MS;
/** See registered-folders.ts; what is called otherwise isn't ours. */
const FOLDER_NAME = /^[0-9a-f]{32}$/;

export function registeredFolder(cache: string): string {
  return join(cache, "registered");
}

/** Says that these folders are in use. One that isn't there yet is made by its compile. */
export async function markUsed(folders: readonly string[]): Promise<void> {
  const now = new Date();
  await Promise.all(folders.map((folder) => utimes(folder, now, now).catch(() => undefined)));
}

/** Once for each session: keeps its folders marked until it ends, and removes those that nobody has used for a month. */
export async function tidyRegistered(session: Pick<PiSession, "env" | "signal" | "registrations">): Promise<void> {
  const { env, signal } = session;
  const daily = setInterval(() => void markUsed(session.registrations.servers.map(({ out }) => out)), DAY_MS).unref();
  signal.addEventListener("abort", () => clearInterval(daily), { once: true });
  const folder = registeredFolder(cacheFolder(env, homeFolder(env)));
  const names = await readdir(folder).catch(() => []);
  // One that can't be removed now is left to the next session.
  for (const name of names.filter((one) => FOLDER_NAME.test(one)))
    await removeUnused(join(folder, name)).catch(() => {});
}

async function removeUnused(folder: string): Promise<void> {
  const info = await lstat(folder);
  if (info.isDirectory() && Date.now() - info.mtimeMs > KEPT_MS) await discardArtifacts(folder);
}

export async function discardArtifacts(folder: string): Promise<void> {
  // First: who opens the folder meanwhile finds nothing rather than half of what there was.
  await rm(join(folder, "manifest.json"), { force: true });
  await rm(folder, { recursive: true, force: true });
}
