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
import type { EmscriptenModuleLoader, QuickJSEmscriptenModule, QuickJSSyncVariant } from "@jitl/quickjs-ffi-types";
import packaged from "@jitl/quickjs-wasmfile-release-sync";
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSContext } from "quickjs-emscripten-core";
import { MEMORY_LIMIT } from "./protocol.ts";

export interface Engine {
  readonly context: QuickJSContext;
  /** Bytes that the instance has taken so far; it gives none back. */
  memoryBytes(): number;
}

/** QuickJS's own stack; deeper is an error in the script. The worker's native stack must hold what these bytes stand for. */
const STACK_BYTES = 512 * 1024;

/** What the build asks for at least. */
const INITIAL_BYTES = 16 * 1024 * 1024;

const silent = () => undefined;

/** A new instance, with a new runtime and context in it. `shouldInterrupt` is asked now and then while a script runs. */
export async function createEngine(wasmModule: object, shouldInterrupt: () => boolean): Promise<Engine> {
  const variant = newVariant<QuickJSSyncVariant>(
    { ...quickjsVariant, importModuleLoader: async () => withFastStrings(await loadModule()) },
    // What the engine itself prints (failed assertions) is nobody's output.
    {
      wasmModule: wasmModule as never,
      wasmMemory: limitedMemory() as never,
      emscriptenModule: { print: silent, printErr: silent } as never,
    },
  );
  const quickjs = await newQuickJSWASMModuleFromVariant(variant);
  const context = quickjs.newContext();
  context.runtime.setMaxStackSize(STACK_BYTES);
  context.runtime.setInterruptHandler(shouldInterrupt);
  const memory = quickjs.getWasmMemory();
  return { context, memoryBytes: () => memory.buffer.byteLength };
}

const PAGE = 65_536;

/**
 * The limit that holds. QuickJS's own counts nothing in a WebAssembly build, where an allocation's size can't be asked for, and
 * with it a script takes 2 GB; past the memory's maximum an allocation fails, and the script gets `out of memory`.
 */
function limitedMemory(): object {
  const { WebAssembly } = globalThis as unknown as {
    WebAssembly: { Memory: new (size: { initial: number; maximum: number }) => object };
  };
  return new WebAssembly.Memory({ initial: INITIAL_BYTES / PAGE, maximum: MEMORY_LIMIT / PAGE });
}

/** Its types are those of its CommonJS form, where the variant is one level deeper. */
const quickjsVariant = packaged as unknown as QuickJSSyncVariant;

type Load = EmscriptenModuleLoader<QuickJSEmscriptenModule>;

async function loadModule(): Promise<Load> {
  const loaded = await quickjsVariant.importModuleLoader();
  return (typeof loaded === "function" ? loaded : (loaded as { default: unknown }).default) as Load;
}

function withFastStrings(load: Load): Load {
  const encoder = new TextEncoder();
  return async (options) => {
    const module = await load(options);
    module.lengthBytesUTF8 = (text) => Buffer.byteLength(text);
    module.stringToUTF8 = (text, pointer, size) => {
      if ((pointer as number) === 0) throw new RangeError("out of memory");
      const { written } = encoder.encodeInto(text, module.HEAPU8.subarray(pointer, pointer + (size ?? 0) - 1));
      module.HEAPU8[pointer + written] = 0;
    };
    return module;
  };
}
