/** What can be reached through a runtime, and what can't be told from something that isn't there. */
import { getEventListeners } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RefusedError } from "../../runtime/errors.ts";
import { createRuntime } from "../../runtime/runtime.ts";
import { Stub, tool } from "../cli/pimcp.ts";
import { compiled, RuntimeProject, rejection } from "./runtime-project.ts";

const refusal = (promise: Promise<unknown>) => rejection<RefusedError>(promise);

describe("names", () => {
  test("an unknown server or tool is refused, with the nearest names, and nothing starts", async () => {
    const stub = new Stub({ tools: [tool("get_forecast"), tool("get_warnings")] });
    const runtime = await (await compiled({ weather: stub.entry })).runtime();
    const starts = stub.starts();
    expect(await refusal(runtime.call("wether", "get_forecast"))).toMatchObject({
      reason: "unknown-server",
      message: 'there is no server "wether"; did you mean "weather"?',
    });
    expect(await refusal(runtime.call("weather", "get_forcast"))).toMatchObject({
      reason: "unknown-tool",
      message: expect.stringContaining('did you mean "get_forecast"'),
    });
    expect((await refusal(runtime.call("weather", "zzzzzz"))).message).toBe('server "weather" has no tool "zzzzzz"');
    for (const name of ["__proto__", "constructor", "toString", ""]) {
      expect(await refusal(runtime.call(name, "get_forecast"))).toMatchObject({ reason: "unknown-server" });
      expect(await refusal(runtime.call("weather", name))).toMatchObject({ reason: "unknown-tool" });
    }
    expect(stub.starts()).toBe(starts);
  });

  test("a folded name reaches its own server's tool alone", async () => {
    const [a, b] = [new Stub({ tools: [tool("x")] }), new Stub({ tools: [tool("x")] })];
    const runtime = await (await compiled({ a: a.entry, b: b.entry })).runtime();
    expect(await refusal(runtime.call("a", "mcp__b__x"))).toMatchObject({ reason: "unknown-tool" });
    expect(await runtime.call("b", "mcp__b__x", { text: "1" })).toMatchObject({ text: '{"text":"1"}' });
  });

  test("names that differ in - and _ alone each reach their own tool", async () => {
    const stub = new Stub({ tools: [tool("read-file"), tool("read_file")] });
    const runtime = await (await compiled({ s: stub.entry })).runtime();
    await runtime.call("s", "read_file");
    await runtime.call("s", "read-file");
    for (const { name } of runtime.table.tools()) await runtime.call("s", name);
    const called = stub.log().flatMap(({ method, params }) => (method === "tools/call" ? [params!["name"]] : []));
    expect(called).toEqual(["read_file", "read-file", ...runtime.table.tools().map((entry) => entry.tool)]);
  });
});

describe("hidden tools", () => {
  /** The refusal without the name that was asked for. */
  const shape = ({ message, reason }: RefusedError, name: string) => [reason, message.replaceAll(name, "NAME")];

  test("can't be told from tools that don't exist, by raw, folded name or entry", async () => {
    const stub = new Stub({ tools: [tool("echo"), tool("drop_all")] });
    const runtime = await (await compiled({ s: { ...stub.entry, toolExposure: { drop_all: "hidden" } } })).runtime();
    const unknown = shape(await refusal(runtime.call("s", "qqqq_qqq")), "qqqq_qqq");
    for (const name of ["drop_all", "mcp__s__drop_all"]) {
      expect(shape(await refusal(runtime.call("s", name)), name)).toEqual(unknown);
    }
    // A near miss doesn't give it away either.
    expect((await refusal(runtime.call("s", "drop_al"))).message).not.toContain("drop_all");
    const entry = runtime.table.byName("mcp__s__drop_all", { includeHidden: true })!;
    expect(shape(await refusal(runtime.callEntry(entry, {})), "drop_all")).toEqual(unknown);
    expect(stub.log().filter(({ method }) => method === "tools/call")).toEqual([]);
  });

  test("a hidden server is no server, by any method", async () => {
    const stub = new Stub({ tools: [tool("echo")], capabilities: { tools: {}, resources: {} }, resources: true });
    const servers = { secret: { ...stub.entry, exposure: "hidden" }, open: new Stub().entry };
    const runtime = await (await compiled(servers)).runtime();
    const starts = stub.starts();
    const unknown = shape(await refusal(runtime.call("zzzzzz", "echo")), "zzzzzz");
    expect(shape(await refusal(runtime.call("secret", "echo")), "secret")).toEqual(unknown);
    expect((await refusal(runtime.call("secre", "echo"))).message).not.toContain("secret");
    const resources = await runtime.resources();
    for (const ask of [
      (server: string) => resources.list(server),
      (server: string) => resources.templates(server),
      (server: string) => resources.read(server, "stub://x"),
      (server: string) => resources.prompts(server),
      (server: string) => resources.prompt(server, "p"),
      (server: string) => resources.complete(server, { type: "ref/prompt", name: "p" }, { name: "a", value: "" }),
    ]) {
      expect(shape(await refusal(ask("secret")), "secret")).toEqual(unknown);
    }
    expect((await refusal(resources.list("secre"))).message).not.toContain("secret");
    expect(await refusal(runtime.compareWithServer("secret"))).toMatchObject({ reason: "unknown-server" });
    expect(stub.starts()).toBe(starts);
  });

  test("a hidden server that shows one tool shows that tool and nothing else", async () => {
    const stub = new Stub({
      tools: [tool("echo"), tool("drop")],
      capabilities: { tools: {}, resources: {} },
      resources: true,
    });
    const entry = { ...stub.entry, exposure: "hidden", toolExposure: { echo: "codemode" } };
    const runtime = await (await compiled({ s: entry })).runtime();
    expect((await runtime.call("s", "echo")).text).toBe("{}");
    expect(await refusal(runtime.call("s", "drop"))).toMatchObject({ reason: "unknown-tool" });
    expect(await refusal((await runtime.resources()).list("s"))).toMatchObject({ reason: "unknown-server" });
  });

  test("tools hidden one by one leave a server's resources in reach", async () => {
    const stub = new Stub({ tools: [tool("echo")], capabilities: { tools: {}, resources: {} }, resources: true });
    const runtime = await (await compiled({ s: { ...stub.entry, toolExposure: { "*": "hidden" } } })).runtime();
    expect(await refusal(runtime.call("s", "echo"))).toMatchObject({ reason: "unknown-tool" });
    expect(await (await runtime.resources()).list("s")).toEqual([]);
  });

  test("a server without tools is one all the same: it may have resources", async () => {
    const capabilities = { tools: {}, resources: {} };
    const runtime = await (
      await compiled({ files: new Stub({ tools: [], capabilities, resources: true }).entry })
    ).runtime();
    expect(await (await runtime.resources()).list("files")).toEqual([]);
    expect(await refusal(runtime.call("files", "x"))).toMatchObject({ reason: "unknown-tool" });
  });
});

describe("the user's servers under the project's", () => {
  const layered = async (override: object) => {
    const project = new RuntimeProject();
    project.write("agent/mcp.json", { mcpServers: { mine: new Stub({ tools: [tool("one"), tool("two")] }).entry } });
    project.servers({ ours: new Stub({ tools: [tool("team")] }).entry, ...override });
    expect((await project.compileInProcess()).filter(({ severity }) => severity === "error")).toEqual([]);
    return project;
  };

  test("both are callable, and userOut: false leaves the user's out", async () => {
    const project = await layered({});
    const runtime = await project.runtime();
    expect((await runtime.call("mine", "one", { text: "a" })).text).toBe('{"text":"a"}');
    expect((await runtime.call("ours", "team", { text: "b" })).text).toBe('{"text":"b"}');
    const alone = await project.runtime({ userOut: false });
    expect(await refusal(alone.call("mine", "one"))).toMatchObject({ reason: "unknown-server" });
  });

  test("a project's override hides a tool, or the server", async () => {
    const hiding = await (await layered({ mine: { toolExposure: { one: "hidden" } } })).runtime();
    expect(await refusal(hiding.call("mine", "one"))).toMatchObject({ reason: "unknown-tool" });
    expect((await hiding.call("mine", "two")).text).toBe("{}");
    const disabling = await (await layered({ mine: { enabled: false } })).runtime();
    expect(await refusal(disabling.call("mine", "two"))).toMatchObject({ reason: "unknown-server" });
  });

  test("config: one file alone, with its own artifacts", async () => {
    const project = await layered({});
    const runtime = await project.runtime({ config: join(project.project, "mcp.json") });
    expect((await runtime.call("ours", "team")).text).toBe("{}");
    expect(await refusal(runtime.call("mine", "one"))).toMatchObject({ reason: "unknown-server" });
  });
});

describe("artifacts that can't be used", () => {
  test.each<[string, (folder: string) => void, string]>([
    ["a torn write", (folder) => writeFileSync(join(folder, "exposure.json"), "{}"), "artifacts-torn"],
    ["a cut manifest", (folder) => writeFileSync(join(folder, "manifest.json"), '{"format'), "artifacts-torn"],
    [
      "an old format",
      (folder) => {
        const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
        writeFileSync(join(folder, "manifest.json"), JSON.stringify({ ...manifest, formatVersion: 0 }));
      },
      "artifacts-format",
    ],
  ])("%s is said, naming pimcp compile; the call says there is no such server", async (_, damage, code) => {
    const project = await compiled({ s: new Stub().entry });
    damage(join(project.project, "generated"));
    const runtime = await project.runtime();
    expect(runtime.diagnostics.map((found) => found.code)).toEqual([code]);
    expect(JSON.stringify(runtime.diagnostics)).toContain("pimcp compile");
    const refused = await refusal(runtime.call("s", "echo"));
    expect(refused.reason).toBe("unknown-server");
    expect(refused.message).toContain("pimcp compile");
  });

  test("no artifacts at all: a call names pimcp compile", async () => {
    const project = new RuntimeProject();
    project.servers({ s: new Stub().entry });
    const runtime = await project.runtime();
    expect((await refusal(runtime.call("s", "echo"))).message).toContain("pimcp compile");
  });

  test("a catalog torn after the start is a clear error of the call", async () => {
    const project = await compiled({ s: new Stub().entry });
    writeFileSync(join(project.project, "generated", "catalog.json"), '{"formatVersion":1,"servers":[]}');
    const runtime = await project.runtime();
    expect((await rejection(runtime.call("s", "echo"))).message).toContain("pimcp compile");
  });
});

describe("a closed runtime", () => {
  test("refuses every use, and closing twice is closing once", async () => {
    const runtime = await (await compiled({ s: new Stub().entry })).runtime();
    await runtime.call("s", "echo");
    await Promise.all([runtime.close(), runtime.close()]);
    expect(await refusal(runtime.call("s", "echo"))).toMatchObject({ reason: "closed", name: "RefusedError" });
    expect(await refusal(runtime.resources())).toMatchObject({ reason: "closed" });
  });

  test("an aborted signal closes it, before or after", async () => {
    const project = await compiled({ s: new Stub().entry });
    const abort = new AbortController();
    const runtime = await project.runtime({ signal: abort.signal });
    await runtime.call("s", "echo");
    abort.abort();
    expect(await refusal(runtime.call("s", "echo"))).toMatchObject({ reason: "closed" });
    expect(getEventListeners(abort.signal, "abort")).toEqual([]);
    const late = await createRuntime({ ...project.surroundings, signal: abort.signal });
    expect(await refusal(late.call("s", "echo"))).toMatchObject({ reason: "closed" });
  });
});
