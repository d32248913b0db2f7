/** What stubs import: making a client is free, its methods call through, and errors are recognised across copies. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import {
  client,
  type CallToolResult as PlainResult,
  ServerError,
  ToolError,
  type ToolResult,
} from "../../runtime/codegen/v1.ts";

interface Weather {
  getForecast(args: { location: string }): Promise<ToolResult<unknown>>;
  constructor_(args?: object): Promise<ToolResult<unknown>>;
}

describe("client", () => {
  const weather = client<Weather>("file:///stub.js", "weather", {
    getForecast: "get_forecast",
    constructor_: "constructor",
  });

  test("a frozen object with a method for each tool and nothing to wait for", async () => {
    expect(Object.keys(weather)).toEqual(["getForecast", "constructor_"]);
    expect(Object.isFrozen(weather)).toBe(true);
    expect(await weather).toBe(weather);
  });

  test("a method named __proto__ is a method", () => {
    const odd = client<object>("file:///stub.js", "s", JSON.parse('{"__proto__":"x"}'));
    expect(Object.keys(odd)).toEqual(["__proto__"]);
  });

  test("importing it and making a client loads no package and not the runtime behind it", () => {
    const script = `
      const { registerHooks } = await import("node:module");
      const loaded = [];
      registerHooks({ load(url, context, next) { if (!url.startsWith("node:")) loaded.push(url.split("/").slice(-2).join("/")); return next(url, context); } });
      const { client } = await import("./runtime/codegen/v1.ts");
      client("file:///x.js", "s", { a: "a" });
      console.log(JSON.stringify(loaded));
    `;
    const node = fileURLToPath(new URL("../../node_modules/node/bin/node", import.meta.url));
    const cwd = fileURLToPath(new URL("../../", import.meta.url));
    const { stdout, stderr } = spawnSync(
      node,
      ["--experimental-strip-types", "--no-warnings", "--input-type=module", "-e", script],
      { cwd, encoding: "utf8" },
    );
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual(["codegen/v1.ts", "runtime/errors.ts"]);
  });
});

describe("errors", () => {
  const result: PlainResult = { content: [{ type: "text", text: "no such city" }], isError: true };

  test("carry their data and say their name", () => {
    const tool = new ToolError("no such city", { server: "weather", tool: "get_forecast", result });
    expect(tool).toMatchObject({
      name: "ToolError",
      message: "no such city",
      server: "weather",
      tool: "get_forecast",
      result,
    });
    expect(String(tool)).toBe("ToolError: no such city");
    const cause = new Error("spawn");
    const server = new ServerError("down", { server: "weather", cause, stderrTail: "oops" });
    expect(server).toMatchObject({ name: "ServerError", server: "weather", cause, stderrTail: "oops" });
    expect("cause" in new ServerError("down", { server: "weather" })).toBe(false);
  });

  test("each is only of its own class, and plain values of none", () => {
    const tool = new ToolError("x", { server: "s", tool: "t", result });
    expect(tool instanceof Error && tool instanceof ToolError).toBe(true);
    expect(tool instanceof ServerError).toBe(false);
    for (const value of [null, undefined, "x", {}, new Error("x")])
      expect((value as unknown) instanceof ToolError).toBe(false);
  });

  test("another copy's errors are recognised, a subclass's only as what they are", async () => {
    const path = new URL("../../runtime/errors.ts?copy", import.meta.url).href;
    const copy = (await import(path)) as typeof import("../../runtime/errors.ts");
    expect(copy.ToolError).not.toBe(ToolError);
    const theirs = new copy.ToolError("x", { server: "s", tool: "t", result });
    expect(theirs instanceof ToolError).toBe(true);
    expect(new ToolError("x", { server: "s", tool: "t", result }) instanceof copy.ToolError).toBe(true);
    expect(theirs instanceof ServerError).toBe(false);
    class Special extends ToolError {}
    expect(theirs instanceof Special).toBe(false);
    expect(new Special("x", { server: "s", tool: "t", result }) instanceof ToolError).toBe(true);
  });

  test("a result of the SDK is a result here", () => {
    // Checked by tsc: no cast.
    const plain = (sdk: CallToolResult): PlainResult => sdk;
    expect(plain({ content: [{ type: "text", text: "x" }] }).content[0]).toEqual({ type: "text", text: "x" });
  });
});
