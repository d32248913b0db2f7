/** Servers that ask where nobody is there to be asked: a real Pi without a user interface. */
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { Stub, tool } from "../cli/pimcp.ts";
import { EVERYTHING } from "../servers/run.ts";
import { Asking, schema, TEST_MS } from "./asking.ts";
import { type Answer, compiledWorkspace, runPi, textOf } from "./pi.ts";

const WHY = "nobody can be asked: Pi runs without a user interface here (print or JSON mode)";

describe("without a user interface", () => {
  test("servers know that nobody can be asked, and are told the folder all the same", {
    timeout: TEST_MS,
  }, async () => {
    const asking = await Asking.compiled();
    const answers = asking.answers([["greet"], ["visit"], ["roots"]]);
    const { ended, code } = await runPi(asking.workspace, { args: ["--approve"], answers });
    expect(code).toBe(0);
    expect(ended.slice(0, 2)).toMatchObject([{ isError: true }, { isError: true }]);
    expect(textOf(ended[0])).toMatch(/does not support .*elicitation/);
    const { project } = asking.workspace;
    expect(JSON.parse(textOf(ended[2]))).toEqual([{ uri: pathToFileURL(project).href, name: "project" }]);
    expect(asking.advertised()).toEqual([{ roots: {} }]);
  });

  test("a server that asks nevertheless fails the call, and the model learns why", { timeout: TEST_MS }, async () => {
    const strict = await Asking.compiled({ ERA: "modern" });
    const refused = await runPi(strict.workspace, { args: ["--approve"], answers: strict.answers([["greet"]]) });
    expect(refused.ended[0]).toMatchObject({ isError: true });
    expect(textOf(refused.ended[0])).toContain("do not declare the required capability");
    expect(textOf(refused.ended[0])).toContain(WHY);

    const params = { message: "Who is there?", requestedSchema: schema({ name: { type: "string" } }) };
    const inputRequests = { who: { method: "elicitation/create", params } };
    const result = { resultType: "input_required", inputRequests };
    const stub = new Stub({ era: "modern", tools: [tool("greet")], replies: { "tools/call": { result } } });
    const servers = { asking: stub.entry, everything: EVERYTHING };
    const direct = Object.entries(servers).map(([name, entry]) => [name, { ...entry, exposure: "direct" }]);
    const workspace = await compiledWorkspace(Object.fromEntries(direct));
    const answers: Answer[] = [
      { call: ["mcp__asking__greet", {}] },
      { call: ["mcp__everything__trigger_elicitation_request", {}] },
      { text: "done" },
    ];
    const { ended, stderr } = await runPi(workspace, { args: ["--approve"], answers });
    expect(ended.slice(0, 2)).toMatchObject([{ isError: true }, { isError: true }]);
    expect(textOf(ended[0])).toContain(`it asked for elicitation ("Who is there?"), and ${WHY}`);
    // A server that has no such tool then says only that; and that it has other tools is no news to anybody.
    expect(textOf(ended[1])).toContain(`The server has no such tool for this session: ${WHY}`);
    expect(stderr).toBe("");
  });
});
