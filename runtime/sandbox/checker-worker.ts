/**
 * The thread that reads scripts: it strips types, and loads the compiler's checking module where there is one. It stays for the
 * next script, with everything loaded. It never runs a script.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import type { CheckFinding, CheckRequest, ScriptCheckModule } from "../../schemas/script-finding.ts";
import { notChecked, stripTypes } from "./strip-types.ts";

export interface WorkerRequest {
  readonly id: number;
  readonly source: string;
  /** JavaScript already: nothing to strip. */
  readonly plain: boolean;
  /** Undefined when types are not to be checked. */
  readonly check: Omit<CheckRequest, "source" | "broken"> | undefined;
}

export interface WorkerReply {
  readonly id: number;
  readonly js: string;
  readonly findings: readonly CheckFinding[];
  readonly checked: boolean;
}

/** The URL of the compiler's module, which need not be there. */
export interface WorkerSettings {
  readonly checkModule: string;
}

const { checkModule } = workerData as WorkerSettings;
/** Begun at once: whoever starts this thread has a script coming. */
const opened = existsSync(fileURLToPath(checkModule))
  ? (import(checkModule) as Promise<ScriptCheckModule>).then(({ openScriptCheck }) => openScriptCheck())
  : undefined;
// Told to the first script that wants it.
opened?.catch(() => {});

async function read({ id, source, plain, check }: WorkerRequest): Promise<WorkerReply> {
  const stripped = await stripTypes(source, plain);
  const js = stripped.ok ? stripped.js : source;
  const syntax = stripped.ok ? [] : [stripped.finding];
  if (check === undefined || opened === undefined) return { id, js, findings: syntax, checked: false };
  try {
    const findings = (await opened).check({ ...check, source, broken: !stripped.ok });
    return { id, js, findings: findings.length > 0 ? findings : syntax, checked: true };
  } catch (error) {
    // TypeScript itself gave up on the script, or could not be loaded: a reason to tell, not one to stop a script that may be right.
    const told = notChecked(error instanceof Error ? error.message : String(error));
    return { id, js, findings: [...syntax, told], checked: false };
  }
}

parentPort?.on("message", (request: WorkerRequest) => {
  void read(request).then((reply) => parentPort?.postMessage(reply));
});
