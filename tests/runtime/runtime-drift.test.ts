/** What is said, and done, when a server offers something else than was compiled. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Drift } from "../../runtime/drift.ts";
import type { RefusedError } from "../../runtime/errors.ts";
import { Stub, tool } from "../cli/pimcp.ts";
import { scratchFolder } from "../scratch.ts";
import { eventually } from "../servers/run.ts";
import { compiled, rejection, script } from "./runtime-project.ts";

const BEFORE = [tool("kept"), tool("changed"), tool("removed")];
const AFTER = [tool("kept"), tool("changed", "Does something else now"), tool("added")];
const DRIFT: Drift = {
  server: "s",
  tools: [
    { tool: "added", change: "added", members: [] },
    { tool: "changed", change: "changed", members: ["description"] },
    { tool: "removed", change: "removed", members: [] },
  ],
};

async function drifted(options: object = {}, after: readonly object[] = AFTER) {
  const stub = new Stub({ tools: BEFORE });
  const project = await compiled({ s: stub.entry });
  stub.set({ tools: after, ...options });
  return { stub, project };
}

describe("on the first connection", () => {
  test("the same tools in another order: silence", async () => {
    const { project } = await drifted({}, BEFORE.toReversed());
    const runtime = await project.runtime();
    await runtime.call("s", "kept");
    expect(await runtime.compareWithServer("s")).toEqual({ server: "s", tools: [] });
    expect(project.notices).toEqual([]);
  });

  test("other tools: said once, as data, and the compiled definitions stay in use", async () => {
    const { stub, project } = await drifted();
    const runtime = await project.runtime();
    expect(await runtime.drift()).toEqual([]);
    expect(await runtime.compareWithServer("s")).toEqual(DRIFT);
    for (const name of ["kept", "changed", "removed"]) expect((await runtime.call("s", name)).text).toBe("{}");
    expect((await rejection<RefusedError>(runtime.call("s", "added"))).reason).toBe("unknown-tool");
    expect(await runtime.drift()).toEqual([DRIFT]);
    expect(project.notices).toMatchObject([{ code: "tools-drifted", severity: "warning", server: "s" }]);
    const said = [project.notices[0]!.message, ...project.notices[0]!.notes].join(" ");
    for (const part of ["changed", "removed", "added", "pimcp compile"]) expect(said).toContain(part);
    // Said again neither by the next call nor by the next connection.
    await rejection(runtime.call("s", "kept", {}, { signal: AbortSignal.abort() }));
    process.kill(stub.log().at(-1)!.pid, "SIGKILL");
    await eventually(() => !alive(stub.log().at(-1)!.pid), "the server is gone");
    await eventually(() => stub.lists() >= 2, "it has been listed");
    await runtime.call("s", "kept").catch(() => runtime.call("s", "kept"));
    await runtime.compareWithServer("s");
    expect(project.codes()).toEqual(["tools-drifted"]);
  });

  test("block refuses the tools that changed or went, and no other", async () => {
    const { stub, project } = await drifted();
    const runtime = await project.runtime({ onDrift: "block" });
    const outcomes = await Promise.allSettled(["kept", "changed", "removed"].map((name) => runtime.call("s", name)));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    const refused = await rejection<RefusedError>(runtime.call("s", "changed"));
    expect(refused).toMatchObject({ name: "RefusedError", reason: "definition-changed", server: "s", tool: "changed" });
    expect(refused.message).toMatch(/description.*pimcp compile/);
    const called = stub.log().flatMap(({ method, params }) => (method === "tools/call" ? [params!["name"]] : []));
    expect(called).toEqual(["kept"]);
  });

  test("mcp.json says so too, an option of the program's before it", async () => {
    const { stub, project } = await drifted();
    project.servers({ s: stub.entry }, { onDrift: "block" });
    const configured = await project.runtime();
    expect(await rejection<RefusedError>(configured.call("s", "changed"))).toMatchObject({
      reason: "definition-changed",
    });
    expect((await configured.call("s", "kept")).text).toBe("{}");
    expect((await (await project.runtime({ onDrift: "warn" })).call("s", "changed")).text).toBe("{}");
    project.write("agent/mcp.json", { onDrift: "block" });
    project.servers({ s: stub.entry }, { onDrift: "warn" });
    expect((await rejection<RefusedError>((await project.runtime()).call("s", "changed"))).reason).toBe(
      "definition-changed",
    );
    // Nothing is compiled from it.
    expect(project.codes()).not.toContain("config-newer");
  });

  test("block refuses what can't be compared: a server that won't list its tools gets no call", async () => {
    const { stub, project } = await drifted({ replies: { "tools/list": { error: { code: -32000, message: "no" } } } });
    const blocking = await project.runtime({ onDrift: "block" });
    expect(await rejection<RefusedError>(blocking.call("s", "kept"))).toMatchObject({ reason: "definition-changed" });
    expect(stub.log().filter(({ method }) => method === "tools/call")).toEqual([]);
    const warning = await project.runtime();
    expect((await warning.call("s", "kept")).text).toBe("{}");
    expect(await warning.compareWithServer("s")).toBeUndefined();
  });

  test.each([
    {
      what: "added where models are offered",
      offered: { sampling: true },
      after: [...BEFORE, tool("added")],
      is: "info",
    },
    {
      what: "added and removed where only folders are offered",
      offered: { roots: true },
      after: [tool("kept"), tool("changed"), tool("added")],
      is: "info",
    },
    { what: "added where nothing more is offered", offered: {}, after: [...BEFORE, tool("added")], is: "warning" },
    { what: "changed where models are offered", offered: { sampling: true }, after: AFTER, is: "warning" },
  ])("tools $what: $is", async ({ offered, after, is }) => {
    const { project } = await drifted({}, after);
    const handlers =
      "roots" in offered
        ? { roots: async () => [] }
        : { elicitation: async () => ({}), ...("sampling" in offered && { sampling: async () => ({}) }) };
    const runtime = await project.runtime({ handlers });
    await runtime.compareWithServer("s");
    expect(project.notices).toMatchObject([{ code: "tools-drifted", severity: is }]);
    expect(runtime.status("s").drift?.isOfClient).toBe(is === "info" ? true : undefined);
  });

  test("a changed member says which one it is", async () => {
    const outputSchema = { type: "object", properties: { a: { type: "string" } } };
    const changes = [
      { ...BEFORE[0], outputSchema },
      { ...BEFORE[1], inputSchema: { type: "object" }, title: "T" },
      { ...BEFORE[2], annotations: { destructiveHint: true } },
    ];
    const { project } = await drifted({}, changes);
    const drift = await (await project.runtime()).compareWithServer("s");
    expect(drift!.tools).toEqual([
      { tool: "changed", change: "changed", members: ["title", "inputSchema"] },
      { tool: "kept", change: "changed", members: ["outputSchema"] },
      { tool: "removed", change: "changed", members: ["annotations"] },
    ]);
  });
});

test("a list nested deeper than the stack is a difference, not the end of the program", async () => {
  const tools = join(scratchFolder(), "tools.json");
  const project = await compiled({ s: script("raw-answer.mjs", { TOOLS: tools }) });
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  writeFileSync(tools, `{"tools":[{"name":"t","inputSchema":{"type":"object","default":${deep}}},{"name":"u"}]}`);
  const drift = await (await project.runtime()).compareWithServer("s");
  expect(drift!.tools.map(({ tool: name, change }) => [name, change])).toEqual([
    ["t", "removed"],
    ["u", "added"],
  ]);
  expect((await project.compileInProcess()).map(({ code }) => code)).toContain("invalid-tool");
});

describe("while connected", () => {
  test.each([["legacy.mjs"], ["modern.mjs"]])("a tool that %s adds is noticed", async (name) => {
    const project = await compiled({ s: script(name) });
    const runtime = await project.runtime();
    expect(await runtime.compareWithServer("s")).toEqual({ server: "s", tools: [] });
    await runtime.call("s", "grow");
    await eventually(() => project.notices.length > 0, "the added tool is said");
    expect(project.notices).toMatchObject([{ code: "tools-drifted", message: expect.stringContaining("grown") }]);
    expect(await runtime.drift()).toEqual([{ server: "s", tools: [{ tool: "grown", change: "added", members: [] }] }]);
  });

  test.each<[string, object]>([
    ["an announcement after each list", { listChangedAfterList: 5 }],
    ["fifty at once", { listChangedBurst: 50 }],
  ])("%s costs a handful of lists", async (_, options) => {
    const stub = new Stub({ tools: BEFORE });
    const project = await compiled({ s: stub.entry });
    stub.set({ tools: BEFORE, ...options });
    const runtime = await project.runtime();
    const before = stub.lists();
    await runtime.call("s", "kept");
    await new Promise((resolve) => setTimeout(resolve, 4000));
    expect(stub.lists() - before).toBeGreaterThanOrEqual(2);
    expect(stub.lists() - before).toBeLessThanOrEqual(4);
    expect(project.notices).toEqual([]);
    await runtime.close();
  });

  test("the last of a burst of changes is seen", async () => {
    const stub = new Stub({ tools: BEFORE });
    const project = await compiled({ s: stub.entry });
    stub.set({ listChangedBurst: 50, toolsByCount: [BEFORE, AFTER] });
    const runtime = await project.runtime();
    await runtime.call("s", "kept");
    await eventually(() => project.notices.length > 0, "the change is said");
    expect(await runtime.drift()).toEqual([DRIFT]);
  });
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}
