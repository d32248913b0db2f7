/**
 * What servers log (`notifications/message`), in `<agent dir>/mcp.log`: a line each, the file for its owner alone, moved to
 * `mcp.log.1` past 5 MB. Several Pi processes may write at once: a line is one append, and one process at a time moves the file.
 * A server that floods is cut short, and the line that follows says by how much. That nothing can be written stops nothing.
 */
import {
  closeSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { isRecord } from "../../../schemas/record.ts";

const MAX_LOG_BYTES = 5 * 1024 * 1024;
/** UTF-16 units of one message. */
const MAX_TEXT_LENGTH = 8 * 1024;
const MAX_NAME_LENGTH = 100;
/** Of one server, in a window of this length. */
const MAX_LINES = 200;
const WINDOW_MS = 10_000;
/** After which whoever was moving the file has died. */
const STALE_LOCK_MS = 10_000;

/** How much of a window a server has used. */
interface Share {
  since: number;
  lines: number;
  dropped: number;
}

const logs = new Map<string, ServerLog>();

/** The log of an agent folder (absolute), one in a process. */
export function serverLog(agentDir: string): ServerLog {
  const known = logs.get(agentDir);
  if (known !== undefined) return known;
  const log = new ServerLog(join(agentDir, "mcp.log"));
  logs.set(agentDir, log);
  process.once("exit", () => log.close());
  return log;
}

export class ServerLog {
  readonly #path: string;
  readonly #now: () => number;
  readonly #shares = new Map<string, Share>();

  /** `path` is absolute. */
  constructor(path: string, now: () => number = Date.now) {
    this.#path = path;
    this.#now = now;
  }

  /** Takes the `params` of a notice as they came, secrets taken out. */
  write(server: string, params: unknown): void {
    const now = this.#now();
    const share = this.#shareOf(server, now);
    if (share.lines >= MAX_LINES) {
      share.dropped++;
      return;
    }
    share.lines++;
    this.#append(logLine(server, params, now));
  }

  /** Says what was left out of windows that are still open. */
  close(): void {
    for (const [server, share] of this.#shares) this.#settle(server, share);
    this.#shares.clear();
  }

  #shareOf(server: string, now: number): Share {
    const known = this.#shares.get(server);
    if (known !== undefined && now - known.since < WINDOW_MS && now >= known.since) return known;
    if (known !== undefined) this.#settle(server, known);
    const share: Share = { since: now, lines: 0, dropped: 0 };
    this.#shares.set(server, share);
    return share;
  }

  #settle(server: string, { dropped }: Share): void {
    if (dropped === 0) return;
    const data = `${dropped} more messages were left out: more than ${MAX_LINES} within ${WINDOW_MS / 1000} s`;
    this.#append(logLine(server, { level: "warning", logger: "pimcp", data }, this.#now()));
  }

  #append(line: string): void {
    try {
      if (appendOwned(this.#path, line) > MAX_LOG_BYTES) rotate(this.#path, this.#now());
    } catch (error) {
      // A full disk or a folder that can't be written must not end a call; anything without a code is a bug.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
  }
}

/** The file's size afterwards, in bytes. */
function appendOwned(path: string, line: string): number {
  let file: number;
  try {
    file = openSync(path, "a", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    file = openSync(path, "a", 0o600);
  }
  try {
    // One that Pi began is open to others.
    const { mode } = fstatSync(file);
    if ((mode & 0o077) !== 0) fchmodSync(file, 0o600);
    writeSync(file, line);
    return fstatSync(file).size;
  } finally {
    closeSync(file);
  }
}

/** Moves the file away, unless another process is doing that or has done it. */
function rotate(path: string, now: number): void {
  const lock = `${path}.lock`;
  if (!takeLock(lock, now)) return;
  try {
    if (sizeOf(path) > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
  } finally {
    rmSync(lock, { force: true });
  }
}

function takeLock(lock: string, now: number): boolean {
  try {
    closeSync(openSync(lock, "wx", 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    // Left behind by a process that died: the next line finds it gone.
    const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - since > STALE_LOCK_MS) rmSync(lock, { force: true });
    return false;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** `<time> [<server>] <level> <logger>: <message>`, on one line whatever the server put into it. */
export function logLine(server: string, params: unknown, now: number): string {
  const message = isRecord(params) ? params : { data: params };
  const level = typeof message["level"] === "string" ? short(message["level"], MAX_NAME_LENGTH) : "info";
  const { logger } = message;
  const by = typeof logger === "string" && logger !== "" ? ` ${short(logger, MAX_NAME_LENGTH)}:` : "";
  return `${new Date(now).toISOString()} [${escaped(server)}] ${level}${by} ${short(dataText(message["data"]), MAX_TEXT_LENGTH)}\n`;
}

function dataText(data: unknown): string {
  return typeof data === "string" ? data : (JSON.stringify(data) ?? "");
}

function short(text: string, length: number): string {
  if (text.length <= length) return escaped(text);
  const cut = text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
  return `${escaped(cut)}… (${text.length} characters)`;
}

/** What would end the line or act on a terminal that shows it, as an escape. */
function escaped(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => {
    if (character === "\n") return "\\n";
    return `\\u{${character.codePointAt(0)!.toString(16)}}`;
  });
}
