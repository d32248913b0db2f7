/**
 * One script in one VM, in the worker's thread. The VM is made ahead of time (`prepare`), takes one script, and is dropped.
 * What counts is counted here, outside the VM: output, calls under way, whether anything can still happen. A script that has
 * ended is interrupted; one that goes on all the same is ended by the other thread, with the worker.
 */
import { nearestAll } from "../../schemas/nearest.ts";
import type { Engine, EngineHooks, Value } from "./engine.ts";
import { type ImageOutcome, imageFromBase64, imageFromUrl } from "./images.ts";
import { Outbox } from "./outbox.ts";
import {
  CALL_LIMITS,
  type CallRequest,
  type Emission,
  type Ending,
  type FailureKind,
  MEMORY_LIMIT,
  OUTPUT_LIMITS,
  type Question,
  type RunMessage,
  SCRIPT_FILE,
  SCRIPT_PREFIX,
  type Settlement,
} from "./protocol.ts";
import { type PreparedVm, type VmImage, vmFromImage } from "./vm-image.ts";

/** How a VM reaches the other thread. None may enter the VM. */
export interface VmPort {
  send(output: readonly Emission[], calls: readonly CallRequest[]): void;
  /** Waits for the answer, which is JSON of `{ value }` or `{ error }`. */
  ask(question: Question): string;
  /** The script's end, after everything it printed. `unmade`: tools it called in its last moment, which are not called. */
  end(ending: Ending, unmade: readonly string[]): void;
}

/** Promise jobs between two looks at what is to be sent. */
const JOBS_AT_ONCE = 500;

export class ScriptVm {
  readonly #engine: Engine;
  readonly #functions: PreparedVm["functions"];
  readonly #port: VmPort;
  #started = false;
  #ended = false;
  readonly #outbox: Outbox;
  readonly #pending = new Map<number, number>();
  #pendingChars = 0;
  #calls = 0;
  #images = 0;

  private constructor({ engine, functions }: PreparedVm, port: VmPort) {
    this.#engine = engine;
    this.#functions = functions;
    this.#port = port;
    this.#outbox = new Outbox((output, calls) => port.send(output, calls));
  }

  /** A VM with its built-ins frozen and its globals in place. */
  static async prepare(wasmModule: object, image: VmImage, port: VmPort): Promise<ScriptVm> {
    let vm: ScriptVm | undefined;
    const hooks: EngineHooks = {
      onBridge: (args) => vm?.onBridge(args),
      shouldInterrupt: () => vm?.onPoll() ?? false,
    };
    vm = new ScriptVm(await vmFromImage(wasmModule, image, hooks), port);
    return vm;
  }

  get ended(): boolean {
    return this.#ended;
  }

  memoryBytes(): number {
    return this.#engine.memoryBytes();
  }

  run({ source, storeJson, globalsJson }: RunMessage): void {
    this.#started = true;
    this.#guard(() => {
      this.#call("prepare", this.#engine.string(storeJson), this.#engine.string(globalsJson));
      if (this.#ended) return;
      const compiled = this.#engine.evaluate(`${SCRIPT_PREFIX}${source}\n})`, SCRIPT_FILE);
      if (!compiled.ok) {
        this.#fail("syntax", this.#describe(compiled.error));
        return;
      }
      this.#call("run", compiled.value);
      this.#drain();
    });
  }

  settle(results: readonly Settlement[]): void {
    // Sent to the script before, which ended while they were on their way.
    if (!this.#started) return;
    this.#guard(() => {
      for (const { id, ok, json, alias } of results) {
        if (this.#ended) return;
        this.#pendingChars -= this.#pending.get(id) ?? 0;
        this.#pending.delete(id);
        this.#deliver(id, ok, json, alias === true);
      }
      this.#drain();
    });
  }

  /** Polled by QuickJS while a script runs. */
  onPoll(): boolean {
    if (!this.#ended) this.#outbox.flush();
    return this.#ended;
  }

  #deliver(id: number, ok: boolean, json: string | undefined, alias: boolean): void {
    const engine = this.#engine;
    const text = json === undefined ? engine.undefined : engine.string(json);
    const number = engine.number(id);
    this.#call("settle", number, engine.boolean(ok), text, engine.boolean(alias));
    engine.free(number);
    if (json !== undefined) engine.free(text);
  }

  /** Runs what is queued; then a script that waits for nothing has failed. */
  #drain(): void {
    while (!this.#ended) {
      const jobs = this.#engine.runJobs(JOBS_AT_ONCE);
      if (!jobs.ok) {
        this.#fail("script", this.#describe(jobs.error));
        return;
      }
      this.#outbox.flushWhenMuch();
      if (jobs.count === 0) break;
    }
    if (this.#ended) return;
    this.#outbox.flush();
    if (this.#pending.size > 0) return;
    if (this.#isOutOfMemory()) {
      this.#fail("memory", OUT_OF_MEMORY);
      return;
    }
    const message =
      "the script waits for a promise that can never settle: no tool call is under way, and there are no timers here";
    this.#fail("stalled", errorJson("Error", message));
  }

  /** A trap or a failed assertion in the engine: the VM is lost, the script has failed. */
  #guard(work: () => void): void {
    try {
      if (!this.#ended) work();
    } catch (error) {
      if (this.#isOutOfMemory()) {
        this.#fail("memory", OUT_OF_MEMORY);
        return;
      }
      const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
      this.#fail("sandbox", errorJson(name, `the script's VM failed: ${message}`));
    }
  }

  #isOutOfMemory(): boolean {
    return this.memoryBytes() > MEMORY_LIMIT * 0.9;
  }

  /** A message of pimcp's code in the VM. */
  onBridge(args: readonly Value[]): string | undefined {
    return this.#ended ? undefined : this.#answer(args.map((arg) => this.#engine.text(arg)));
  }

  /** What pimcp's code in the VM says; a throw here is thrown there. */
  #answer([kind, first, second, third]: string[]): string | undefined {
    switch (kind) {
      case "tool":
      case "global":
        return this.#onCall(kind, Number(first), JSON.parse(second!), third);
      case "ask":
        return this.#onQuestion(JSON.parse(first!));
      case "text":
      case "console":
        return this.#emit({ type: kind, text: first! }, first!.length);
      case "text-json":
      case "console-json":
        return this.#emit({ type: kind === "text-json" ? "text" : "console", text: JSON.parse(first!) }, first!.length);
      case "image":
        return this.#onImage(imageFromBase64(JSON.parse(first!)));
      case "image-url":
        return this.#onImage(imageFromUrl(JSON.parse(first!)));
      case "done":
        return this.#finish(first!, second);
      case "fail":
        return this.#onError(first!);
      default:
        throw new Error(`unknown message ${kind}`);
    }
  }

  #onCall(kind: "tool" | "global", id: number, name: string, json: string | undefined): string | undefined {
    const chars = json?.length ?? 0;
    if (this.#calls >= CALL_LIMITS.total) return `a script may make ${CALL_LIMITS.total} calls, and this one has`;
    if (this.#pending.size >= CALL_LIMITS.calls)
      return `more than ${CALL_LIMITS.calls} calls are under way; await some first`;
    if (this.#pendingChars + chars > CALL_LIMITS.chars) {
      return `the arguments of the calls under way are more than ${CALL_LIMITS.chars} characters of JSON; await some first`;
    }
    this.#calls++;
    this.#pending.set(id, chars);
    this.#pendingChars += chars;
    this.#outbox.addCall({ id, kind, name, ...(json !== undefined && { json }) });
    return undefined;
  }

  #onQuestion(question: Question | { what: "near"; name: string; names: string[] }): string {
    if (question.what === "near") {
      return JSON.stringify({ value: nearestAll(question.name, question.names, 3) });
    }
    return this.#port.ask(question);
  }

  #onImage(image: ImageOutcome): string | undefined {
    if (!image.ok) return image.reason;
    if (this.#images >= OUTPUT_LIMITS.images)
      return `a script may show ${OUTPUT_LIMITS.images} images, and this one has`;
    this.#images++;
    return this.#emit({ type: "image", data: image.data, mimeType: image.mimeType }, image.data.length);
  }

  #emit(item: Emission, chars: number): undefined {
    if (!this.#outbox.count(chars)) {
      const most = `${OUTPUT_LIMITS.chars} characters or ${OUTPUT_LIMITS.items} text(), image() and console calls`;
      this.#fail("output-limit", errorJson("RangeError", `the script printed more than ${most}; print a summary`));
      throw new RangeError("too much output");
    }
    this.#outbox.add(item, chars);
    return undefined;
  }

  #finish(writesJson: string, json: string | undefined): undefined {
    if (json !== undefined && !this.#outbox.count(json.length)) {
      const message = `the returned value takes the output past ${OUTPUT_LIMITS.chars} characters; return a summary`;
      this.#fail("output-limit", errorJson("RangeError", message));
      return undefined;
    }
    this.#end({ ok: true, ...(json !== undefined && { json }), writesJson });
    return undefined;
  }

  #onError(json: string): undefined {
    const { name, message } = JSON.parse(json) as { name: string; message: string };
    const isMemory = name === "InternalError" && message === "out of memory";
    this.#fail(isMemory ? "memory" : "script", json);
    return undefined;
  }

  #fail(kind: FailureKind, json: string): void {
    this.#end({ ok: false, kind, errorJson: json });
  }

  #end(ending: Ending): void {
    if (this.#ended) return;
    // Calls that nobody has heard of yet are never made: the script that made them is over.
    const unmade = this.#outbox.takeCalls().filter(({ kind }) => kind === "tool");
    this.#outbox.flush();
    this.#ended = true;
    this.#port.end(
      ending,
      unmade.map(({ name }) => name),
    );
  }

  #call(name: keyof PreparedVm["functions"], ...args: Value[]): void {
    const called = this.#engine.call(this.#functions[name], ...args);
    if (called.ok) this.#engine.free(called.value);
    else this.#fail("script", this.#describe(called.error));
  }

  #describe(error: Value): string {
    const described = this.#engine.call(this.#functions.describe, error);
    if (!described.ok) return this.#isOutOfMemory() ? OUT_OF_MEMORY : errorJson("Error", "the script failed");
    return this.#engine.text(described.value);
  }
}

function errorJson(name: string, message: string): string {
  return JSON.stringify({ name, message });
}

const OUT_OF_MEMORY = errorJson("InternalError", "out of memory");
