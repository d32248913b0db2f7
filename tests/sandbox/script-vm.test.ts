/** One VM without its thread: what is counted outside it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CallRequest, Emission, Ending } from "../../runtime/sandbox/protocol.ts";
import { PNG } from "./sandbox.ts";

const dist = process.env["PIMCP_DIST"] ?? join(import.meta.dirname, "../../dist");
const folder = join(dist, "runtime/sandbox");
const { decodeImage } = (await import(
  join(folder, "vm-image.js")
)) as typeof import("../../runtime/sandbox/vm-image.ts");
const { ScriptVm } = (await import(join(folder, "vm.js"))) as typeof import("../../runtime/sandbox/vm.ts");
const { CALL_LIMITS, OUTPUT_LIMITS } = await import("../../runtime/sandbox/protocol.ts");

const wasm = (globalThis as unknown as { WebAssembly: { Module: new (bytes: Uint8Array) => object } }).WebAssembly;
const module = new wasm.Module(readFileSync(join(folder, "quickjs.wasm")));
const image = decodeImage(readFileSync(join(folder, "quickjs.image")));

/** Runs a script whose calls all answer with nothing. */
async function run(source: string): Promise<{ readonly ending: Ending; readonly output: readonly Emission[] }> {
  let waiting: CallRequest[] = [];
  let ending: Ending | undefined;
  const output: Emission[] = [];
  const vm = await ScriptVm.prepare(module, image, {
    send: (items, calls) => {
      output.push(...items);
      waiting.push(...calls);
    },
    ask: () => '{"value":{"exists":true}}',
    end: (end) => {
      ending = end;
    },
  });
  vm.run({ type: "run", source, storeJson: "[]", globalsJson: "[]" });
  while (ending === undefined && waiting.length > 0) {
    const calls = waiting;
    waiting = [];
    vm.settle(calls.map(({ id }) => ({ id, ok: true })));
  }
  return { ending: ending!, output };
}

const returned = (ending: Ending): unknown =>
  ending.ok && ending.json !== undefined ? JSON.parse(ending.json) : ending;

test("a script makes so many calls and no more", async () => {
  const { ending } = await run(`
    let made = 0;
    for (;;) {
      const calls = Array.from({ length: 5000 }, () => tools.x());
      try { await Promise.all(calls); made += calls.length } catch (error) { return [made, error.message] }
    }`);
  const message = `a script may make ${CALL_LIMITS.total} calls, and this one has`;
  expect(returned(ending)).toEqual([CALL_LIMITS.total, message]);
});

test("a script shows so many images and no more", async () => {
  const { ending, output } = await run(`
    for (let shown = 0; ; shown++) {
      try { image("data:image/png;base64,${PNG}") } catch (error) { return [shown, error.message] }
    }`);
  const message = `image(): a script may show ${OUTPUT_LIMITS.images} images, and this one has`;
  expect(returned(ending)).toEqual([OUTPUT_LIMITS.images, message]);
  expect(output).toHaveLength(OUTPUT_LIMITS.images);
});

test("what arrives before a script's start is not for it", async () => {
  let ending: Ending | undefined;
  const port = { send: () => {}, ask: () => "{}", end: (end: Ending) => (ending = end) };
  const vm = await ScriptVm.prepare(module, image, port);
  vm.settle([{ id: 1, ok: true, json: '"another script\'s"' }]);
  expect(ending).toBeUndefined();
  vm.run({ type: "run", source: "return 1", storeJson: "[]", globalsJson: "[]" });
  expect(returned(ending!)).toBe(1);
});
