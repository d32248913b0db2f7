/** Faults that users met in peers, (f): sandbox scripts. Hosts' memory and event loop are compared with what the same run needs at least. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, expect, test } from "vitest";
import { sandboxOf, sleep } from "../sandbox/sandbox.ts";

const sandbox = sandboxOf({
  echo: (args) => ({ structured: args }),
  fails: () => Promise.reject(new Error("it failed")),
  wait: async (args, signal) => {
    await sleep(300, signal);
    return args;
  },
});

/** Of the result, how long this thread was kept at worst, and by how much its memory grew. */
async function watched<T>(work: () => Promise<T>) {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  const before = process.memoryUsage();
  const startedAt = performance.now();
  delay.enable();
  const result = await work();
  delay.disable();
  const after = process.memoryUsage();
  const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  return { result, ms: performance.now() - startedAt, worstMs: delay.max / 1e6, grownMB: grown / 2 ** 20 };
}

describe("nothing stops the host (qjs-e #219, #269)", () => {
  const hostile: [what: string, source: string][] = [
    ["a busy loop", "for (;;);"],
    ["swallowed interrupts", "for (;;) { try { for (;;); } catch {} finally { continue } }"],
    ["an array of a billion empty slots as a string", "String(new Array(1e9))"],
    ["a regular expression that backtracks", '/(a|b|c|d)*e/.test("abcd".repeat(50000))'],
    ["a search that finds nothing", 'const a = "a".repeat(3e6); (a + "b").indexOf(a.slice(0, 15e5) + "c")'],
    ["a storm of promises", "const f = () => Promise.resolve().then(f); f(); f(); await f()"],
    ["a loop of awaits", "for (;;) await null"],
    ["calls without end", "for (;;) tools.wait({}).catch(() => {})"],
    ["a getter that never returns", "return { get a() { for (;;); } }"],
    ["a loop after exit", "try { exit() } catch {} for (;;);"],
  ];
  test.each(hostile)("%s ends at the deadline, and the next script runs", async (what, source) => {
    const { result, worstMs, grownMB } = await watched(() => sandbox.run(source, { timeoutMs: 1500 }));
    if (what === "a loop after exit") expect(result.ok).toBe(true);
    else expect(result).toMatchObject({ ok: false, error: { kind: "timeout" } });
    // A thread that was blocked would show the whole deadline.
    expect(worstMs).toBeLessThan(750);
    expect(grownMB).toBeLessThan(256);
    expect(await sandbox.run("return 1")).toMatchObject({ ok: true, value: 1 });
  });

  const memory: [what: string, source: string][] = [
    ["strings", 'const a = []; for (;;) a.push("x".repeat(100000) + a.length)'],
    ["objects", "const a = []; for (;;) a.push({ a })"],
    ["one doubling string", 'let a = "x".repeat(1e6); for (;;) a += a'],
    ["typed arrays", "const a = []; for (;;) a.push(new Uint8Array(5e6))"],
    ["held by a global", 'globalThis.a = []; for (;;) a.push("x".repeat(100000) + a.length)'],
  ];
  test.each(memory)("memory taken by %s is bounded", async (_, source) => {
    const rss = process.memoryUsage().rss;
    const result = await sandbox.run(source, { timeoutMs: 60_000 });
    expect(result).toMatchObject({ ok: false, error: { message: expect.stringMatching(/out of memory|too long/) } });
    // The VM's 256 MB and what the thread needs beside it; the module alone would take 2 GB.
    expect((process.memoryUsage().rss - rss) / 2 ** 20).toBeLessThan(600);
    expect(await sandbox.run("return 1")).toMatchObject({ ok: true, value: 1 });
  });

  test("200,000 objects made in a promise job are a value like any other", async () => {
    const source =
      "const o = await Promise.resolve().then(() => Array.from({ length: 200000 }, (_, i) => ({ i }))); return o.length";
    expect(await sandbox.run(source)).toMatchObject({ ok: true, value: 200_000 });
    expect(await sandbox.run("return 2")).toMatchObject({ ok: true, value: 2 });
  });

  test("deep recursion, deep JSON and deep nesting are errors of the script", async () => {
    const source = `
      const names = [];
      for (const deep of [
        () => { const f = () => f() + 1; f() },
        () => JSON.parse("[".repeat(1e5) + "]".repeat(1e5)),
        () => new Function("[".repeat(1e5)),
        () => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return String(a) },
      ]) { try { deep() } catch (error) { names.push(error.message) } }
      return names;`;
    expect(await sandbox.run(source)).toMatchObject({ ok: true, value: Array(4).fill("stack overflow") });
  });

  test("an abort ends a script and its calls, and a waiting one never starts", async () => {
    const abort = new AbortController();
    const runs = [1, 2, 3].map(() => sandbox.run("await tools.wait({}); for (;;);", { signal: abort.signal }));
    await sleep(600, new AbortController().signal);
    abort.abort(new Error("enough"));
    const kinds = (await Promise.all(runs)).map(
      (result) => !result.ok && [result.error.kind, result.error.message.slice(0, 6)],
    );
    expect(kinds).toEqual(Array(3).fill(["aborted", "enough"]));
    expect(await sandbox.run("return 1")).toMatchObject({ ok: true });
  });
});

test("calls that are work for the host are taken up in short turns", async () => {
  const busy = sandboxOf({
    work: () => {
      const until = performance.now() + 5;
      while (performance.now() < until);
    },
  });
  await busy.run("return 1");
  const { result, ms, worstMs } = await watched(() =>
    busy.run("await Promise.all(Array.from({ length: 300 }, () => tools.work())); return 2"),
  );
  expect(result).toMatchObject({ ok: true, value: 2 });
  // All of them at once would be all of the time.
  expect(worstMs).toBeLessThan(ms / 3);
});

describe("patched built-ins (pi #10444)", () => {
  test("reach neither the host nor the next script", async () => {
    const source = `
      const tries = [
        () => { Array.prototype.toJSON = () => { throw new Error("patched") } },
        () => { JSON.stringify = () => "patched" },
        () => { Object.prototype.polluted = 1 },
        () => { Promise.prototype.then = () => 1 },
        () => { Object.getPrototypeOf(async () => {}).constructor = 1 },
        () => { globalThis.Array = 1 },
        () => { Object.setPrototypeOf(Array.prototype, null) },
      ];
      for (const change of tries) { try { change() } catch {} }
      text({ polluted: {}.polluted ?? "no" });
      return [1, 2]`;
    expect(await sandbox.run(source)).toMatchObject({
      ok: true,
      value: [1, 2],
      output: [{ text: '{"polluted":"no"}' }, {}],
    });
    expect(await sandbox.run("globalThis.left = 1; return [1, 2]")).toMatchObject({ ok: true, value: [1, 2] });
    expect(await sandbox.run("return typeof left")).toMatchObject({ ok: true, value: "undefined" });
  });

  test("everything that a script can reach is frozen", async () => {
    const source = `
      const seen = new Set([globalThis, tools]);
      const open = [];
      const queue = [];
      for (const key of Reflect.ownKeys(globalThis)) {
        const found = Object.getOwnPropertyDescriptor(globalThis, key);
        for (const part of [found.value, found.get, found.set]) queue.push([part, String(key)]);
      }
      const functions = [function* () {}, async () => {}, async function* () {}];
      const iterators = [[].values(), new Map().values(), [].values().take(1), Iterator.from({ next() {} }), Iterator.concat([]), "".matchAll(/a/g)];
      for (const one of [...functions, ...iterators]) queue.push([Object.getPrototypeOf(one), "hidden"]);
      while (queue.length > 0) {
        const [value, path] = queue.pop();
        if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) continue;
        seen.add(value);
        if (!Object.isFrozen(value)) open.push(path);
        queue.push([Object.getPrototypeOf(value), path + ".__proto__"]);
        for (const key of Reflect.ownKeys(value)) {
          const found = Object.getOwnPropertyDescriptor(value, key);
          for (const part of [found.value, found.get, found.set]) queue.push([part, path + "." + String(key)]);
        }
      }
      return { open, enough: seen.size > 700 }`;
    expect(await sandbox.run(source)).toMatchObject({ ok: true, value: { open: [], enough: true } });
  });

  test("what scripts rightly assign to their own objects still works", async () => {
    const source = `
      class Mine extends Error { constructor(m) { super(m); this.name = "Mine" } }
      function Old() {}
      Old.prototype = Object.create(Error.prototype);
      Old.prototype.constructor = Old;
      Old.prototype.toString = () => "old";
      const error = new Mine("a"); error.message = "b"; error.code = 1;
      const plain = { }; plain.toString = () => "plain"; plain.constructor = 5; plain.hasOwnProperty = 6;
      const list = [1]; list.toString = () => "list";
      return [String(error), String(new Old()), String(plain), plain.constructor, Object.keys(plain), String(list), error.code]`;
    expect(await sandbox.run(source)).toMatchObject({
      ok: true,
      value: ["Mine: b", "old", "plain", 5, ["toString", "constructor", "hasOwnProperty"], "list", 1],
    });
  });
});

describe("floods of output (pi #10283, #10678)", () => {
  test("printing without end fails at the limit with the host's memory bounded", async () => {
    const { result, worstMs, grownMB } = await watched(() =>
      sandbox.run('for (;;) console.log("x".repeat(1000))', { timeoutMs: 60_000 }),
    );
    expect(result).toMatchObject({ ok: false, error: { kind: "output-limit" } });
    expect(result.console.join("").length).toBeGreaterThan(16_000_000);
    // What is kept is 16 Mi characters.
    expect(grownMB).toBeLessThan(16 * 8);
    expect(worstMs).toBeLessThan(2000);
  });

  test("100,000 short prints take a constant time each", async () => {
    const time = async (count: number) => {
      const { result, ms } = await watched(() => sandbox.run(`for (let i = 0; i < ${count}; i++) text("x" + i)`));
      expect(result.output).toHaveLength(count);
      return ms;
    };
    await time(1000);
    const short = await time(12_500);
    // Eight times as many; quadratic would be 64 times as long.
    expect(await time(100_000)).toBeLessThan(short * 32);
    expect(await sandbox.run('for (;;) text("")', { timeoutMs: 60_000 })).toMatchObject({
      error: { kind: "output-limit" },
    });
  });
});

test("parallel scripts wait for a worker (pi #11184)", async () => {
  const runs = Array.from({ length: 10 }, (_, n) => sandbox.run(`return (await tools.wait({ n: ${n} })).n`));
  expect((await Promise.all(runs)).map((result) => result.ok && result.value)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("many scripts at once warn of nothing", async () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error) => warnings.push(warning.message);
  process.on("warning", onWarning);
  const runs = Array.from({ length: 30 }, () => sandbox.run("await tools.echo({})"));
  expect((await Promise.all(runs)).every(({ ok }) => ok)).toBe(true);
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});

test("a step before the script that throws is how the run ends", async () => {
  const prepare = async () => {
    throw new Error("no checker");
  };
  expect(await sandbox.run("text(1)", { prepare })).toMatchObject({
    ok: false,
    output: [],
    error: { kind: "sandbox", message: "no checker; the script was not started" },
  });
  const abort = new AbortController();
  const run = sandbox.run("text(1)", { prepare: () => new Promise<never>(() => {}), signal: abort.signal });
  abort.abort(new Error("enough"));
  expect(await run).toMatchObject({
    ok: false,
    output: [],
    error: { kind: "aborted", message: "enough; the script was not started" },
  });
});

test("a script's time begins when it was prepared, and may be endless", async () => {
  const prepare = async (js: string) => {
    await sleep(2000, new AbortController().signal);
    return { ok: true, js } as const;
  };
  // Less than the step takes, and much more than the script.
  expect(await sandbox.run("return 1", { prepare, timeoutMs: 1900 })).toMatchObject({ ok: true });
  expect(await sandbox.run("return 1", { timeoutMs: Number.POSITIVE_INFINITY })).toMatchObject({ ok: true });
});

test("a script that gets no worker in time says so and makes no call", async () => {
  let release = (_?: unknown) => {};
  const hold = () =>
    new Promise((resolve) => {
      release = resolve;
    });
  const narrow = sandboxOf({ hold }, { workers: 1, waitMs: 200 });
  await expect.poll(async () => (await narrow.run("return 0")).ok, { timeout: 30_000 }).toBe(true);
  const first = narrow.run("await tools.hold(); return 1");
  expect(await narrow.run("return 2")).toMatchObject({
    ok: false,
    calls: [],
    error: { kind: "timeout", message: expect.stringContaining("0.2 seconds") },
  });
  expect(await narrow.run("return 2", { timeoutMs: 50 })).toMatchObject({
    error: { message: expect.stringContaining("50 ms") },
  });
  release();
  expect(await first).toMatchObject({ ok: true, value: 1 });
});

describe("promises (pi #10555)", () => {
  test("a returned call is its value", async () => {
    expect(await sandbox.run("return tools.echo({ a: 1 })")).toMatchObject({
      ok: true,
      value: { structured: { a: 1 } },
    });
  });

  test("a failing call that nobody awaits harms nothing", async () => {
    expect(await sandbox.run("tools.fails({}); await tools.wait({}); return 1")).toMatchObject({ ok: true, value: 1 });
    expect(await sandbox.run("tools.fails({}); return 1")).toMatchObject({ ok: true, value: 1 });
  });

  test("a result that comes after its script's end harms nothing", async () => {
    const lone = sandboxOf({ echo: (args) => args }, { workers: 1 });
    for (let round = 0; round < 5; round++) {
      // The result is sent while the script is busy, and found when it has ended.
      await lone.run("tools.echo({}); for (let n = 0; n < 3e5; n++); return 1");
      expect(await lone.run("return 2")).toMatchObject({ ok: true, value: 2 });
    }
  });

  test("awaiting tools or a group of them doesn't hang", async () => {
    expect(await sandbox.run("await tools; return typeof (await tools)")).toMatchObject({ ok: true, value: "object" });
  });

  test.each(["await new Promise(() => {})", "await { then() {} }", "await Promise.race([])"])(
    "%s fails at once",
    async (source) => {
      expect(await sandbox.run(source)).toMatchObject({
        ok: false,
        error: { kind: "stalled", message: expect.stringContaining("never settle") },
      });
    },
  );
});
