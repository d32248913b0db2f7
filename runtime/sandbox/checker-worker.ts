/**
 * The thread that reads scripts: it strips types, and loads the compiler's checking module where there is one. It stays for the
 * next script, with everything loaded, and writes declarations out for who asks. It never runs a script.
 */
import { existsSync, mkdirSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import type {
  CheckedTool,
  CheckFinding,
  CheckRequest,
  ScriptCheck,
  ScriptCheckModule,
} from "../../schemas/script-finding.ts";
import { notChecked, stripTypes } from "./strip-types.ts";

export interface WorkerRequest {
  readonly source: string;
  /** JavaScript already: nothing to strip. */
  readonly plain: boolean;
  /** Undefined when types are not to be checked. */
  readonly check: Omit<CheckRequest, "source" | "broken"> | undefined;
}

export interface DeclareRequest {
  readonly declare: CheckedTool & { readonly description?: string };
}

export interface WorkerReply {
  readonly js: string;
  readonly findings: readonly CheckFinding[];
  readonly checked: boolean;
  /** There is no compiler to check with. */
  readonly absent: boolean;
}

export interface DeclareReply {
  /** Undefined without a compiler, or when it failed. */
  readonly declaration: string | undefined;
}

/** The URL of the compiler's module, which need not be there. */
export interface WorkerSettings {
  readonly checkModule: string;
  /** Folder of Node's compile cache; where it can't be made or written, or Node has none, all is compiled each time. */
  readonly compileCache: string;
}

/** Node has them from 22.1 and 22.10 on. */
const cache = module as { enableCompileCache?(folder: string): void; flushCompileCache?(): void };
const { checkModule, compileCache } = workerData as WorkerSettings;
let isAsked = false;
/** Begun at once: whoever starts this thread has a script coming. */
const opened = existsSync(fileURLToPath(checkModule)) ? open() : undefined;
// Told to the first script that wants it.
opened?.catch(() => {});

async function open(): Promise<ScriptCheck> {
  useCompileCache();
  const { openScriptCheck } = (await import(checkModule)) as ScriptCheckModule;
  const check = await openScriptCheck();
  // The module came without a turn of the event loop, and a question that is here takes a whole one to be seen.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  // Reads and binds the library, so that the script that is coming needn't wait for that. One that is here does it itself.
  if (!isAsked) check.check({ source: "", tools: [], hostTools: "", hostGlobals: "", broken: false });
  return check;
}

/** A cache that the process has is not this thread's by itself; a fifth of the time to the first answer is TypeScript being compiled. */
function useCompileCache(): void {
  if (cache.enableCompileCache === undefined) return;
  try {
    // Node would make folders that everybody can read.
    mkdirSync(compileCache, { recursive: true, mode: 0o700 });
  } catch {
    // Without the folder there is no cache, and nothing else is missed.
    return;
  }
  cache.enableCompileCache(compileCache);
}

let isKept = false;

/** By the first checked script what the next process will need first is compiled. */
function keepCompiled(): void {
  if (!isKept) cache.flushCompileCache?.();
  isKept = true;
}

async function read({ source, plain, check }: WorkerRequest): Promise<WorkerReply> {
  const stripped = await stripTypes(source, plain);
  const js = stripped.ok ? stripped.js : source;
  const syntax = stripped.ok ? [] : [stripped.finding];
  const absent = opened === undefined;
  if (check === undefined || absent) return { js, findings: syntax, checked: false, absent };
  try {
    const findings = (await opened).check({ ...check, source, broken: !stripped.ok });
    return { js, findings: findings.length > 0 ? findings : syntax, checked: true, absent };
  } catch (error) {
    // TypeScript itself gave up on the script, or could not be loaded: a reason to tell, not one to stop a script that may be right.
    const told = notChecked(error instanceof Error ? error.message : String(error));
    return { js, findings: [...syntax, told], checked: false, absent };
  }
}

async function declare({ declare: tool }: DeclareRequest): Promise<DeclareReply> {
  try {
    return { declaration: (await opened)?.declare(tool) };
  } catch {
    // Whoever asked has a plainer form to show; a script will be told why TypeScript could not be loaded.
    return { declaration: undefined };
  }
}

parentPort?.on("message", (request: WorkerRequest | DeclareRequest) => {
  isAsked = true;
  const reply = "declare" in request ? declare(request) : read(request);
  void reply.then((answer) => {
    parentPort?.postMessage(answer);
    if ("checked" in answer && answer.checked) keepCompiled();
  });
});
