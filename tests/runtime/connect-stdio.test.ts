import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Connection } from "../../runtime/connect/connection.ts";
import { classifyMessage, idInHead, idInTail } from "../../runtime/connect/message.ts";
import { type OpenOptions, openConnection } from "../../runtime/connect/open.ts";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import { countProcesses, eventually, serverConfig, serversDir, stub, surroundings } from "../servers/run.ts";

const open: Connection[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((connection) => connection.close()));
});

async function connect(config: ServerConfig, options: Partial<OpenOptions> = {}): Promise<Connection> {
  const outcome = await openConnection(config, { ...surroundings, ...options });
  if (!outcome.ok) throw new Error(`${outcome.diagnostic.message} ${outcome.diagnostic.notes.join("; ")}`);
  open.push(outcome.connection);
  return outcome.connection;
}

async function call(connection: Connection, name: string, args = {}, options = {}) {
  const outcome = await connection.request("tools/call", { name, arguments: args }, options);
  if (!outcome.ok) return outcome.failure;
  return (outcome.result["content"] as { text: string }[])[0]!.text;
}

const legacy = { era: "legacy", verdict: "answered", protocolVersion: "2025-11-25", transport: "stdio" } as const;

/** What the package `signal-exit` does in most programs: end on a signal that nobody else listens for. */
const BESIDE_SIGNAL_EXIT = `
  process.__signal_exit_emitter__ = { count: 1 };
  process.on("SIGINT", function listener() {
    if (process.listenerCount("SIGINT") !== process.__signal_exit_emitter__.count) return;
    process.removeListener("SIGINT", listener);
    process.kill(process.pid, "SIGINT");
  });`;

describe("messages", () => {
  test.each([
    [{ jsonrpc: "2.0", id: 1, result: {} }, "result"],
    [{ id: null, result: {} }, "result"],
    [{ jsonrpc: "2.0", id: null, error: { code: 1, message: "x" } }, "error"],
    [{ jsonrpc: "2.0", id: 1, error: {} }, "error"],
    [{ jsonrpc: "2.0", id: "a", method: "ping" }, "request"],
    [{ jsonrpc: "2.0", method: "x", id: null }, "notification"],
    [{ level: "info" }, undefined],
    [{ result: {} }, undefined],
    [{ jsonrpc: "2.0", id: 1, result: "text" }, "error"],
    [{ jsonrpc: "2.0", id: 1, result: null }, "error"],
    [{ id: 1, result: "text" }, undefined],
    [{ error: "text" }, undefined],
    ["ready", undefined],
    [null, undefined],
  ])("%j is %s", (value, kind) => {
    expect(classifyMessage(value)?.kind).toBe(kind);
  });

  test.each([
    ['{"jsonrpc":"2.0","id":7,"result":{"id":1', 7],
    ['{ "id" : "a" , "result":', "a"],
    ['{"result":{"id":1,"x":[{"id":2}]', undefined],
    ['{"params":{"id":1},"id":3,', 3],
    ['{"x":"\\"id\\":9","id":4,"y', 4],
    ['{"id":12', undefined],
    ['["id",5,', undefined],
    ["", undefined],
  ])("the id at the head of %j is %j", (head, id) => {
    expect(idInHead(head)).toBe(id);
  });

  test.each([
    ['xxx"}]},"jsonrpc":"2.0","id":7}', 7],
    ['xxx"}]},"id":"a","jsonrpc":"2.0"}', "a"],
    ['"id":7}}', undefined],
  ])("the id at the tail of %j is %j", (tail, id) => {
    expect(idInTail(tail)).toBe(id);
  });
});

describe("a server that chatters", () => {
  const noise = [
    "ready",
    "",
    '{"level":"info"}',
    "[]",
    '{"jsonrpc":"2.0","id":77,"result":{}}',
    "\u001b[31mred\u001b[0m",
  ];

  test.each([["legacy"], ["modern"]])("%s: junk before and between replies is skipped and reported", async (era) => {
    const connection = await connect(stub({ era, noise }).config);
    const list = await connection.request("tools/list");
    expect(list).toMatchObject({ ok: true, result: { tools: [{ name: "echo" }] } });
    expect(await call(connection, "echo", { text: "é" })).toBe('{"text":"é"}');
    const finding = connection.noise();
    expect(finding?.code).toBe("stdout-noise");
    expect(finding?.notes).toEqual(["stdout: ready", 'stdout: {"level":"info"}', "stdout: []"]);
  });

  test("nothing is reported of a quiet one", async () => {
    const connection = await connect(stub({}).config);
    await connection.request("tools/list");
    expect(connection.noise()).toBeUndefined();
  });

  test("ids that come back as text are put right, wrong ones answer nothing", async () => {
    const text = await connect(stub({ wrongId: "text" }).config);
    expect(await call(text, "echo", { a: 1 })).toBe('{"a":1}');
    const wrong = await connect(stub({ wrongId: 4711, wrongIdOn: ["tools/call"] }).config);
    expect(await call(wrong, "echo", {}, { timeoutMs: 300 })).toMatchObject({ kind: "timeout" });
    expect(wrong.noise()?.message).toContain("1 answer to nothing that was asked");
    expect(await wrong.request("tools/list")).toMatchObject({ ok: true });
  });
});

describe("large messages", () => {
  const small = { maxMessageBytes: 100_000 };

  test.each([
    ["first", true],
    ["last", false],
  ])("one beyond the limit fails its call alone, with its id %s and others waiting", async (_, idFirst) => {
    const connection = await connect(stub({ idFirst }).config, small);
    const [slow, big] = await Promise.all([
      call(connection, "sleep", { ms: 300 }),
      call(connection, "big", { bytes: 3_000_000 }),
    ]);
    expect(slow).toBe("slept");
    expect(big).toMatchObject({ kind: "oversize", limitBytes: 100_000 });
    expect(await call(connection, "big", { bytes: 50_000 })).toHaveLength(50_000);
  });

  test.each([
    ["first", true],
    ["last", false],
  ])("one that nobody waits for any more fails no other call, with its id %s", async (_, idFirst) => {
    const { config, methods } = stub({ idFirst, delayMs: { "tools/call": 600 } });
    const connection = await connect(config, small);
    const late = await call(connection, "big", { bytes: 3_000_000 }, { timeoutMs: 200 });
    expect(late).toMatchObject({ kind: "timeout" });
    expect(await call(connection, "echo", { n: 1 })).toBe('{"n":1}');
    expect(methods().filter((method) => method === "tools/call")).toHaveLength(2);
  });

  test("50 MB arrive whole", async () => {
    const connection = await connect(stub({}).config);
    const text = await call(connection, "big", { bytes: 50_000_000 });
    expect(text).toHaveLength(50_000_000);
  });
});

describe("processes", () => {
  test("a server that ignores stdin and SIGTERM, and its grandchild, are gone after close", async () => {
    const { config, marker } = stub({ grandchild: true, ignoreSigterm: true, ignoreStdinClose: true });
    const connection = await connect(config);
    await eventually(() => countProcesses(marker) === 2, "server and grandchild run");
    await connection.close();
    expect(countProcesses(marker)).toBe(0);
  });

  test("a wrapper's server is gone after close", async () => {
    const { config, marker } = stub({});
    const { transport } = config;
    if (transport.kind !== "stdio") throw new Error("stdio");
    const line = `${JSON.stringify(transport.command)} ${transport.args.map((arg) => JSON.stringify(arg)).join(" ")}; true`;
    const connection = await connect({ ...config, transport: { ...transport, command: "sh", args: ["-c", line] } });
    expect(countProcesses(marker)).toBe(2);
    await connection.close();
    expect(countProcesses(marker)).toBe(0);
  });

  test("a crash in mid-call fails that call once, names the status, and takes the grandchild along", async () => {
    const { config, marker, methods } = stub({ grandchild: true, stderr: "warming up\n" });
    const connection = await connect(config, { prior: legacy });
    await eventually(() => countProcesses(marker) === 2, "server and grandchild run");
    let closed = 0;
    connection.onClose(() => closed++);
    expect(await call(connection, "crash", { status: 9 })).toMatchObject({ kind: "closed" });
    expect(connection.ending()).toBe("exited with status 9");
    expect(connection.stderrTail()).toEqual(["warming up"]);
    expect(methods().filter((method) => method === "tools/call")).toHaveLength(1);
    expect(await call(connection, "echo")).toMatchObject({ kind: "closed" });
    await connection.close();
    expect(countProcesses(marker)).toBe(0);
    expect(closed).toBe(1);
  });

  test.each([
    ["returns", "", "exit"],
    ["throws", "setTimeout(() => { throw new Error('bang'); });", "exit"],
    ["is interrupted", "process.stdout.write('open\\n'); setInterval(() => {}, 1000);", "SIGINT"],
    [
      "is interrupted beside signal-exit",
      `${BESIDE_SIGNAL_EXIT} process.stdout.write('open\\n'); setInterval(() => {}, 1000);`,
      "SIGINT",
    ],
    ["is terminated", "process.stdout.write('open\\n'); setInterval(() => {}, 1000);", "SIGTERM"],
  ])("no process is left when a program that never closes its connection %s", async (_, ending, how) => {
    const { config, marker } = stub({ grandchild: true, ignoreSigterm: true, ignoreStdinClose: true });
    const program = `
      import { openConnection } from ${JSON.stringify(join(serversDir, "../../.tmp/program/runtime/connect/open.js"))};
      const opened = await openConnection(${JSON.stringify(config)}, { env: process.env, homedir: "/" });
      const list = await opened.connection.request("tools/list");
      if (!list.ok) throw new Error(list.failure.message);
      ${ending}`;
    await compiledProgram();
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const exited = new Promise<string | number | null>((resolve) =>
      child.once("exit", (code, signal) => resolve(signal ?? code)),
    );
    if (how !== "exit") {
      await new Promise((resolve) => child.stdout.once("data", resolve));
      expect(countProcesses(marker)).toBe(2 + 1);
      child.kill(how as NodeJS.Signals);
    }
    expect(await exited).toBe(how === "exit" ? (ending === "" ? 0 : 1) : how);
    await eventually(() => countProcesses(marker) === 0, "all its servers are gone");
  });

  test("large input to a server that reads slowly is neither lost nor piled up", async () => {
    const connection = await connect(stub({}).config);
    const text = "y".repeat(5_000_000);
    const answers = await Promise.all([1, 2, 3].map((n) => call(connection, "echo", { n, text })));
    expect(answers.map((answer) => (typeof answer === "string" ? JSON.parse(answer).n : answer))).toEqual([1, 2, 3]);
  });

  test("secrets don't show in what is told of a failed start", async () => {
    const { config } = stub({ exitAtStart: 1, stderr: "bad token s3cret-token-1\u0007\n" });
    const { transport } = config;
    if (transport.kind !== "stdio") throw new Error("stdio");
    const outcome = await openConnection(
      { ...config, transport: { ...transport, env: { ...transport.env, API_TOKEN: "s3cret-token-1" } } },
      surroundings,
    );
    expect(outcome).toMatchObject({
      ok: false,
      diagnostic: { code: "server-unreachable", notes: [] },
      stderr: ["bad token [redacted]"],
    });
  });

  test("a long stderr is cut between lines, so that no part of a secret is left", async () => {
    const secret = `s3cret-${"k".repeat(300)}-end`;
    const { config } = stub({ exitAtStart: 1, stderr: `${`${secret}\n`.repeat(40)}last\n` });
    const { transport } = config;
    if (transport.kind !== "stdio") throw new Error("stdio");
    const env = { ...transport.env, API_TOKEN: secret };
    const outcome = await openConnection({ ...config, transport: { ...transport, env } }, surroundings);
    const stderr = outcome.ok ? [] : outcome.stderr!;
    expect(stderr.at(-1)).toBe("last");
    expect(new Set(stderr)).toEqual(new Set(["[redacted]", "last"]));
  });

  test("a command that isn't there is named", async () => {
    const config = serverConfig({ kind: "stdio", command: "no-such-command-here", args: [], env: {} });
    const outcome = await openConnection(config, surroundings);
    expect(outcome).toMatchObject({
      ok: false,
      diagnostic: {
        code: "server-unreachable",
        message: 'server "s": the command "no-such-command-here" was not found',
        line: 3,
      },
    });
  });
});

/** The connecting half as JavaScript: Node 20 runs no TypeScript. */
async function compiledProgram(): Promise<void> {
  compiled ??= new Promise((resolve, reject) => {
    const root = join(serversDir, "../..");
    const args = [
      "tsc",
      "-p",
      "tsconfig.build.json",
      "--outDir",
      ".tmp/program",
      "--declaration",
      "false",
      "--noCheck",
    ];
    const child = spawn("npx", args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`tsc exited with ${code}`))));
  });
  await compiled;
}
let compiled: Promise<void> | undefined;

describe("requests", () => {
  test("progress extends the time limit, and is all delivered before the answer", async () => {
    const connection = await connect(stub({}).config, { prior: legacy });
    const seen: number[] = [];
    const options = { timeoutMs: 400, onProgress: ({ progress }: { progress: number }) => seen.push(progress) };
    expect(await call(connection, "progress", { steps: 5, ms: 150 }, options)).toBe("done");
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    seen.length = 0;
    expect(await call(connection, "progress", { steps: 20, ms: 0 }, options)).toBe("done");
    expect(seen).toHaveLength(20);
  });

  test("maxTotalMs ends a call that only makes progress", async () => {
    const connection = await connect(stub({}).config);
    const options = { timeoutMs: 400, maxTotalMs: 500, onProgress: () => {} };
    expect(await call(connection, "progress", { steps: 50, ms: 100 }, options)).toMatchObject({ kind: "timeout" });
  });

  test("a cancelled call says so, tells the server, and leaves the connection usable", async () => {
    const { config, methods } = stub({});
    const connection = await connect(config);
    const cancel = new AbortController();
    setTimeout(() => cancel.abort(), 100);
    expect(await call(connection, "hang", {}, { signal: cancel.signal })).toMatchObject({ kind: "cancelled" });
    expect(await call(connection, "echo", {}, { signal: cancel.signal })).toMatchObject({ kind: "cancelled" });
    expect(await call(connection, "echo")).toBe("{}");
    expect(methods()).toContain("notifications/cancelled");
    expect(methods().filter((method) => method === "tools/call")).toHaveLength(2);
  });

  test("results come as sent: odd tools, keys and types are nobody's business here", async () => {
    const tools = [5, { name: 1 }, { name: "x", inputSchema: { type: "array" }, "x-mcp-header": "bad header" }];
    for (const era of ["legacy", "modern"]) {
      const connection = await connect(stub({ era, tools, listMeta: { ttlMs: "soon", extra: null } }).config);
      const outcome = await connection.request("tools/list");
      expect(outcome).toEqual({ ok: true, result: { tools, ttlMs: "soon", extra: null } });
    }
  });

  test("an error of the server is data", async () => {
    const error = { code: -32000, message: "no\u0007 way\nsecond line", data: { a: 1 } };
    const connection = await connect(stub({ replies: { "tools/call": { error } } }).config);
    expect(await call(connection, "x")).toEqual({ kind: "rpc-error", error, message: "no way second line" });
  });

  test("an error without an id answers the one request that is open", async () => {
    const error = { code: -32700, message: "Parse error" };
    const options = { replies: { "tools/call": { error } }, wrongId: "null", wrongIdOn: ["tools/call"] };
    const connection = await connect(stub(options).config);
    expect(await call(connection, "x")).toMatchObject({ kind: "rpc-error", error });
  });

  test("32 calls at once each get their own answer", async () => {
    const connection = await connect(stub({}).config);
    const numbers = Array.from({ length: 32 }, (_, n) => n);
    expect(await Promise.all(numbers.map((n) => call(connection, "echo", { n })))).toEqual(
      numbers.map((n) => `{"n":${n}}`),
    );
  });
});
