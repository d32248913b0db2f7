/** `pimcp read` and `pimcp prompt` as they are typed. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compiled, script } from "../runtime/runtime-project.ts";
import { project } from "./call-project.ts";
import { tool } from "./pimcp.ts";

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
