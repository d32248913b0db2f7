/**
 * A VM's memory as it is when its built-ins are frozen and its globals in place, before any script. All of QuickJS is in that
 * memory, so an instance that gets a copy of it is such a VM: making one takes a millisecond instead of fifty. The build makes the
 * image and keeps it beside the engine (`encodeImage`); where there is none, as when the sources are run, a thread makes its own.
 */
import { Engine, type EngineHooks, type Roots, type Value } from "./engine.ts";
import { PRELUDE } from "./vm/prelude.ts";

/** What the host calls in a VM: see `VmApi`. */
export type VmFunction = "prepare" | "run" | "settle" | "describe";
const FUNCTIONS: readonly VmFunction[] = ["prepare", "run", "settle", "describe"];

interface Header {
  readonly roots: Roots;
  readonly functions: Readonly<Record<VmFunction, number>>;
  /** Address of the 8 bytes that `Math.random` goes on from. */
  readonly seedAt: number;
  /** Address and length of each stretch in which there is anything, or was before there was a VM. */
  readonly stretches: readonly (readonly [at: number, length: number])[];
}

export interface VmImage {
  readonly header: Header;
  /** The stretches, one after another. */
  readonly bytes: Uint8Array;
}

export interface PreparedVm {
  readonly engine: Engine;
  readonly functions: Readonly<Record<VmFunction, Value>>;
}

/** A VM from the image, with a seed of its own. */
export async function vmFromImage(
  wasmModule: object,
  { header, bytes }: VmImage,
  hooks: EngineHooks,
): Promise<PreparedVm> {
  const engine = await Engine.restore(wasmModule, hooks, header.roots, (memory) => {
    let from = 0;
    for (const [at, length] of header.stretches) {
      memory.set(bytes.subarray(from, from + length), at);
      from += length;
    }
    // Never all zero: the generator would stay there.
    const seed = [Math.random() * 2 ** 32, 1 + Math.random() * (2 ** 32 - 1)];
    new Uint32Array(memory.buffer, header.seedAt, 2).set(seed);
  });
  return { engine, functions: header.functions as PreparedVm["functions"] };
}

/** Makes the image. Throws where QuickJS's memory depends on more than its seed, so that an image would not be a VM like any other. */
export async function makeImage(wasmModule: object): Promise<VmImage> {
  const one = await prepare(wasmModule);
  // The seed is the clock's, and the two are to differ.
  while (Date.now() === one.doneAt) await new Promise(setImmediate);
  const other = await prepare(wasmModule);
  const seedAt = onlyDifference(one.memory, other.memory);
  one.memory.fill(0, seedAt, seedAt + SEED_BYTES);
  const stretches = usedStretches(one.blank, one.memory);
  const bytes = Buffer.concat(stretches.map(([at, length]) => one.memory.subarray(at, at + length)));
  return { header: { roots: one.roots, functions: one.functions, seedAt, stretches }, bytes };
}

/** The header's length, the header as JSON, the bytes. */
export function encodeImage({ header, bytes }: VmImage): Uint8Array {
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  return Buffer.concat([length, json, bytes]);
}

export function decodeImage(encoded: Uint8Array): VmImage {
  const buffer = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const end = 4 + buffer.readUInt32LE(0);
  return { header: JSON.parse(buffer.toString("utf8", 4, end)) as Header, bytes: buffer.subarray(end) };
}

async function prepare(wasmModule: object) {
  let blank!: Uint8Array;
  const hooks: EngineHooks = { onBridge: refuse, shouldInterrupt: () => false };
  const engine = await Engine.create(wasmModule, hooks, (memory) => {
    blank = memory.slice();
  });
  const succeeded = (outcome: ReturnType<Engine["call"]>) => {
    if (!outcome.ok) throw new Error(`the prelude failed: ${engine.text(outcome.error)}`);
    return outcome.value;
  };
  const make = succeeded(engine.evaluate(PRELUDE, "pimcp:prelude"));
  const api = succeeded(engine.call(make, engine.bridge()));
  const functions = Object.fromEntries(FUNCTIONS.map((name) => [name, engine.member(api, name)]));
  return {
    doneAt: Date.now(),
    blank,
    memory: engine.bytes().slice(),
    roots: engine.roots,
    functions: functions as PreparedVm["functions"],
  };
}

const refuse = () => {
  throw new Error("the prelude has nobody to speak to");
};

const SEED_BYTES = 8;

/** The address of the eight bytes in which alone the two differ. */
function onlyDifference(one: Uint8Array, other: Uint8Array): number {
  const slots = new Set<number>();
  for (const at of blocks(one)) {
    if (Buffer.compare(one.subarray(at, at + BLOCK), other.subarray(at, at + BLOCK)) === 0) continue;
    for (let byte = at; byte < at + BLOCK; byte++) if (one[byte] !== other[byte]) slots.add(byte - (byte % SEED_BYTES));
  }
  const [slot] = slots;
  if (slot === undefined || slots.size > 1) {
    throw new Error(`two fresh VMs differ in ${slots.size} places instead of in their seed`);
  }
  return slot;
}

/** Divides the size of any memory. */
const BLOCK = 1024;
const NOTHING = new Uint8Array(BLOCK);

function* blocks(memory: Uint8Array): Generator<number> {
  for (let at = 0; at < memory.length; at += BLOCK) yield at;
}

/** Stretches of whole blocks that aren't all zero in one or the other. */
function usedStretches(blank: Uint8Array, memory: Uint8Array): [at: number, length: number][] {
  const found: [number, number][] = [];
  for (const at of blocks(memory)) {
    const isUsed = [blank, memory].some((one) => Buffer.compare(one.subarray(at, at + BLOCK), NOTHING) !== 0);
    if (!isUsed) continue;
    const last = found.at(-1);
    if (last !== undefined && last[0] + last[1] === at) last[1] += BLOCK;
    else found.push([at, BLOCK]);
  }
  return found;
}
