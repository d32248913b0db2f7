/** Servers that a program brings itself, beside those of `mcp.json`. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { search } from "../../runtime/search.ts";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import { Stub, tool } from "../cli/pimcp.ts";
import { serverConfig } from "../servers/run.ts";
import { RuntimeProject, rejection } from "./runtime-project.ts";

function configOf(name: string, stub: Stub): ServerConfig {
  const { command, args, env } = stub.entry;
  return serverConfig({ kind: "stdio", command, args, env }, { name });
}

/** Artifacts of one server, in a folder of their own. */
async function artifactsOf(name: string, stub: Stub): Promise<string> {
  const project = new RuntimeProject();
  project.servers({ [name]: stub.entry });
  await project.compileInProcess();
  return join(project.project, "generated");
}

test("their tools are found, described and called like any other's, with the configuration in memory", async () => {
  const [own, theirs] = [new Stub({ tools: [tool("echo", "Repeats invoices")] }), new Stub({ tools: [tool("echo")] })];
  const out = await artifactsOf("own", own!);
  const project = new RuntimeProject();
  project.servers({ other: theirs!.entry });
  await project.compileInProcess();
  const runtime = await project.runtime({ servers: [{ config: configOf("own", own!), out }] });
  expect(runtime.table.servers().map(({ name }) => name)).toEqual(["other", "own"]);
  expect(runtime.table.definition("mcp__own__echo")).toMatchObject({ value: { description: "Repeats invoices" } });
  expect(search(runtime.table, "invoices")).toMatchObject({ value: [{ name: "mcp__own__echo" }] });
  expect((await runtime.call("own", "echo", { text: "hi" })).text).toBe('{"text":"hi"}');
  expect((await runtime.call("other", "echo", { text: "ho" })).text).toBe('{"text":"ho"}');
});

test("mcp.json wins over the same name and over one that differs in - and _", async () => {
  const [own, theirs] = [new Stub({ tools: [tool("own")] }), new Stub({ tools: [tool("theirs")] })];
  const project = new RuntimeProject();
  project.servers({ same: theirs!.entry, a_b: theirs!.entry });
  await project.compileInProcess();
  const servers = await Promise.all(
    ["same", "a-b"].map(async (name) => ({ config: configOf(name, own!), out: await artifactsOf(name, own!) })),
  );
  const runtime = await project.runtime({ servers });
  expect(runtime.table.tools().map(({ name }) => name)).toEqual(["mcp__a_b__theirs", "mcp__same__theirs"]);
  expect((await runtime.call("same", "theirs")).text).toBe("{}");
});

test("without artifacts, or with those of another server, there is nothing to call", async () => {
  const own = new Stub();
  const project = new RuntimeProject();
  const [empty, other] = [join(project.root, "empty"), join(project.root, "other")];
  cpSync(await artifactsOf("somebody", own), other, { recursive: true });
  for (const out of [empty, other]) {
    const runtime = await project.runtime({ servers: [{ config: configOf("own", own), out }] });
    expect(runtime.table.servers()).toEqual([]);
    expect((await rejection(runtime.call("own", "echo"))).message).toContain('there is no server "own"');
  }
});
