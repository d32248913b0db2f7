/**
 * A trace as a file of JSON lines, one {@link TraceEvent} each. Appended to, readable by its owner alone, written once
 * for all events of a moment, so that a call doesn't wait for the disk.
 */
import { closeSync, fchmodSync, fstatSync, openSync, writeSync } from "node:fs";
import type { TraceSink } from "./trace.ts";

export type TraceFile =
  | {
      readonly ok: true;
      readonly sink: TraceSink;
      /** Writes what is left and closes the file; events that come later are lost. */
      readonly close: () => void;
    }
  /** `code` is the system's. */
  | { readonly ok: false; readonly code: string };

const MODE = 0o600;
/** How long events are collected. What is lost when this process is killed outright. */
const BATCH_MS = 25;
/** Characters that are collected at most. */
const MAX_BATCH = 256 * 1024;

/** `onError` is called once, with the system's code, when the file can't be written any more; tracing ends then. */
export function openTraceFile(path: string, onError: (code: string) => void = () => {}): TraceFile {
  let file: number | undefined;
  try {
    file = openSync(path, "a", MODE);
    // One that was there before: others may have been allowed to read it. A terminal or a pipe is left as it is.
    if (fstatSync(file).isFile()) fchmodSync(file, MODE);
  } catch (error) {
    if (file !== undefined) closeSync(file);
    return { ok: false, code: codeOf(error) };
  }
  let batch = "";
  let isScheduled = false;
  const close = () => {
    flush();
    if (file === undefined) return;
    closeSync(file);
    file = undefined;
    process.off("exit", close);
  };
  const flush = () => {
    isScheduled = false;
    const text = batch;
    batch = "";
    if (text === "" || file === undefined) return;
    try {
      writeWhole(file, Buffer.from(text));
    } catch (error) {
      closeSync(file);
      file = undefined;
      process.off("exit", close);
      onError(codeOf(error));
    }
  };
  process.on("exit", close);
  const sink: TraceSink = (event) => {
    if (file === undefined) return;
    batch += `${JSON.stringify(event)}\n`;
    if (batch.length >= MAX_BATCH) flush();
    else if (!isScheduled) {
      isScheduled = true;
      setTimeout(flush, BATCH_MS).unref();
    }
  };
  return { ok: true, sink, close };
}

/** A write may take less than it was given. */
function writeWhole(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown error";
}
