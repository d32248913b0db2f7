/**
 * Child processes that never outlive us. Each child leads a process group of its own, so that signalling
 * the group reaches what a wrapper (`npx`, `uvx`, a shell) started; groups still alive when this process
 * ends, for whatever reason it can notice (return, exit, uncaught error, SIGINT, SIGTERM, SIGHUP), are
 * killed on the way out. Only SIGKILL of ourselves escapes; then servers see their stdin close.
 * A child that looks after its own children in this very way is told to end instead of killed.
 *
 * The registry is shared by every copy of this module in a process, so hooks are installed once.
 */
import { type ChildProcess, spawnSync } from "node:child_process";

/** Windows has no process groups; there `taskkill /T` walks the tree instead. */
export const USE_GROUPS = process.platform !== "win32";

interface Registry {
  /** Live children, and what ends each of them. */
  readonly ends: Map<number, () => void>;
  /** A listener changes what a signal does, so there is one only while there is something to kill. */
  watchSignals(on: boolean): void;
}

const REGISTRY = Symbol.for("pimcp.process-groups.v2");

function registry(): Registry {
  const host = globalThis as { [REGISTRY]?: Registry };
  host[REGISTRY] ??= createRegistry();
  return host[REGISTRY];
}

function createRegistry(): Registry {
  const ends = new Map<number, () => void>();
  const killAll = () => {
    for (const end of ends.values()) end();
    ends.clear();
  };
  process.on("exit", killAll);
  const watched = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => {
    const listener = () => {
      // A host with a handler of its own decides what the signal means; "exit" follows if it ends.
      if (process.listenerCount(signal) - waitingListeners() > 1) return;
      killAll();
      process.removeListener(signal, listener);
      process.kill(process.pid, signal);
    };
    return { signal, listener };
  });
  const watchSignals = (on: boolean) => {
    for (const { signal, listener } of watched) {
      if (on) process.on(signal, listener);
      else process.removeListener(signal, listener);
    }
  };
  return { ends, watchSignals };
}

/**
 * Listeners of `signal-exit`, which is in most programs through one package or another. Like ours they
 * end the program only if nobody else listens, so two of the kind must not wait for each other.
 */
function waitingListeners(): number {
  const emitters = [
    (process as { __signal_exit_emitter__?: unknown }).__signal_exit_emitter__,
    (globalThis as Record<symbol, unknown>)[Symbol.for("signal-exit emitter")],
  ];
  return emitters.reduce<number>((sum, emitter) => {
    const count = typeof emitter === "object" && emitter !== null ? (emitter as { count?: unknown }).count : undefined;
    return sum + (typeof count === "number" ? count : 0);
  }, 0);
}

/** Registers the child's group for the way out; the returned function forgets it. */
export function trackGroup(child: ChildProcess): () => void {
  const { pid } = child;
  return pid === undefined ? () => {} : track(pid, () => signalTree(pid, "SIGKILL"));
}

/** The same for a child that leads no group, and ends what it started when it is told to end. */
export function trackChild(child: ChildProcess): () => void {
  const { pid } = child;
  return pid === undefined ? () => {} : track(pid, () => void child.kill("SIGTERM"));
}

function track(pid: number, end: () => void): () => void {
  const { ends, watchSignals } = registry();
  ends.set(pid, end);
  if (ends.size === 1) watchSignals(true);
  return () => {
    if (ends.delete(pid) && ends.size === 0) watchSignals(false);
  };
}

/** Signals the child and everything it started. A group that is gone already is what was wanted. */
export function endGroup(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  if (child.pid !== undefined) signalTree(child.pid, signal);
}

/** Whether any process of the child's group is left, its leader or not. */
export function groupAlive(child: ChildProcess): boolean {
  if (child.pid === undefined) return false;
  if (!USE_GROUPS) return child.exitCode === null && child.signalCode === null;
  try {
    process.kill(-child.pid, 0);
    return true;
  } catch (error) {
    // EPERM: something of the group runs, though not as us.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function signalTree(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  if (!USE_GROUPS) {
    spawnSync("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", windowsHide: true });
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}
