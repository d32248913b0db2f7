/** What a person is shown of the servers there are, and what may be typed next. */
import { expect, test } from "vitest";
import { locateConfiguration } from "../../runtime/connect/configuration-files.ts";
import { completeMcp } from "../../runtime/pi/command/mcp-completion.ts";
import { overviewText, serverText } from "../../runtime/pi/command/mcp-text.ts";
import { noteCompile } from "../../runtime/pi/servers/compile-findings.ts";
import { currentServers, problemsBeside } from "../../runtime/pi/servers/current-servers.ts";
import type { ServerRow } from "../../runtime/pi/servers/server-overview.ts";
import type { PiSession } from "../../runtime/pi/session.ts";
import { diagnostic } from "../../schemas/diagnostic.ts";
import { Stub, tool } from "../cli/pimcp.ts";
import { RuntimeProject } from "./runtime-project.ts";

/** A session over the project's artifacts, as far as this part looks at it. */
async function sessionOf(project: RuntimeProject): Promise<PiSession> {
  const runtime = await project.runtime();
  const files = await locateConfiguration(project.surroundings);
  const registrations = { servers: [], disabled: [], overridden: [], diagnostics: [] };
  return {
    runtime,
    table: runtime.table,
    files,
    registrations,
    notices: [],
    isProjectTrusted: true,
  } as unknown as PiSession;
}

async function rowsOf(session: PiSession): Promise<Readonly<Record<string, ServerRow>>> {
  return Object.fromEntries((await currentServers(session)).rows.map((row) => [row.name, row]));
}

test("each server has the state that configuration, artifacts and connection give it", async () => {
  const stub = new Stub({ tools: [tool("echo"), tool("wipe")] });
  const project = new RuntimeProject();
  project.write("agent/mcp.json", { mcpServers: { mine: { ...stub.entry, exposure: "direct" } } });
  const servers = {
    gone: stub.entry,
    kept: stub.entry,
    other: stub.entry,
    quiet: { ...stub.entry, exposure: "hidden" },
  };
  project.servers(servers);
  await project.compileInProcess();
  project.servers({
    ...servers,
    gone: undefined,
    kept: { ...stub.entry, toolExposure: { wipe: "hidden" } },
    other: { ...stub.entry, args: [...stub.entry.args, "--more"] },
    off: { ...stub.entry, enabled: false },
    bad: { args: [] },
    fresh: { url: "https://example.com/mcp" },
    machine: { url: "https://example.com/mcp", headers: { authorization: "Bearer x" } },
  });
  const session = await sessionOf(project);
  const rows = await rowsOf(session);
  expect(
    Object.entries(rows).map(([name, { kind, isStale, isSignable }]) => [name, kind, isStale, isSignable]),
  ).toEqual([
    ["bad", "invalid", false, false],
    ["fresh", "not-compiled", false, true],
    ["machine", "not-compiled", false, false],
    ["gone", "gone", false, false],
    ["kept", "not-connected", true, false],
    ["mine", "not-connected", false, false],
    ["off", "disabled", false, false],
    ["other", "not-connected", true, false],
    ["quiet", "not-connected", false, false],
  ]);
  expect(rows["mine"]).toMatchObject({ scope: "user", exposure: "direct", transport: "stdio, legacy 2025-11-25" });
  expect(rows["mine"]!.tools.map(({ tool: name, isDeclared }) => [name, isDeclared])).toEqual([
    ["echo", true],
    ["wipe", true],
  ]);
  expect(rows["quiet"]!.tools.map(({ exposure, tokens }) => [exposure, tokens])).toEqual([
    ["hidden", undefined],
    ["hidden", undefined],
  ]);
  expect(rows["bad"]!.reason[0]).toContain('needs either "command"');
  expect(rows["gone"]!.reason[0]).toContain("no mcp.json names it any more");
  expect(rows["kept"]!.reason).toEqual([
    "its settings changed after it was compiled; /mcp compile kept takes them over",
  ]);

  const finding = diagnostic("sign-in-needed", "sign-in is needed", { server: "fresh" });
  noteCompile(
    session,
    ["fresh", "machine"],
    [finding, diagnostic("server-unreachable", "it is down", { server: "machine" })],
  );
  const after = await rowsOf(session);
  expect(after["fresh"]).toMatchObject({ kind: "needs-sign-in", reason: ["sign-in is needed"] });
  expect(after["machine"]).toMatchObject({ kind: "not-compiled", reason: ["it is down"] });
  noteCompile(session, ["fresh"], []);
  expect((await rowsOf(session))["fresh"]).toMatchObject({ kind: "not-compiled", reason: [] });
});

test("a file that can't be read takes no server away, and is said once", async () => {
  const stub = new Stub({ tools: [tool("echo")] });
  const project = new RuntimeProject();
  project.servers({ docs: stub.entry });
  await project.compileInProcess();
  project.write("project/mcp.json", "{");
  const session = await sessionOf(project);
  const { rows, problems } = await currentServers(session);
  expect(rows).toMatchObject([{ name: "docs", kind: "not-connected" }]);
  const text = overviewText(rows, { problems, isProjectTrusted: true });
  expect(text.split("\n")).toEqual([
    expect.stringMatching(/^docs: not connected, 1 tool/),
    "    its configuration can't be read; what was compiled stays in use",
    expect.stringMatching(/^error: \S*mcp\.json:1:2: expected/),
  ]);
});

test("problems that a row says are not said again, nor any twice", () => {
  const rows = [{ name: "docs" }] as unknown as ServerRow[];
  const found = [
    diagnostic("server-stale", "of a row", { server: "docs" }),
    diagnostic("server-stale", "of no row", { server: "other" }),
    diagnostic("artifacts-torn", "general"),
    diagnostic("artifacts-torn", "general"),
    diagnostic("call-notice", "a remark"),
  ];
  expect(problemsBeside(rows, found).map(({ message }) => message)).toEqual(["of no row", "general"]);
});

test("text of servers moves nothing on a terminal", async () => {
  const stub = new Stub({ tools: [tool("ec\u001b[2Jho"), tool("wipe", "a\nb")] });
  const project = new RuntimeProject();
  project.servers({ docs: stub.entry });
  await project.compileInProcess();
  const rows = await rowsOf(await sessionOf(project));
  const text = serverText({ ...rows["docs"]!, reason: ["\u0007ding\nfake: connected"] });
  expect(text).toContain("ec\\u001b[2Jho");
  expect(text.split("\n")).toContain("  \\u0007ding fake: connected");
});

test("completion offers what there is, at each place", async () => {
  const stub = new Stub({ tools: [tool("echo"), tool("two words"), tool("wipe")] });
  const project = new RuntimeProject();
  project.servers({
    docs: stub.entry,
    dots: stub.entry,
    off: { ...stub.entry, enabled: false },
    remote: { url: "https://example.com/mcp" },
  });
  await project.compileInProcess();
  const session = await sessionOf(project);
  const values = async (prefix: string) => (await completeMcp(session, prefix))?.map(({ value }) => value) ?? null;
  expect(await values("")).toEqual([
    "status ",
    "login ",
    "logout ",
    "reconnect ",
    "compile ",
    "enable ",
    "disable ",
    "exposure ",
    "help",
  ]);
  expect(await values("log")).toEqual(["login ", "logout "]);
  // What is whole needs no list, which would take the first Enter.
  for (const whole of ["status", "reconnect docs", "exposure docs codemode", "disable docs --project"])
    expect(await values(whole)).toBeNull();
  expect(await values("exposure docs codem")).toEqual(["exposure docs codemode", "exposure docs codemode-deferred"]);
  expect(await values("nonsense ")).toBeNull();
  expect(await values("constructor ")).toBeNull();
  expect(await values("help ")).toBeNull();
  expect(await values("login ")).toEqual(["login remote"]);
  expect(await values("enable ")).toEqual(["enable off"]);
  expect(await values("reconnect do")).toEqual(["reconnect docs", "reconnect dots"]);
  expect(await values("disable docs ")).toEqual(["disable docs --project"]);
  expect(await values("status docs ")).toBeNull();
  expect(await values("exposure docs d")).toEqual(["exposure docs deferred", "exposure docs direct"]);
  expect(await values("exposure docs e")).toEqual(["exposure docs echo"]);
  expect(await values("exposure docs echo h")).toEqual(["exposure docs echo hidden"]);
  expect(await values("exposure docs echo hidden ")).toEqual(["exposure docs echo hidden --project"]);
  expect(await values("exposure docs --project echo i")).toEqual(["exposure docs --project echo inherit"]);
});
