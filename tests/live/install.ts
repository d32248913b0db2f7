/**
 * Puts the pinned servers of this folder's package.json on disk, once: `npm ci` when they are missing or the lock file
 * has changed since. Only where `PIMCP_LIVE=all` asks for it: 400 MB are not what `npm test` should fetch unasked. Their
 * install scripts don't run, so nothing but packages is fetched. Where the registry can't be reached the outcome says so,
 * and the tests that need these servers are skipped, loudly; `PIMCP_LIVE=required` makes a failure of it.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = dirname(fileURLToPath(import.meta.url));
/** Written last: an install that was interrupted doesn't have it. */
const MARK = join(FOLDER, "node_modules", ".installed-from");

/** Milliseconds; measured: 70 s on two slow cores. */
export const INSTALL_LIMIT_MS = 600_000;

export type Installation = { readonly ok: true } | { readonly ok: false; readonly why: string };

export async function installServers(): Promise<Installation> {
  const lock = createHash("sha256")
    .update(readFileSync(join(FOLDER, "package-lock.json")))
    .digest("hex");
  if (markOf() === lock) return { ok: true };
  const wanted = process.env["PIMCP_LIVE"];
  if (wanted !== "all" && wanted !== "required") return { ok: false, why: "PIMCP_LIVE=all installs and tests them" };
  console.info("tests/live: installing the real servers from the npm registry (400 MB on disk, a minute or two) …");
  const started = performance.now();
  const failure = await npmCi();
  if (failure !== undefined) {
    const why = `the real servers can't be installed from the npm registry: ${failure}`;
    if (wanted === "required") throw new Error(why);
    console.warn(`tests/live: SKIPPED, ${why}`);
    return { ok: false, why };
  }
  writeFileSync(MARK, lock);
  console.info(`tests/live: installed in ${Math.round((performance.now() - started) / 1000)} s`);
  return { ok: true };
}

function markOf(): string | undefined {
  try {
    return readFileSync(MARK, "utf8");
  } catch {
    return undefined; // not there: the install that follows makes it
  }
}

/** What went wrong, in one line. */
function npmCi(): Promise<string | undefined> {
  const args = ["ci", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--fetch-retries=1"];
  return new Promise((resolve) => {
    const npm = spawn("npm", args, {
      cwd: FOLDER,
      stdio: ["ignore", "ignore", "pipe"],
      timeout: INSTALL_LIMIT_MS - 10_000,
    });
    let stderr = "";
    npm.stderr.on("data", (chunk) => (stderr += chunk));
    npm.on("error", (error) => resolve(`npm can't be started (${error.message})`));
    npm.on("close", (code, signal) => {
      const errors = stderr.split("\n").flatMap((line) => /^npm error (.+)/.exec(line)?.[1] ?? []);
      resolve(code === 0 ? undefined : errors.slice(0, 4).join("; ") || `npm ci ended with ${signal ?? code}`);
    });
  });
}
