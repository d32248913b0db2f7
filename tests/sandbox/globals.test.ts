/** Every global and limit of Pi's `docs/codemode.md`, in the order of that page. */
import { describe, expect, test } from "vitest";
import { hostOf, PNG, sandboxOf, sleep, texts } from "./sandbox.ts";

const signals: AbortSignal[] = [];
const sandbox = sandboxOf(
  {
    echo: (args) => ({ content: [{ type: "text", text: "hi" }], structuredContent: args }),
    bad: () => ({ content: [{ type: "text", text: "no" }], isError: true }),
    fails: () => {
      throw new Error("the tool's own text");
    },
    forever: (_, signal) => {
      signals.push(signal);
      return sleep(60_000, signal);
    },
    nothing: () => undefined,
    picture: () => ({ type: "image", data: PNG, mimeType: "image/png" }),
  },
  { globals: { "models.list": ([type]) => [type], greet: ([name, mark]) => `hello ${name}${mark}` } },
);

describe("what a script may be", () => {
  const rows: [what: string, source: string, value: unknown][] = [
    ["return at the top", "return 1", 1],
    ["await at the top", "return await Promise.resolve(2)", 2],
    ["nothing returned", "1 + 1", undefined],
    ["an options line first", '// @options: {"max_output_tokens": 5, "timeout_ms": 60000}\nreturn 3', 3],
    ["a code fence around it", "```js\nreturn 4\n```\n", 4],
    ["a fence with an options line", '```ts\n// @options: {"timeout_ms": 60000}\nreturn 5\n```', 5],
    ["JSON around it", '{"code": "return 6"}', 6],
    ["a byte order mark", "\ufeffreturn 7", 7],
    [
      "no Node, network or timers",
      "return [typeof process, typeof require, typeof fetch, typeof setTimeout].join()",
      "undefined,undefined,undefined,undefined",
    ],
  ];
  test.each(rows)("%s", async (_, source, value) => {
    const result = await sandbox.run(source);
    expect(result).toMatchObject({ ok: true });
    expect(result.ok && result.value).toEqual(value);
  });

  const wrong: [source: string, message: RegExp, line: number][] = [
    ["", /empty/, 1],
    ["return 1\n// @options: {}", /first line; this one is on line 2/, 2],
    ["// @options: {}", /nothing follows/, 1],
    ["// @options: {nope}\nreturn 1", /JSON/, 1],
    ["// @options: []\nreturn 1", /object with max_output_tokens and timeout_ms/, 1],
    ['// @options: {"timeout": 1}\nreturn 1', /not "timeout"/, 1],
    ['// @options: {"timeout_ms": 0}\nreturn 1', /timeout_ms is a whole number from 1/, 1],
    ['// @options: {"max_output_tokens": -1}\nreturn 1', /max_output_tokens is a whole number from 0/, 1],
    ["```js\nreturn 1\n```\nand\n```js\nreturn 2\n```", /markdown/, 1],
  ];
  test.each(wrong)("%j is refused before it runs", async (source, message, line) => {
    const result = await sandbox.run(source);
    expect(result).toMatchObject({
      ok: false,
      error: { kind: "source", line, message: expect.stringMatching(message) },
    });
  });
});

describe("output", () => {
  test("text(): strings as they are, the rest as JSON, then the returned value", async () => {
    const result = await sandbox.run('text("a"); text(1); text({b: [2]}); text(undefined); text(null); return "end"');
    expect(texts(result)).toEqual(["a", "1", '{"b":[2]}', "undefined", "null", "end"]);
  });

  test("text keeps every character, lone halves of pairs and NUL too", async () => {
    const result = await sandbox.run('text("a\\0b\\ud800c😀é"); return "\\0\\udc00"');
    expect(texts(result)).toEqual(["a\0b\ud800c😀é", "\0\udc00"]);
  });

  test("console joins with blanks, whatever the level", async () => {
    const result = await sandbox.run(
      'console.log("a", 1, {b: 2}); console.error(new TypeError("bad")); console.debug(10n, NaN, () => 1)',
    );
    expect(result.console[0]).toBe('a 1 {"b":2}');
    expect(result.console[1]).toMatch(/^TypeError: bad\n\s+at .*script:1:/);
    expect(result.console[2]).toBe("10 NaN () => 1");
    expect(result.output).toEqual([]);
  });

  test("image() takes data URLs, image_url objects and image blocks", async () => {
    const url = `"data:image/png;base64,${PNG}"`;
    const result = await sandbox.run(
      `image(${url}); image({image_url: ${url}}); image({image_url: {url: ${url}}}); image(await tools.picture())`,
    );
    expect(result.output).toEqual(Array(4).fill({ type: "image", data: PNG, mimeType: "image/png" }));
  });

  const images: [source: string, message: RegExp][] = [
    ['image("https://example.com/a.png")', /remote images/],
    ['image("data:image/png;base64,AAAA")', /no PNG, JPEG, GIF or WebP/],
    ['image("data:image/png;base64,%%%%")', /not base64/],
    ["image({})", /takes a base64/],
    ["image(null)", /takes a base64/],
  ];
  test.each(images)("%s is refused", async (source, message) => {
    expect(await sandbox.run(source)).toMatchObject({ ok: false, error: { message: expect.stringMatching(message) } });
  });

  test("exit() ends the script at once and well, even where it is caught", async () => {
    const result = await sandbox.run('text("a"); store("k", 1); try { exit() } catch { text("b") } for (;;);');
    expect(result).toMatchObject({ ok: true, storeWrites: { set: { k: 1 } } });
    expect(texts(result)).toEqual(["a"]);
  });
});

describe("tools", () => {
  test("a call resolves to the whole result, one with isError too", async () => {
    const result = await sandbox.run(
      "return [await tools.echo({ a: 1 }), await tools.bad(), await tools.nothing() === undefined]",
    );
    expect(result.ok && result.value).toEqual([
      { content: [{ type: "text", text: "hi" }], structuredContent: { a: 1 } },
      { content: [{ type: "text", text: "no" }], isError: true },
      true,
    ]);
    expect(result.calls.map(({ name, status }) => [name, status])).toEqual([
      ["echo", "ok"],
      ["bad", "ok"],
      ["nothing", "ok"],
    ]);
  });

  test("a failing call rejects with an Error of the tool's text, placed at the call", async () => {
    const result = await sandbox.run("const x = 1;\nawait tools.fails({});");
    expect(result).toMatchObject({
      ok: false,
      error: { kind: "script", name: "Error", message: "the tool's own text", line: 2 },
    });
    expect(result.calls).toMatchObject([{ name: "fails", status: "error", error: "the tool's own text" }]);
    const caught = await sandbox.run(
      "try { await tools.fails() } catch (error) { return [error instanceof Error, error.message] }",
    );
    expect(caught.ok && caught.value).toEqual([true, "the tool's own text"]);
  });

  test("calls under way when the script ends are cancelled, and say so", async () => {
    const result = await sandbox.run("const first = tools.forever(); await tools.echo(); tools.forever(); return 1");
    expect(result.ok).toBe(true);
    expect(result.calls.map(({ status }) => status)).toEqual(["cancelled", "ok", "cancelled"]);
    expect(signals.at(-1)!.aborted).toBe(true);
  });

  const names: [source: string, message: string][] = [
    ["tools.ecko", "tools.ecko does not exist; did you mean tools.echo?"],
    ["models.lits", "models.lits does not exist; did you mean models.list?"],
  ];
  test.each(names)("%s names what was meant", async (source, message) => {
    const result = await sandbox.run(`\n  ${source}({})`);
    expect(result).toMatchObject({
      ok: false,
      error: { name: "TypeError", line: 2, message: expect.stringContaining(message) },
    });
  });

  test("tools can be asked and listed, and not changed", async () => {
    const result = await sandbox.run(`
      const refused = [];
      for (const change of [() => { "use strict"; tools.echo = 1 }, () => { delete tools.echo }, () => { Object.defineProperty(tools, "x", { value: 1 }) }]) {
        try { change() } catch (error) { refused.push(error.name) }
      }
      return ["echo" in tools, "nope" in tools, Object.keys(tools).length, typeof tools.echo, refused];
    `);
    expect(result.ok && result.value).toEqual([true, false, 6, "function", ["TypeError", "TypeError", "TypeError"]]);
  });

  test("ALL_TOOLS, searchTools, describeTool, describeNamespace", async () => {
    const result = await sandbox.run(`return {
      all: ALL_TOOLS.length, first: ALL_TOOLS[0], frozen: Object.isFrozen(ALL_TOOLS),
      search: await searchTools("q", { limit: 1, namespace: "n" }), eight: (await searchTools("q")).length,
      tool: await describeTool("echo"), noTool: await describeTool("x") === undefined,
      namespace: await describeNamespace("mcp__docs"), none: await describeNamespace("x") === undefined,
      wrong: await searchTools(1).catch((error) => error.message),
    }`);
    expect(result.ok && result.value).toMatchObject({
      all: 6,
      first: { name: "echo", description: "does echo" },
      frozen: true,
      search: [{ name: "echo", description: "q n" }],
      eight: 6,
      tool: "declare echo",
      noTool: true,
      namespace: { name: "mcp__docs", instructions: "read first" },
      none: true,
      wrong: "searchTools() takes a query as a string",
    });
    expect(result.calls).toEqual([]);
  });

  test("a host's own functions are globals", async () => {
    const result = await sandbox.run('return [await greet("you", "!"), await models.list("image")]');
    expect(result.ok && result.value).toEqual(["hello you!", ["image"]]);
  });
});

describe("store", () => {
  test("load() gives copies of what was stored; writes come back when the script succeeds", async () => {
    const source =
      'const a = load("a"); a.n++; store("b", { x: 1 }); store("c", undefined); return [a.n, load("a").n, load("b"), load("c") === undefined]';
    const result = await sandbox.run(source, { store: { a: { n: 1 }, c: 3 } });
    expect(result.ok && result.value).toEqual([2, 1, { x: 1 }, true]);
    expect(result.ok && result.storeWrites).toEqual({ set: { b: { x: 1 } }, delete: ["c"] });
    expect(await sandbox.run('store("a", 1); throw new Error("no")')).not.toHaveProperty("storeWrites");
  });

  const rows: [source: string, fails: RegExp | undefined][] = [
    ['store("k", "x".repeat(262142))', undefined],
    ['store("k", "x".repeat(262143))', /262145 characters of JSON are more than 262144/],
    ['for (let i = 0; i < 3; i++) store("k" + i, "x".repeat(262142)); store("l", "x".repeat(262128))', undefined],
    ['for (let i = 0; i < 5; i++) store("k" + i, "x".repeat(262142))', /store is full/],
    ["store(1, 2)", /the key is a string/],
    ['store("k", 1n)', /BigInt/],
    ['store("k", () => 1)', /function/],
  ];
  test.each(rows)("%s", async (source, fails) => {
    const result = await sandbox.run(source);
    if (fails) expect(result).toMatchObject({ ok: false, error: { message: expect.stringMatching(fails) } });
    else expect(result).toMatchObject({ ok: true });
  });
});

test("parallel runs have store views of their own", async () => {
  const runs = [1, 2, 3].map((n) => sandbox.run(`store("n", ${n}); await tools.echo(); return load("n")`));
  expect((await Promise.all(runs)).map((result) => result.ok && result.value)).toEqual([1, 2, 3]);
});

test("a host that fails to answer is an error of the script", async () => {
  const has = () => {
    throw new Error("torn");
  };
  expect(await sandboxOf({}, { has }).run("tools.x")).toMatchObject({
    ok: false,
    error: { kind: "script", message: "torn" },
  });
});

test("a run with a host of its own reaches that one; one with a wrong name keeps no thread", async () => {
  const alone = sandboxOf({}, { workers: 1 });
  const host = (name: string) => hostOf({}, { [name]: () => "theirs" });
  await expect(alone.run("return 1", { host: host("a b") })).rejects.toThrow(TypeError);
  expect(await alone.run("return await own()", { host: host("own") })).toMatchObject({ ok: true, value: "theirs" });
  expect(await alone.run("return typeof own")).toMatchObject({ ok: true, value: "undefined" });
});
