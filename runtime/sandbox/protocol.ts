/**
 * What the two threads say to each other: plain data, and text as the JSON it has when it leaves the VM. Numbers that both sides
 * must agree on stand here too.
 */

/** One script. */
export interface RunMessage {
  readonly type: "run";
  /** Body of an async function, plain JavaScript. */
  readonly source: string;
  /** `[key, JSON][]` as JSON. */
  readonly storeJson: string;
  /** `string[]` as JSON. */
  readonly globalsJson: string;
}

export interface Settlement {
  readonly id: number;
  readonly ok: boolean;
  /** JSON of the value, or of the error's text; absent for undefined. */
  readonly json?: string;
  /** The value's `structured` is its `structuredContent`, and was sent once. */
  readonly alias?: true;
}

export type ToWorker =
  /** `image`: see vm-image.ts; the thread makes its own where there is none. */
  | { readonly type: "engine"; readonly module: object; readonly image?: Uint8Array }
  | RunMessage
  | { readonly type: "settle"; readonly results: readonly Settlement[] };

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

export type OutputItem =
  | { readonly type: "text"; readonly text: string }
  /** `data` is base64. */
  | { readonly type: "image"; readonly data: string; readonly mimeType: ImageType };

export type Emission = OutputItem | { readonly type: "console"; readonly text: string };

export interface CallRequest {
  readonly id: number;
  readonly kind: "tool" | "global";
  readonly name: string;
  /** Of the one argument of a tool, of all arguments of a global; absent for undefined. */
  readonly json?: string;
}

export type FailureKind =
  /** The script threw. */
  | "script"
  /** It doesn't parse. */
  | "syntax"
  /** Its types don't fit the tools it calls; it was not run. */
  | "types"
  /** Its options line or its form is wrong; it was not run. */
  | "source"
  /** It ran out of its VM's memory. */
  | "memory"
  /** It printed more than a script may. */
  | "output-limit"
  /** It waits for a promise that nothing can settle. */
  | "stalled"
  | "timeout"
  | "aborted"
  /** Its VM or worker failed. */
  | "sandbox";

export type Ending =
  | { readonly ok: true; readonly json?: string; readonly writesJson: string }
  /** `errorJson` is `{ name, message, stack? }`. */
  | { readonly ok: false; readonly kind: FailureKind; readonly errorJson: string };

/** What a script wants to know at once, while its thread waits. */
export type Question =
  | { readonly what: "tool"; readonly name: string }
  | { readonly what: "names" }
  | { readonly what: "list" };

export type FromWorker =
  | { readonly type: "batch"; readonly output: readonly Emission[]; readonly calls: readonly CallRequest[] }
  | { readonly type: "ask"; readonly question: Question }
  | { readonly type: "done"; readonly ending: Ending; readonly unmade: readonly string[] }
  /** The next script may come. `spent`: the worker is better replaced. */
  | { readonly type: "idle"; readonly spent: boolean };

export interface WorkerData {
  /** Where answers to questions arrive. */
  readonly answers: object;
  /** Set to 1 when an answer was sent. */
  readonly answered: Int32Array;
}

/** Names of files in the VM, as its stacks have them. */
export const SCRIPT_FILE = "script";
/** Stands before the script on its first line. */
export const SCRIPT_PREFIX = "(async () => {";

/** Bytes of a VM's memory. */
export const MEMORY_LIMIT = 256 * 1024 * 1024;

/** Characters of JSON that one stored value, and all of them, may have. */
export const STORE_LIMITS = { storeValue: 262_144, storeTotal: 1_048_576 } as const;

/** Characters (of text and of images' base64) and items that one script may print; images among them, each of which becomes a file. */
export const OUTPUT_LIMITS = { chars: 16_777_216, items: 100_000, images: 256 } as const;

/** Calls that one script may make (each is kept for the trace), those under way, and characters of JSON of their arguments. */
export const CALL_LIMITS = { total: 100_000, calls: 10_000, chars: 67_108_864 } as const;
