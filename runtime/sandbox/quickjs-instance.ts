/**
 * QuickJS: one compiled WebAssembly module, and from it a fresh instance for every script. An instance shares nothing with any
 * other, and is dropped, never disposed: with version 0.32 disposing aborts after large strings and many objects.
 *
 * Chosen by measurement among the builds of quickjs-emscripten 0.32 (Node 20, two slow cores, milliseconds):
 *
 * | release-sync, wasmfile        | quickjs 2025 | quickjs-ng |
 * |-------------------------------|--------------|------------|
 * | import, compile               | 2, 5         | 52, 14     |
 * | instance and context, again   | 5            | 6 to 11    |
 * | fib(24)                       | 53           | 85         |
 * | loop of 2 million             | 411          | 376        |
 * | JSON out and in, 4.7 MB       | 295, 203     | 368, 282   |
 * | strings until memory is out   | 6.2 s (2 GB) | 10.2 s     |
 *
 * Both stop at the stack limit and at the end of the memory given to the instance. The chosen one is terminated in under 12 ms from
 * loops, sparse arrays, regular expressions and `indexOf`; ng had the wrong column for a syntax error. The asyncify builds and the
 * single-file ones (base64, to be decoded first) were not measured: nothing here needs them. A string of 10 MB took 98 ms
 * to get in through the module's own encoder, and takes 10 to 40 through TextEncoder.
 */
import type { EmscriptenModuleLoader, QuickJSEmscriptenModule } from "@jitl/quickjs-ffi-types";
import packaged from "@jitl/quickjs-wasmfile-release-sync/emscripten-module";
import { QuickJSFFI } from "@jitl/quickjs-wasmfile-release-sync/ffi";
import { MEMORY_LIMIT } from "./protocol.ts";

export interface QuickJSInstance {
  readonly module: QuickJSEmscriptenModule;
  /** Its C functions by name. */
  readonly c: QuickJSFFI;
  /** Its buffer is another one after each growth. */
  readonly memory: { readonly buffer: ArrayBuffer };
}

/** What the build asks for at least. */
const INITIAL_BYTES = 16 * 1024 * 1024;
const PAGE = 65_536;

/** Makes an instance without anything in it; its memory is the same each time. */
export async function instantiate(wasmModule: object): Promise<QuickJSInstance> {
  // The limit that holds. QuickJS's own counts nothing in a WebAssembly build, where an allocation's size can't be asked for, and
  // with it a script takes 2 GB; past the memory's maximum an allocation fails, and the script gets `out of memory`.
  const memory = new wasm.Memory({ initial: INITIAL_BYTES / PAGE, maximum: MEMORY_LIMIT / PAGE });
  const options = {
    wasmMemory: memory,
    instantiateWasm(imports: object, onInstance: (instance: object) => void) {
      onInstance(new wasm.Instance(wasmModule, imports));
    },
    // Else the path of the process's program gets into the memory, and an image of another process's would not fit.
    thisProgram: "quickjs",
    // What the engine itself prints (failed assertions) is nobody's output.
    print: silent,
    printErr: silent,
  };
  const module = await withoutLanguage(() => load(options as never));
  return { module, c: new QuickJSFFI(module), memory };
}

/** The C library keeps the language of the machine, where node tells it; that is nothing the memory may depend on either. */
async function withoutLanguage<T>(work: () => Promise<T>): Promise<T> {
  const told = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  if (told === undefined) return work();
  Object.defineProperty(globalThis, "navigator", { value: undefined, configurable: true });
  try {
    return await work();
  } finally {
    Object.defineProperty(globalThis, "navigator", told);
  }
}

const silent = () => undefined;

/** Its types are those of another of its forms, where it is one level deeper. */
const load = packaged as unknown as EmscriptenModuleLoader<QuickJSEmscriptenModule>;

/** Node's types have none of it. */
const wasm = (
  globalThis as unknown as {
    WebAssembly: {
      Memory: new (size: { initial: number; maximum: number }) => QuickJSInstance["memory"];
      Instance: new (module: object, imports: object) => object;
    };
  }
).WebAssembly;
