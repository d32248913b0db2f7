/**
 * Says what a run is waiting for: a line that is redrawn on a terminal, one plain line elsewhere once a second has
 * passed. It never touches stdout and leaves nothing behind on a terminal.
 */
import type { ProgressEvent } from "../compiler/acquire.ts";
import type { Io } from "./io.ts";
import { printable } from "./print.ts";

export interface Progress {
  readonly onProgress: (event: ProgressEvent) => void;
  /** Wipes the line. */
  readonly end: () => void;
}

const QUIET_MS = 1000;

export function startProgress(io: Io): Progress {
  const waiting = new Set<string>();
  let drawn = false;
  const line = () => {
    const names = printable([...waiting].join(", "));
    const text = `waiting for ${names}`;
    const room = io.errLook.width - 1;
    return text.length > room ? `${text.slice(0, room - 1)}…` : text;
  };
  const wipe = () => {
    if (drawn) io.err("\r\u001b[2K");
    drawn = false;
  };
  const timer = setTimeout(() => {
    if (!io.interactive && waiting.size > 0) io.err(`${line()}\n`);
  }, QUIET_MS);
  timer.unref();
  return {
    onProgress(event) {
      if (event.kind === "asking") waiting.add(event.server);
      else waiting.delete(event.server);
      if (!io.interactive) return;
      wipe();
      if (waiting.size === 0) return;
      io.err(line());
      drawn = true;
    },
    end() {
      clearTimeout(timer);
      wipe();
    },
  };
}
