/**
 * What threads make VMs of: QuickJS, compiled, and the image of a VM (`vm-image.ts`). Both lie beside the worker's bundle, where the
 * build puts them; read and compiled once a process, while the first thread starts.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

export interface EngineFiles {
  /** A `WebAssembly.Module`. */
  readonly module: object;
  /** Absent for a worker that runs from the sources. */
  readonly image?: Uint8Array;
}

const loaded = new Map<string, Promise<EngineFiles>>();

/** A failure is not remembered. */
export function engineFiles(workerUrl: URL): Promise<EngineFiles> {
  const known = loaded.get(workerUrl.href);
  if (known !== undefined) return known;
  const loading = load(workerUrl);
  loaded.set(workerUrl.href, loading);
  loading.catch(() => loaded.delete(workerUrl.href));
  return loading;
}

async function load(workerUrl: URL): Promise<EngineFiles> {
  if (workerUrl.pathname.endsWith(".ts")) {
    const path = createRequire(import.meta.url).resolve("@jitl/quickjs-wasmfile-release-sync/wasm");
    return { module: await compile(await readFile(path)) };
  }
  const image = readFile(new URL("./quickjs.image", workerUrl));
  const [module, bytes] = await Promise.all([readFile(new URL("./quickjs.wasm", workerUrl)).then(compile), image]);
  return { module, image: bytes };
}

function compile(bytes: Uint8Array): Promise<object> {
  const { WebAssembly } = globalThis as unknown as { WebAssembly: { compile(bytes: Uint8Array): Promise<object> } };
  return WebAssembly.compile(bytes);
}
