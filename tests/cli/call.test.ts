/** `pimcp call`, `read` and `prompt` as they are typed. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { widthOf } from "../../cli/columns.ts";
import { COMMANDS } from "../../cli/commands.ts";
import type { Io } from "../../cli/io.ts";
import { compiled, declared, type RuntimeProject, script } from "../runtime/runtime-project.ts";
import { scratchFolder } from "../scratch.ts";
import { countProcesses, eventually } from "../servers/run.ts";
import { Stub, tool } from "./pimcp.ts";

const SCHEMA = {
  type: "object",
  properties: {
    text: { type: "string" },
    n: { type: "integer" },
    yes: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    ids: { type: "array", items: { type: "number" } },
    at: { type: "object", properties: { lat: { type: "number" } } },
  },
  additionalProperties: false,
};

/** A project with the stub `s`, whose tool `echo` gives its arguments back. */
async function project(tools: readonly object[] = [declared("echo", SCHEMA)], options: object = {}) {
  const stub = new Stub({ tools, ...options });
  return { stub, work: await compiled({ s: stub.entry }) };
}

const answer = (result: object, more: object = {}) =>
  project([tool("t")], { replies: { "tools/call": { result } }, ...more });

describe("arguments", () => {
  test.each<[string, string[], unknown]>([
    ["none", [], {}],
    ["JSON", ["--args", '{"text":"a","n":1}'], { text: "a", n: 1 }],
    ["a file", ["--args", "@args.json"], { text: "from a file" }],
    ["key=value, by the schema's types", ["text=5", "n=5", "yes=true"], { text: "5", n: 5, yes: true }],
    ["key:=JSON", ['at:={"lat":1}', "ids:=[1,2]"], { at: { lat: 1 }, ids: [1, 2] }],
    ["repeated keys", ["tags=a", "tags=b", "ids=1", "ids=2"], { tags: ["a", "b"], ids: [1, 2] }],
    ["a path into an object", ["at.lat=59.9"], { at: { lat: 59.9 } }],
    ["a word over --args", ["--args", '{"text":"a","n":1}', "n=2"], { text: "a", n: 2 }],
    ["an equals sign and blanks in a value", ["text=a=b c"], { text: "a=b c" }],
    ["a value that looks like an option", ["text=--json"], { text: "--json" }],
  ])("%s", async (_, words, wanted) => {
    const { work } = await project();
    work.write("project/args.json", '\ufeff{"text":"from a file"}');
    const { code, stdout, stderr } = await work.run("call", "s", "echo", ...words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual(wanted);
  });

  test("standard input", async () => {
    const { work } = await project();
    const input = JSON.stringify({ text: "x".repeat(200_000) });
    const { code, stdout } = await work.start(["call", "s", "echo", "--args", "-", "--json"], { input }).finished;
    expect(code).toBe(0);
    expect(JSON.parse(stdout).content[0].text).toBe(input);
  });

  test.each([[["mcp__s__echo"]], [["s/echo"]], [["s", "echo"]], [["s", "mcp__s__echo"]], [["echo"]]])(
    "the tool as %j",
    async (words) => {
      const { work } = await project();
      expect(await work.run("call", ...words, "n=1")).toMatchObject({ code: 0, stdout: '{"n":1}\n', stderr: "" });
    },
  );

  test.each<[string, string[], number, RegExp]>([
    ["no JSON", ["--args", "{oops"], 2, /--args is not JSON/],
    ["an empty --args", ["--args", ""], 2, /--args needs a value/],
    ["a file that isn't there", ["--args", "@nope.json"], 2, /nope\.json can't be read \(ENOENT\)/],
    ["words over something that is no object", ["--args", "[1]", "n=1"], 2, /object only/],
    ["no key=value", ["word"], 2, /"word" is not key=value/],
    ["a name that isn't declared", ["texts=a"], 2, /unknown argument texts; did you mean text\?/],
    ["a value of another type", ["n=five"], 2, /n: expected integer/],
    ["a bad --timeout", ["--timeout", "soon"], 2, /--timeout is a positive number/],
    ["a --timeout of zero", ["--timeout", "0"], 2, /--timeout is a positive number/],
    ["JSON that doesn't fit", ["--args", '{"n":"five"}'], 1, /\bn\b.*integer/],
    ["JSON that is no object", ["--args", "[1]"], 1, /object/],
  ])("%s", async (_, words, code, message) => {
    const { stub, work } = await project();
    const run = await work.run("call", "s", "echo", ...words);
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code, stdout: "" });
    expect(run.stderr).toMatch(message);
    expect(stub.log().filter(({ method }) => method === "tools/call")).toEqual([]);
    const json = await work.run("call", "s", "echo", ...words, "--json");
    expect(json.code).toBe(code);
    expect(JSON.parse(json.stdout)).toEqual({
      error: expect.objectContaining({ message: expect.stringMatching(message) }),
    });
  });
});

describe("what isn't there", () => {
  test.each<[string[], RegExp]>([
    [["s", "ecko"], /did you mean s\/echo\?/],
    [["s/ecko"], /did you mean s\/echo\?/],
    [["mcp__s__ecko"], /did you mean s\/echo\?/],
    [["nowhere", "zzzz"], /there is no compiled server "nowhere"/],
    [["s"], /which tool of "s"\? `pimcp list s`/],
  ])("%j", async (words, message) => {
    const { stub, work } = await project();
    const starts = stub.starts();
    const run = await work.run("call", ...words);
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code: 1, stdout: "" });
    expect(run.stderr).toMatch(message);
    const json = await work.run("call", ...words, "--json");
    expect(JSON.parse(json.stdout).error.message).toMatch(message);
    expect(stub.starts()).toBe(starts);
  });

  test("hidden is not there", async () => {
    const [open, secret] = [new Stub({ tools: [tool("echo"), tool("drop")] }), new Stub({ tools: [tool("echo")] })];
    const work = await compiled({
      open: { ...open.entry, toolExposure: { drop: "hidden" } },
      secret: { ...secret.entry, exposure: "hidden" },
    });
    const told = async (name: string, ...words: string[]) => {
      const { code, stderr } = await work.run("call", ...words);
      return [code, stderr.replaceAll(name, "NAME")];
    };
    const unknown = await told("qqqq", "open", "qqqq");
    for (const name of ["drop", "mcp__open__drop"]) expect(await told(name, "open", name)).toEqual(unknown);
    for (const words of [[], ["echo"]]) {
      expect(await told("secret", "secret", ...words)).toEqual(await told("qqqqqq", "qqqqqq", ...words));
    }
    expect((await told("mcp__secret__echo", "mcp__secret__echo"))[0]).toBe(1);
    const read = async (name: string) => {
      const { code, stderr } = await work.run("read", name);
      return [code, stderr.replaceAll(name, "NAME")];
    };
    expect(await read("secret")).toEqual(await read("qqqqqq"));
  });
});

describe("results", () => {
  const block = (text: string) => ({ type: "text", text });

  test("--json is the CallToolResult, exactly", async () => {
    const result = {
      content: [block("\ud800 é"), { type: "odd", x: 1 }, { type: "image", data: "AAAA", mimeType: "image/png" }],
      structuredContent: null,
      _meta: { a: [1] },
      extra: { b: 2 },
    };
    const { work } = await answer(result);
    const { code, stdout } = await work.run("call", "s", "t", "--json");
    expect(code).toBe(0);
    expect(stdout).toBe(`${JSON.stringify(result)}\n`);
  });

  test.each([[[]], [["--json"]]])("a tool's error is printed and exits with 1: %j", async (flags) => {
    const result = { content: [block("no such city")], isError: true };
    const { work } = await answer(result);
    const { code, stdout } = await work.run("call", "s", "t", ...flags);
    expect(code).toBe(1);
    expect(stdout).toBe(flags.length > 0 ? `${JSON.stringify(result)}\n` : "no such city\n");
  });

  test("a protocol error exits with 1 and has its code in --json", async () => {
    const error = { code: -32050, message: "quota exceeded" };
    const { work } = await project([tool("t")], { replies: { "tools/call": { error } } });
    const run = await work.run("call", "s", "t");
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code: 1, stdout: "" });
    expect(run.stderr).toMatch(/^pimcp call: .*quota exceeded/);
    const json = await work.run("call", "s", "t", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { name: "ServerError", server: "s", code: -32050 } });
  });

  test("text is limited, and the file with all of it named; --json is not", async () => {
    const text = Array.from({ length: 5000 }, (_, n) => `line ${n} é`).join("\n");
    const stub = new Stub({ tools: [tool("t")], replies: { "tools/call": { result: { content: [block(text)] } } } });
    const work = await compiled({ s: { ...stub.entry, maxOutputBytes: 2000 } });
    const { code, stdout } = await work.run("call", "s", "t");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Warning: truncated output.*\nTotal output lines: 5000\n/);
    expect(stdout).toContain("line 0 é\n");
    expect(stdout).toContain("line 4999 é");
    expect(Buffer.byteLength(stdout)).toBeLessThan(2600);
    const path = /Full output: (\S+)/.exec(stdout)![1]!;
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse((await work.run("call", "s", "t", "--json")).stdout).content[0].text).toBe(text);
  });

  test("--out saves binary content under names of ours; without it images are named", async () => {
    const [png, pdf, wav] = ["png bytes", "pdf bytes", "wav bytes"].map((text) => Buffer.from(text).toString("base64"));
    const content = [
      block("see:"),
      { type: "image", data: png, mimeType: "image/png" },
      { type: "resource", resource: { uri: "file:///../../evil.sh", blob: pdf, mimeType: "application/pdf" } },
      { type: "audio", data: wav, mimeType: "audio/wav; ../../x" },
      { type: "resource", resource: { uri: "u", text: "just text" } },
    ];
    const { work } = await answer({ content });
    const plain = await work.run("call", "s", "t");
    expect(plain.stdout).toMatch(/^see:\n\[image\/png image; --out DIR saves it\]\n/);
    const { code, stderr } = await work.run("call", "s", "t", "--out", "got/pictures");
    expect(code).toBe(0);
    const folder = join(work.project, "got", "pictures");
    const saved = readdirSync(folder).sort();
    expect(saved.map((name) => readFileSync(join(folder, name), "utf8"))).toEqual([
      "png bytes",
      "pdf bytes",
      "wav bytes",
    ]);
    expect(saved.slice(0, 2)).toEqual(["1.png", "2.pdf"]);
    expect(stderr.match(/^saved .*$/gm)).toHaveLength(3);
    expect(existsSync(join(work.project, "got", "evil.sh"))).toBe(false);
    const json = await work.run("call", "s", "t", "--json", "--out", "json");
    expect(JSON.parse(json.stdout)).toEqual({ content });
    expect(readdirSync(join(work.project, "json"))).toHaveLength(3);
  });
});

describe("what can't be done with a result", () => {
  test("--out into something that is no folder is said, and the result printed all the same", async () => {
    const { work } = await answer({ content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] });
    const { code, stdout, stderr } = await work.run("call", "s", "t", "--out", "mcp.json");
    expect(code).toBe(1);
    expect(stdout).toContain("image/png");
    expect(stderr).toMatch(/^pimcp call: can't write to .*mcp\.json \(EEXIST\)\n$/);
  });

  test("nesting that no JSON writer can follow", async () => {
    const folder = scratchFolder();
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    writeFileSync(join(folder, "answer.json"), `{"content":[],"structuredContent":${deep}}`);
    const work = await compiled({ s: script("raw-answer.mjs", { ANSWER: join(folder, "answer.json") }) });
    const json = await work.run("call", "s", "t", "--json");
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout).error.message).toMatch(/nested too deeply/);
    const text = await work.run("call", "s", "t");
    expect(text.stderr).toBe("");
    expect(text.stdout).toMatch(/can't be shown/);
  });
});

describe("time", () => {
  test("--timeout is in seconds, and progress extends it", async () => {
    const { work } = await project(["hang", "progress"].map((name) => declared(name, { type: "object" })));
    const hanging = await work.run("call", "s", "hang", "--timeout", "0.5");
    expect(hanging.code).toBe(1);
    expect(hanging.stderr).toMatch(/no answer within 500 ms/);
    const args = JSON.stringify({ steps: 5, ms: 600 });
    const { code, stdout } = await work.run("call", "s", "progress", "--timeout", "2", "--args", args);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "done\n" });
  });

  test.each<[NodeJS.Signals, number]>([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ])("%s ends the call, tells the server and leaves no process", async (signal, wanted) => {
    const { stub, work } = await project([declared("hang", { type: "object" })]);
    const { child, finished } = work.start(["call", "s", "hang"]);
    await eventually(() => stub.log().some(({ method }) => method === "tools/call"), "the call arrives");
    child.kill(signal);
    expect((await finished).code).toBe(wanted);
    expect(stub.log().some(({ method }) => method === "notifications/cancelled")).toBe(true);
    expect(countProcesses(stub.marker)).toBe(0);
  });

  test("a server that dies is told with its last words", async () => {
    const { stub, work } = await project([declared("crash", { type: "object" })], { stderr: "out of \u001b[31mink\n" });
    const { code, stdout, stderr } = await work.run("call", "s", "crash");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/exited with status 9/);
    expect(stderr).toMatch(/stderr: out of .*ink/);
    expect(stderr).not.toContain("\u001b");
    expect(countProcesses(stub.marker)).toBe(0);
  });
});

describe("read and prompt", () => {
  test("a real server's resources", async () => {
    const work = await compiled({ s: script("legacy.mjs") });
    expect(await work.run("read", "s")).toMatchObject({ code: 0, stdout: "stub://greeting  greeting\n", stderr: "" });
    expect(await work.run("read", "s", "stub://greeting")).toMatchObject({ code: 0, stdout: "hello\n", stderr: "" });
    const json = await work.run("read", "s", "stub://greeting", "--json");
    expect(JSON.parse(json.stdout)).toEqual({
      server: "s",
      uri: "stub://greeting",
      contents: [{ uri: "stub://greeting", text: "hello" }],
    });
    const missing = await work.run("read", "s", "stub://nothing");
    expect({ code: missing.code, stdout: missing.stdout }).toEqual({ code: 1, stdout: "" });
    expect(missing.stderr).toMatch(/^pimcp read: .*stub:\/\/nothing/);
    expect(await work.run("read", "t")).toMatchObject({ code: 1, stderr: expect.stringContaining('no server "t"') });
  });

  const offering = (replies: object) =>
    project([tool("t")], {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      resources: true,
      prompts: true,
      replies,
    });

  test("binary contents go to a file", async () => {
    const blob = Buffer.from([0, 1, 255]).toString("base64");
    const { work } = await offering({
      "resources/read": { result: { contents: [{ uri: "u:x", blob, mimeType: "image/png" }] } },
    });
    const { stdout } = await work.run("read", "s", "u:x");
    const path = /3 bytes in (\S+)\n$/.exec(stdout)![1]!;
    expect(path).toMatch(/\.png$/);
    expect([...readFileSync(path)]).toEqual([0, 1, 255]);
  });

  test("prompts are listed with their arguments, and filled in", async () => {
    const listed = [
      { name: "greet", description: "Says\nhello", arguments: [{ name: "who", required: true }, { name: "how" }] },
    ];
    const message = { role: "user", content: { type: "text", text: "Hello, Ada" } };
    const { stub, work } = await offering({
      "prompts/list": { result: { prompts: listed } },
      "prompts/get": { result: { messages: [message] } },
    });
    expect((await work.run("prompt", "s")).stdout).toBe("greet who= [how=]\n  Says hello\n");
    expect(JSON.parse((await work.run("prompt", "s", "--json")).stdout)).toEqual({ prompts: listed });
    const filled = await work.run("prompt", "s", "greet", "who=Ada", "how=a=b");
    expect(filled).toMatchObject({ code: 0, stdout: "user: Hello, Ada\n" });
    const sent = stub.log().find(({ method }) => method === "prompts/get")!.params;
    expect(sent).toEqual({ name: "greet", arguments: { who: "Ada", how: "a=b" } });
    expect(JSON.parse((await work.run("prompt", "s", "greet", "who=Ada", "--json")).stdout)).toEqual({
      messages: [message],
    });
    expect(await work.run("prompt", "s", "greet", "Ada")).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("on a terminal", () => {
  /** Runs a command in this process, with a terminal of `width` columns that may be acted upon. */
  async function onTerminal(work: RuntimeProject, argv: [string, ...string[]], width: number) {
    let [out, err] = ["", ""];
    const look = { colour: false, width, terminal: true };
    const io: Io = {
      ...work.surroundings,
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      outLook: look,
      errLook: look,
      interactive: true,
      signal: new AbortController().signal,
    };
    const { run } = await COMMANDS.find(({ name }) => name === argv[0])!.load();
    const code = await run({ operands: argv.slice(1), flags: {} }, io);
    return { code, out, err };
  }

  test.each([[0], [1], [10], [80]])("a progress line fits %i columns and is wiped", async (width) => {
    const work = await compiled({ s: script("legacy.mjs") });
    const { code, out, err } = await onTerminal(work, ["call", "s", "count", "steps=3", "ms=5"], width);
    expect({ code, out }).toEqual({ code: 0, out: "counted to 3\n" });
    const lines = err.split("\r\u001b[2K").slice(1);
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toBe("");
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(Math.max(0, width - 1));
    if (width === 80) expect(lines.slice(0, 3)).toEqual(["1/3", "2/3", "3/3"]);
  });

  test("a progress message of wide characters fits too", async () => {
    const folder = scratchFolder();
    const work = await compiled({ t: script("tasks.mjs", { TASKS_STORE: join(folder, "store") }) });
    const plan = { workMs: 300, intervalMs: 100, messages: ["漢字".repeat(5000)] };
    const { code, err } = await onTerminal(work, ["call", "t", "run", `plan:=${JSON.stringify(plan)}`], 30);
    expect(code).toBe(0);
    const lines = err.split("\r\u001b[2K").filter((line) => line.includes("漢"));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(29);
  });

  test("what a server sends can't steer it", async () => {
    const hostile = "a\u001b]52;c;ZXZpbA==\u0007\r\nb\u009b2Jc\u202ed\te";
    const content = [
      { type: "text", text: hostile },
      { type: "image", data: "", mimeType: "image/\u001b[2J" },
    ];
    const { work } = await project([tool("t")], {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      replies: {
        "tools/call": { result: { content } },
        "resources/list": { result: { resources: [] } },
        "prompts/list": { result: { prompts: [] } },
        "resources/read": { result: { contents: [{ uri: "u", text: hostile }] } },
        "prompts/get": { result: { messages: [{ role: "user", content: content[0] }] } },
      },
    });
    for (const argv of [
      ["call", "s/t"],
      ["read", "s", "u"],
      ["prompt", "s", "p"],
    ] as [string, ...string[]][]) {
      const { code, out } = await onTerminal(work, argv, 80);
      expect(code).toBe(0);
      expect(out).toMatch(/a\\u001b\]52;c;ZXZpbA==\\u0007\nb\\u009b2Jc\\u202ed\te/);
      expect(out).not.toMatch(/[\u0007\u001b\u009b\u202e\r]/);
    }
    // Into a file or a pipe it goes as it came.
    expect((await work.run("call", "s/t")).stdout).toContain(hostile);
  });
});
