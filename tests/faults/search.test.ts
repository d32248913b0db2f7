/** (j) Search: each reported fault, by the command and by the index that the runtime reads. */
import { expect, test } from "vitest";
import { search } from "../../runtime/search.ts";
import { Stub, tool, type Workspace } from "../cli/pimcp.ts";
import { declared, type RuntimeProject } from "../runtime/runtime-project.ts";
import { compiledProduct } from "./product.ts";

/** Own names of what is found, best first: by the command, and the same by the runtime. */
async function found(work: RuntimeProject, ...query: string[]): Promise<string[]> {
  const byCommand = await commandResults(work, query);
  const runtime = await work.runtime();
  const byRuntime = search(runtime.table, query.join(" "));
  expect(byRuntime.ok && byRuntime.value.map((result) => result.tool)).toEqual(byCommand);
  return byCommand;
}

async function commandResults(work: Workspace, query: readonly string[]): Promise<string[]> {
  const { code, stdout } = await work.run("search", "--json", ...query);
  expect(code).toBe(0);
  return (JSON.parse(stdout).results as { tool: string }[]).map((result) => result.tool);
}

test("codex #21503, pi #11331, agents #315: a tool called by its name comes first, however others talk", async () => {
  const talk = "The app app shows the app of an app: open the app, close the app, list each app and every person app";
  const talkative = Array.from({ length: 30 }, (_, n) => tool(`window_${n}`, `${talk} (${n})`));
  const people = [tool("addPerson", "Creates a contact"), tool("addActivity", "Creates an entry")];
  const stub = new Stub({ tools: [...talkative, tool("app", ""), ...people] });
  const work = await compiledProduct({ s: stub.entry });
  expect((await found(work, "app"))[0]).toBe("app");
  expect((await found(work, "addPerson"))[0]).toBe("addPerson");
  expect((await found(work, "add person"))[0]).toBe("addPerson");
  expect((await found(work, "add", "person"))[0]).toBe("addPerson");
  expect((await found(work, "addPerson addActivity app")).slice(0, 3).sort()).toEqual([
    "addActivity",
    "addPerson",
    "app",
  ]);
  expect((await found(work, "mcp__s__app"))[0]).toBe("app");
  expect(await found(work, "add")).toEqual(expect.arrayContaining(["addPerson", "addActivity"]));
});

test("codex #21503: every tool that a query names is found, also more of them than are shown by default", async () => {
  const names = Array.from({ length: 12 }, (_, n) => `do_thing_${String.fromCharCode(97 + n)}`);
  const noise = Array.from({ length: 20 }, (_, n) => tool(`noise_${n}`, names.join(" ")));
  const stub = new Stub({ tools: [...noise, ...names.map((name) => tool(name, ""))] });
  const work = await compiledProduct({ s: stub.entry });
  expect([...(await found(work, names.join(" ")))].sort()).toEqual(names);
});

test("pi #11803: parameters behind a local, recursive $ref are found; a definition nobody refers to is not", async () => {
  const Addr = { type: "object", properties: { postcode: { type: "string" }, next: { $ref: "#/$defs/Addr" } } };
  const Old = { type: "object", properties: { telex: { type: "string" } } };
  const input = { type: "object", properties: { to: { $ref: "#/$defs/Addr" } }, $defs: { Addr, Old } };
  const stub = new Stub({ tools: [declared("send", input), tool("other"), tool("more")] });
  const work = await compiledProduct({ s: stub.entry });
  expect(await found(work, "postcode")).toEqual(["send"]);
  expect(await found(work, "telex")).toEqual([]);
});
