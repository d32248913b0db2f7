/** The image of a VM that the build makes: it is the same however often it is made, and holds nothing but a fresh VM. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { sandboxOf } from "./sandbox.ts";

const dist = process.env["PIMCP_DIST"] ?? join(import.meta.dirname, "../../dist");
const folder = join(dist, "runtime/sandbox");
const { decodeImage, vmFromImage } = (await import(
  join(folder, "vm-image.js")
)) as typeof import("../../runtime/sandbox/vm-image.ts");

const wasm = (globalThis as unknown as { WebAssembly: { Module: new (bytes: Uint8Array) => object } }).WebAssembly;
const module = new wasm.Module(readFileSync(join(folder, "quickjs.wasm")));
const built = readFileSync(join(folder, "quickjs.image"));
const hooks = { onBridge: () => undefined, shouldInterrupt: () => false };

const urlOf = (file: string) => JSON.stringify(pathToFileURL(join(folder, file)).href);

/** What a process of its own prints. */
function nodeRuns(source: string, env: Record<string, string> = {}): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", source], {
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  expect(status, stderr).toBe(0);
  return stdout;
}

describe("the image", () => {
  test("comes out the same whenever it is made", () => {
    // Vitest would change the text of the functions that go into it.
    const made = nodeRuns(`
      import { createHash } from "node:crypto";
      import { readFileSync } from "node:fs";
      const { encodeImage, makeImage } = await import(${urlOf("vm-image.js")});
      const image = encodeImage(await makeImage(await WebAssembly.compile(readFileSync(new URL(${urlOf("quickjs.wasm")})))));
      console.log(createHash("sha256").update(image).digest("hex"));`);
    expect(made.trim()).toBe(createHash("sha256").update(built).digest("hex"));
  });

  test("holds nothing of the machine that made it", () => {
    for (const own of [process.cwd(), dist, homedir(), hostname(), tmpdir()].filter((text) => text.length > 3)) {
      expect(built.includes(own)).toBe(false);
    }
    // What it does hold can be found like that.
    expect(built.includes("describeNamespace")).toBe(true);
  });

  test("makes VMs that differ in the seed of Math.random and in nothing else", async () => {
    const image = decodeImage(built);
    const one = await vmFromImage(module, image, hooks);
    // Where another language than at the build would move things about, if it got into the memory.
    const told = Object.getOwnPropertyDescriptor(globalThis, "navigator");
    Object.defineProperty(globalThis, "navigator", { value: { language: "x".repeat(1e6) }, configurable: true });
    onTestFinished(() => {
      if (told === undefined) Reflect.deleteProperty(globalThis, "navigator");
      else Object.defineProperty(globalThis, "navigator", told);
    });
    const other = await vmFromImage(module, image, hooks);
    const [left, right] = [one.engine.bytes(), other.engine.bytes()];
    const { seedAt } = image.header;
    expect(Buffer.compare(left.subarray(seedAt, seedAt + 8), right.subarray(seedAt, seedAt + 8))).not.toBe(0);
    for (const memory of [left, right]) memory.fill(0, seedAt, seedAt + 8);
    expect(Buffer.compare(left, right)).toBe(0);
  });

  test("gives each VM a memory of its own", async () => {
    const image = decodeImage(built);
    const used = await vmFromImage(module, image, hooks);
    const left = used.engine.evaluate("globalThis.left = 1; typeof left", "script");
    expect(left.ok && used.engine.text(left.value)).toBe("number");
    const fresh = await vmFromImage(module, image, hooks);
    const found = fresh.engine.evaluate("typeof left", "script");
    expect(found.ok && fresh.engine.text(found.value)).toBe("undefined");
  });
});

describe("scripts on VMs from it", () => {
  test("have random numbers of their own", async () => {
    const sandbox = sandboxOf({}, { workers: 2 });
    const runs = Array.from({ length: 12 }, () => sandbox.run("return Math.random()"));
    const values = (await Promise.all(runs)).map((result) => result.ok && result.value);
    expect(values.every((value) => typeof value === "number" && value >= 0 && value < 1)).toBe(true);
    expect(new Set(values).size).toBe(values.length);
  });

  test("have the clock and the time zone of the process that runs them", () => {
    const source = `
      const { createSandbox } = await import(${urlOf("sandbox.js")});
      const sandbox = createSandbox({ tools: { has: () => false, names: () => [], list: () => [] } });
      const { value } = await sandbox.run("return [new Date(0).getTimezoneOffset(), Date.now()]");
      await sandbox.close();
      console.log(JSON.stringify(value));`;
    const before = Date.now();
    const [offset, now] = JSON.parse(nodeRuns(source, { TZ: "Asia/Tokyo" })) as number[];
    expect(offset).toBe(-540);
    expect(now).toBeGreaterThanOrEqual(before);
  });

  test("are told when the engine isn't there", async () => {
    const alone = mkdtempSync(join(tmpdir(), "pimcp-worker-"));
    try {
      copyFileSync(join(folder, "worker.cjs"), join(alone, "worker.cjs"));
      const sandbox = sandboxOf({}, { workerUrl: pathToFileURL(join(alone, "worker.cjs")) });
      const result = await sandbox.run("return 1");
      expect(result).toMatchObject({
        ok: false,
        error: { kind: "sandbox", message: expect.stringContaining("no worker could be started: ENOENT") },
      });
      copyFileSync(join(folder, "quickjs.wasm"), join(alone, "quickjs.wasm"));
      copyFileSync(join(folder, "quickjs.image"), join(alone, "quickjs.image"));
      expect(await sandbox.run("return 1")).toMatchObject({ ok: true, value: 1 });
    } finally {
      rmSync(alone, { recursive: true });
    }
  });
});
