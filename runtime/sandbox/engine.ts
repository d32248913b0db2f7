/**
 * One VM of QuickJS, spoken to through the engine's exported C functions. The layer that quickjs-emscripten has over them can't be
 * laid over a memory that was filled from an image (`vm-image.ts`), and costs a thread's start some milliseconds. Knows nothing of
 * scripts or tools.
 */
import type {
  EvalDetectModule,
  EvalFlags,
  HostRefId,
  IntrinsicsFlags,
  JSContextPointer,
  JSContextPointerPointer,
  JSRuntimePointer,
  JSValueConstPointer,
  JSValueConstPointerPointer,
  JSValuePointer,
  OwnedHeapCharPointer,
} from "@jitl/quickjs-ffi-types";
import { instantiate, type QuickJSInstance } from "./quickjs-instance.ts";

/** A value in the VM, by its address. Who got it from a method here owns it until `free`. */
export type Value = JSValuePointer | JSValueConstPointer;

export type Outcome =
  | { readonly ok: true; readonly value: Value }
  /** `error` is what was thrown. */
  | { readonly ok: false; readonly error: Value };

/** What the VM asks of its host. Neither may enter the VM again, except to read the arguments. */
export interface EngineHooks {
  /** The VM called the bridge; a throw is thrown there as an Error. The arguments end with the call. */
  onBridge(args: readonly Value[]): string | undefined;
  /** Asked now and then while code runs; true ends it. */
  shouldInterrupt(): boolean;
}

/** Addresses that the memory of an engine means something by. */
export interface Roots {
  readonly runtime: number;
  readonly context: number;
}

/** QuickJS's own stack; deeper is an error in the script. The worker's native stack must hold what these bytes stand for. */
const STACK_BYTES = 512 * 1024;

const ALL_INTRINSICS = 0 as IntrinsicsFlags;
const SCRIPT_CODE = 0 as EvalFlags;
const NEVER_A_MODULE = 0 as EvalDetectModule;
/** The one function of the host's. */
const BRIDGE = 1 as HostRefId;

const encoder = new TextEncoder();

export class Engine {
  readonly #module: QuickJSInstance["module"];
  readonly #c: QuickJSInstance["c"];
  readonly #memory: QuickJSInstance["memory"];
  #runtime!: JSRuntimePointer;
  #context!: JSContextPointer;

  private constructor({ module, c, memory }: QuickJSInstance, hooks: EngineHooks) {
    this.#module = module;
    this.#c = c;
    this.#memory = memory;
    module.callbacks = {
      callFunction: (_async, _context, _this, count, args) => this.#onBridge(hooks, count, args),
      shouldInterrupt: () => (hooks.shouldInterrupt() ? 1 : 0),
      freeHostRef: () => undefined,
      // Never reached: the VM has no module loader.
      loadModuleSource: () => 0 as OwnedHeapCharPointer,
      normalizeModule: () => 0 as OwnedHeapCharPointer,
    };
  }

  /** A new instance with a new runtime and context in it. `onBlank` sees the memory before there is either. */
  static async create(wasmModule: object, hooks: EngineHooks, onBlank?: (memory: Uint8Array) => void): Promise<Engine> {
    const engine = new Engine(await instantiate(wasmModule), hooks);
    onBlank?.(engine.bytes());
    const c = engine.#c;
    engine.#runtime = c.QTS_NewRuntime();
    engine.#context = c.QTS_NewContext(engine.#runtime, ALL_INTRINSICS);
    c.QTS_RuntimeSetMaxStackSize(engine.#runtime, STACK_BYTES);
    c.QTS_RuntimeEnableInterruptHandler(engine.#runtime);
    return engine;
  }

  /** A new instance whose memory `fill` makes that of an engine made before. */
  static async restore(
    wasmModule: object,
    hooks: EngineHooks,
    { runtime, context }: Roots,
    fill: (memory: Uint8Array) => void,
  ): Promise<Engine> {
    const engine = new Engine(await instantiate(wasmModule), hooks);
    fill(engine.bytes());
    engine.#runtime = runtime as JSRuntimePointer;
    engine.#context = context as JSContextPointer;
    return engine;
  }

  get roots(): Roots {
    return { runtime: this.#runtime, context: this.#context };
  }

  /** The whole memory; a view that ends when the memory grows. */
  bytes(): Uint8Array {
    return new Uint8Array(this.#memory.buffer);
  }

  /** Bytes that the instance has taken so far; it gives none back. */
  memoryBytes(): number {
    return this.#memory.buffer.byteLength;
  }

  /** Runs a script's text; `file` is its name in stacks. */
  evaluate(source: string, file: string): Outcome {
    const { pointer, bytes } = this.#copyIn(source);
    const value = this.#c.QTS_Eval(this.#context, pointer, bytes, file, NEVER_A_MODULE, SCRIPT_CODE);
    this.#module._free(pointer);
    return this.#outcome(value);
  }

  /** Calls a function without a `this`. */
  call(callee: Value, ...args: readonly Value[]): Outcome {
    const list = this.#allocate(Math.max(1, args.length) * 4) as JSValueConstPointerPointer;
    new Uint32Array(this.#memory.buffer, list, args.length).set(args);
    const value = this.#c.QTS_Call(this.#context, callee, this.undefined, args.length, list);
    this.#module._free(list);
    return this.#outcome(value);
  }

  /** Runs promise jobs, at most so many, and says how many there were; or what one of them threw. */
  runJobs(most: number): { readonly ok: true; readonly count: number } | { readonly ok: false; readonly error: Value } {
    const context = this.#allocate(4) as JSContextPointerPointer;
    new Uint32Array(this.#memory.buffer, context, 1)[0] = 0;
    const value = this.#c.QTS_ExecutePendingJob(this.#runtime, most, context);
    const anyRan = new Uint32Array(this.#memory.buffer, context, 1)[0] !== 0;
    this.#module._free(context);
    if (anyRan && !this.#isNumber(value)) return { ok: false, error: value };
    const count = anyRan ? this.#c.QTS_GetFloat64(this.#context, value) : 0;
    this.free(value);
    return { ok: true, count };
  }

  get undefined(): Value {
    return this.#c.QTS_GetUndefined();
  }

  boolean(value: boolean): Value {
    return value ? this.#c.QTS_GetTrue() : this.#c.QTS_GetFalse();
  }

  number(value: number): Value {
    return this.#c.QTS_NewFloat64(this.#context, value);
  }

  /** Up to the first NUL: what may have one has to come as JSON. */
  string(text: string): Value {
    const { pointer } = this.#copyIn(text);
    const value = this.#c.QTS_NewString(this.#context, pointer);
    this.#module._free(pointer);
    return value;
  }

  /** The function through which the VM reaches its host. */
  bridge(): Value {
    return this.#c.QTS_NewFunction(this.#context, "bridge", 0, false, BRIDGE);
  }

  /** A member's value. */
  member(owner: Value, name: string): Value {
    const key = this.string(name);
    const value = this.#c.QTS_GetProp(this.#context, owner, key);
    this.free(key);
    return value;
  }

  /** A value as a string, empty where making one failed. */
  text(value: Value): string {
    const pointer = this.#c.QTS_GetString(this.#context, value);
    const text = this.#module.UTF8ToString(pointer);
    this.#c.QTS_FreeCString(this.#context, pointer);
    return text;
  }

  free(value: Value): void {
    this.#c.QTS_FreeValuePointer(this.#context, value as JSValuePointer);
  }

  #outcome(value: JSValuePointer): Outcome {
    const error = this.#c.QTS_ResolveException(this.#context, value);
    if (error === 0) return { ok: true, value };
    this.free(value);
    return { ok: false, error };
  }

  #isNumber(value: Value): boolean {
    const pointer = this.#c.QTS_Typeof(this.#context, value);
    const type = this.#module.UTF8ToString(pointer);
    this.#module._free(pointer);
    return type === "number";
  }

  /** Called by the VM, which owns what this gives it. A JavaScript exception must not cross its frames. */
  #onBridge(hooks: EngineHooks, count: number, args: JSValueConstPointer): JSValuePointer {
    try {
      const values = Array.from({ length: count }, (_, n) => this.#c.QTS_ArgvGetJSValueConstPointer(args, n));
      const answer = hooks.onBridge(values);
      return (answer === undefined ? 0 : this.string(answer)) as JSValuePointer;
    } catch (error) {
      return this.#throw(error instanceof Error ? error.message : String(error));
    }
  }

  #throw(message: string): JSValuePointer {
    const error = this.#c.QTS_NewError(this.#context);
    const [key, text] = [this.string("message"), this.string(message)];
    this.#c.QTS_SetProp(this.#context, error, key, text);
    const thrown = this.#c.QTS_Throw(this.#context, error);
    for (const value of [key, text, error]) this.free(value);
    return thrown;
  }

  #allocate(bytes: number): number {
    const pointer = this.#module._malloc(bytes);
    if (pointer === 0) throw new RangeError("out of memory");
    return pointer;
  }

  /** Text as a C string, to be freed. */
  #copyIn(text: string): { readonly pointer: OwnedHeapCharPointer; readonly bytes: number } {
    const bytes = Buffer.byteLength(text);
    const pointer = this.#allocate(bytes + 1);
    const target = new Uint8Array(this.#memory.buffer, pointer, bytes + 1);
    encoder.encodeInto(text, target);
    target[bytes] = 0;
    return { pointer: pointer as OwnedHeapCharPointer, bytes };
  }
}
