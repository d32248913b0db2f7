/** The `trace` option of a runtime as a sink: one that is given, or a file, loaded only where there is one. */
import { resolve } from "node:path";
import type { Diagnostic } from "../schemas/diagnostic.ts";
import type { TraceSink } from "./connect/trace.ts";

export interface OpenTrace {
  readonly sink: TraceSink | undefined;
  readonly close: () => void;
}

/** Rejects when the file can't be written. */
export async function openTrace(
  trace: TraceSink | string | undefined,
  cwd: string,
  onNotice: (notice: Diagnostic) => void,
): Promise<OpenTrace> {
  if (typeof trace !== "string") return { sink: trace, close: () => {} };
  const { openTraceFile } = await import("./connect/trace-file.ts");
  const said = (code: string) => `the trace file ${trace} can't be written (${code})`;
  const file = openTraceFile(resolve(cwd, trace), (code) =>
    onNotice({ code: "trace-unwritable", severity: "warning", message: said(code), notes: ["tracing has ended"] }),
  );
  if (!file.ok) throw new Error(said(file.code));
  return file;
}
