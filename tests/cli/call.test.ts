/** `pimcp call` as it is typed: what isn't there, and how a call ends that isn't answered. */
import { describe, expect, test } from "vitest";
import { compiled, declared } from "../runtime/runtime-project.ts";
import { countProcesses, eventually } from "../servers/run.ts";
import { project } from "./call-project.ts";
import { Stub, tool } from "./pimcp.ts";

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
