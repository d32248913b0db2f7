/** A session takes the compiled era at its word: no probe, one process; and one that proves wrong is put right once. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sha256 } from "../../schemas/canonical.ts";
import { Stub } from "../cli/pimcp.ts";
import { countProcesses } from "../servers/run.ts";
import { compiled, count, failure, happened, type RuntimeProject, TOOLS } from "./runtime-project.ts";

/** Edits what was compiled of server `s`, digests kept right. */
function editManifest(project: RuntimeProject, change: (server: Record<string, unknown>) => void): void {
  const path = join(project.project, "generated", "manifest.json");
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  change(manifest.servers.s);
  for (const file of Object.keys(manifest.files)) {
    manifest.files[file] = sha256(readFileSync(join(project.project, "generated", file), "utf8"));
  }
  writeFileSync(path, JSON.stringify(manifest));
}

const asLegacy = (server: Record<string, unknown>) => {
  delete server["supportedVersions"];
  Object.assign(server, { era: "legacy", protocolVersion: "2025-11-25" });
};
const asModern = (server: Record<string, unknown>) =>
  Object.assign(server, { era: "modern", protocolVersion: "2026-07-28", supportedVersions: ["2026-07-28"] });

describe("the compiled era", () => {
  test.each<[string, string[]]>([
    ["legacy", ["start", "initialize", "notifications/initialized", "tools/list", "tools/call"]],
    ["modern", ["start", "tools/list", "tools/call"]],
  ])("%s: no server/discover, one process", async (era, wanted) => {
    const stub = new Stub({ era, tools: TOOLS });
    const runtime = await (await compiled({ s: stub.entry })).runtime();
    const since = stub.log().length;
    await Promise.all([runtime.call("s", "echo"), runtime.call("s", "echo")]);
    expect(happened(stub, since)).toEqual([...wanted, "tools/call"]);
  });

  test.each<[string, object, (server: Record<string, unknown>) => void]>([
    ["modern, compiled as legacy", { era: "modern" }, asLegacy],
    ["legacy, compiled as modern", { era: "legacy", requireInitialize: true }, asModern],
    ["legacy that exits, compiled as modern", { era: "legacy", exitUnlessInitialized: true }, asModern],
  ])("%s: probed once, said once, the call runs once", async (_, options, change) => {
    const stub = new Stub({ ...options, tools: TOOLS });
    const project = await compiled({ s: stub.entry });
    editManifest(project, change);
    const runtime = await project.runtime();
    const since = stub.log().length;
    expect((await runtime.call("s", "echo", { n: 1 })).text).toBe('{"n":1}');
    expect((await runtime.call("s", "echo", { n: 2 })).text).toBe('{"n":2}');
    expect(happened(stub, since).filter((event) => event === "server/discover")).toHaveLength(1);
    expect(project.codes()).toEqual(["verdict-changed"]);
    expect(countProcesses(stub.marker)).toBe(1);
    const ran = happened(stub, since).filter((event) => event === "tools/call");
    expect(ran).toHaveLength(2);
  });

  test("legacy, compiled as modern, dying in the first call: that call is not sent again", async () => {
    const stub = new Stub({ tools: TOOLS });
    const project = await compiled({ s: stub.entry });
    editManifest(project, asModern);
    const runtime = await project.runtime();
    await failure(runtime.call("s", "crash"));
    expect(count(stub, "tools/call")).toBe(1);
    expect((await runtime.call("s", "echo")).text).toBe("{}");
  });

  test("legacy that ignores what comes before initialize, compiled as modern: what helps is said", async () => {
    const stub = new Stub({ tools: TOOLS });
    const project = await compiled({ s: stub.entry });
    editManifest(project, asModern);
    const runtime = await project.runtime();
    stub.set({ tools: TOOLS, silent: ["tools/list", "tools/call"] });
    const { message } = await failure(runtime.call("s", "echo", {}, { timeoutMs: 300 }));
    expect(message).toContain("no answer within 300 ms");
    expect(message).toContain("run `pimcp compile --refresh`");
    // One that has answered before is only slow.
    stub.set({ tools: TOOLS });
    await runtime.call("s", "echo");
    const slow = await failure(runtime.call("s", "hang", {}, { timeoutMs: 300 }));
    expect(slow.message).toContain("no answer within 300 ms");
    expect(slow.message).not.toContain("--refresh");
  });

  test("of a server whose entry changed since doesn't count", async () => {
    const stub = new Stub({ tools: TOOLS });
    const project = await compiled({ s: { ...stub.entry } });
    project.servers({ s: { ...stub.entry, env: { ...stub.entry.env, MORE: "1" } } });
    const runtime = await project.runtime();
    const since = stub.log().length;
    expect((await runtime.call("s", "echo")).text).toBe("{}");
    expect(happened(stub, since)).toContain("server/discover");
    expect(project.codes()).toEqual(["config-newer"]);
    expect(project.notices[0]!.message).toContain("pimcp compile");
  });
});
