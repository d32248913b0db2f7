/** `pimcp run` as a person and a program use it. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compiledProduct } from "../faults/product.ts";
import { PNG } from "../sandbox/sandbox.ts";
import { Stub, tool } from "./pimcp.ts";

const typed = (name: string, properties: object) => ({
  ...tool(name),
  inputSchema: { type: "object", properties, additionalProperties: false },
});

async function project(topLevel: object = {}) {
  const stub = new Stub({
    tools: [typed("echo", { message: { type: "string" } })],
    replies: { "tools/call": { result: { content: [{ type: "text", text: "echoed" }] } } },
  });
  return { stub, work: await compiledProduct({ s: stub.entry }, topLevel) };
}

test("a TypeScript file: output on stdout, console and fate on stderr", async () => {
  const { work } = await project();
  const script =
    "interface Answer { content: unknown[] }\nconst r = (await tools.mcp__s__echo({ message: 'x' })) as Answer;\ntext(r.content.length > 0);\nconsole.log('aside');\nreturn 'end';\n";
  writeFileSync(join(work.project, "a.ts"), script);
  const { code, stdout, stderr } = await work.run("run", "a.ts");
  expect(stderr).toContain("aside\nScript completed in ");
  expect(stdout).toBe("==> text 1/2 <==\ntrue\n==> text 2/2 <==\nend\n");
  expect(code).toBe(0);
});

test("--json is the run's shape and nothing else", async () => {
  const { work } = await project();
  const input = `text("a"); console.log("b"); image("data:image/png;base64,${PNG}"); await tools.mcp__s__echo({}); return { c: 1 }`;
  const { code, stdout } = await work.start(["run", "--json", "-"], { input }).finished;
  const result = JSON.parse(stdout);
  expect(result).toMatchObject({
    ok: true,
    output: [{ type: "text", text: "a" }, { type: "image" }, { type: "text", text: '{"c":1}' }],
    console: ["b"],
    calls: [{ name: "mcp__s__echo", status: "ok" }],
  });
  expect(Object.keys(result).sort()).toEqual(["calls", "console", "durationMs", "ok", "output"]);
  const { path } = result.output[1];
  expect(readFileSync(path).toString("base64")).toBe(PNG);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(stdout).not.toContain(PNG);
  expect(code).toBe(0);
});

test("with type checking off no thread is started for it", async () => {
  const { work } = await project();
  const counting = "data:text/javascript,process.on('worker',()=>process.stderr.write('[a thread]'))";
  const threads = async (topLevel: object) => {
    work.write("project/mcp.json", { ...JSON.parse(work.read("project/mcp.json")), ...topLevel });
    const input = "return (await tools.mcp__s__echo({ message: 'x' })).content[0].text";
    const { code, stdout, stderr } = await work.start(["run", "-"], { input, node: ["--import", counting] }).finished;
    expect([code, stdout]).toEqual([0, "echoed\n"]);
    return stderr.split("[a thread]").length - 1;
  };
  const checked = await threads({});
  expect(await threads({ typecheck: "off" })).toBe(checked - 1);
});

describe("scripts that fail", () => {
  test("types are checked before anything is called, with place and right name", async () => {
    const { work, stub } = await project();
    const input = "await tools.mcp__s__echo({ message: 'x' });\nawait tools.mcp__s__echo({ mesage: 'x' });\n";
    const { code, stdout, stderr } = await work.start(["run", "--json", "-"], { input }).finished;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^stdin:2:\d+: error: .*mesage.*\n2 \| await/m);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, calls: [], error: { name: "TypeCheckError", line: 2 } });
    expect(stub.log().filter(({ method }) => method === "tools/call")).toEqual([]);
    const unchecked = await work.start(["run", "--no-typecheck", "-"], { input: "return await tools.mcp__s__ehco({})" })
      .finished;
    expect(unchecked.stderr).toContain("did you mean tools.mcp__s__echo?");
    expect(unchecked.code).toBe(1);
  });

  test.each([
    ["warn", 0, /lenght/],
    ["off", 0, /^Script completed/],
    ["error", 1, /lenght/],
  ])('"typecheck": "%s" in mcp.json exits with %d', async (typecheck, exit, said) => {
    const { work, stub } = await project({ typecheck });
    const input = "const r = await tools.mcp__s__echo({ message: 'x' });\nreturn r.content.lenght === undefined;\n";
    const { code, stderr } = await work.start(["run", "-"], { input }).finished;
    expect(code).toBe(exit);
    expect(stderr).toMatch(said);
    expect(stub.log().filter(({ method }) => method === "tools/call")).toHaveLength(exit === 0 ? 1 : 0);
  });

  test("a syntax error has line and caret", async () => {
    const { work } = await project();
    const { code, stderr } = await work.start(["run", "--no-typecheck", "-"], { input: "let a = 1;\nlet b = ;\n" })
      .finished;
    expect(stderr).toContain("2 | let b = ;\n            ^");
    expect(code).toBe(1);
  });

  test("a deadline and a script's error keep what was shown", async () => {
    const { work } = await project();
    const late = await work.start(["run", "--timeout", "1500", "-"], { input: 'text("before"); for (;;);' }).finished;
    expect(late).toMatchObject({ code: 1, stdout: "before\n" });
    expect(late.stderr).toContain("Script timed out");
    const thrown = await work.start(["run", "-"], { input: 'text("before");\nthrow new Error("mine")' }).finished;
    expect(thrown).toMatchObject({ code: 1, stdout: "before\n" });
    expect(thrown.stderr).toMatch(/Error: mine\n2 \| throw[\s\S]*No tool calls were made/);
  });

  test.each([
    [["run", "gone.ts"], /gone.ts can't be read \(ENOENT\)/],
    [["run", "--timeout", "0", "-"], /--timeout is a positive whole number/],
    [["run", "--store", "bad.json", "-"], /bad.json is not a JSON object/],
  ] as [string[], RegExp][])("wrong usage: %j", async (args, message) => {
    const { work } = await project();
    writeFileSync(join(work.project, "bad.json"), "[1]");
    const { code, stderr } = await work.start([...args], { input: "" }).finished;
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });
});

test("long output is cut, with the rest in an owner-only file", async () => {
  const { work } = await project();
  const input = '// @options: {"max_output_tokens": 50}\nfor (let i = 0; i < 1000; i++) text("line " + i);';
  const { stdout } = await work.start(["run", "--json", "-"], { input }).finished;
  const [item, ...others] = JSON.parse(stdout).output;
  expect(others).toEqual([]);
  expect(item.text).toMatch(/truncated output/);
  expect(item.text.length).toBeLessThan(1000);
  expect(readFileSync(item.path, "utf8")).toContain("line 500");
  expect(statSync(item.path).mode & 0o777).toBe(0o600);
});

test("--store keeps values between runs, and only of runs that succeed", async () => {
  const { work } = await project();
  const count = (extra = "") =>
    work.start(["run", "--store", "state.json", "-"], {
      input: `store("n", (load("n") ?? 0) + 1); ${extra} return load("n")`,
    }).finished;
  expect((await count()).stdout).toBe("1\n");
  expect((await count("throw 1;")).code).toBe(1);
  expect((await count()).stdout).toBe("2\n");
  const path = join(work.project, "state.json");
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ n: 2 });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("an interrupt ends the script and cancels its calls", async () => {
  const { work, stub } = await project();
  stub.set({ tools: [tool("echo")], silent: ["tools/call"] });
  const running = work.start(["run", "--no-typecheck", "-"], { input: "await tools.mcp__s__echo({}); return 1" });
  const seen = (method: string) => stub.log().some((entry) => entry.method === method);
  await expect.poll(() => seen("tools/call"), { timeout: 30_000 }).toBe(true);
  running.child.kill("SIGINT");
  const { code, stderr } = await running.finished;
  expect(code).toBe(130);
  expect(stderr).toContain("mcp__s__echo (cancelled)");
  await expect.poll(() => seen("notifications/cancelled"), { timeout: 10_000 }).toBe(true);
});
