// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${VAR} is the notation of the files under test.
import { describe, expect, test } from "vitest";
import { serversOfScope } from "../../schemas/config/server-config.ts";
import { layered, lines, names } from "./config-layering.ts";

const stdio = (command: string, more: object = {}) => ({ command, ...more });
const servers = (mcpServers: object, more: object = {}) => ({ mcpServers, ...more });

describe("faults that users met elsewhere", () => {
  test("one bad entry takes no other with it", () => {
    const text = servers({ good: stdio("x", { args: ["a"] }), bad: { args: ["a"] }, worse: 5, nil: null });
    const { value, diagnostics } = layered({ "mcp.json": text });
    expect(names(value)).toEqual(["good"]);
    expect(new Set(diagnostics.map((one) => one.server))).toEqual(new Set(["bad", "worse", "nil"]));
    expect(diagnostics.every((one) => one.severity === "error" && one.line === 1)).toBe(true);
    expect(value.dropped?.map((one) => one.name)).toEqual(["bad", "nil", "worse"]);
  });

  test("a partial project entry overrides that field only, and re-enabling restores all", () => {
    const user = servers({ s: stdio("x", { args: ["a"], env: { K: "v" }, exposure: "direct", description: "d" }) });
    const off = layered({ user, "mcp.json": servers({ s: { enabled: false }, zz: { enabled: false } }) });
    const on = layered({ user, "mcp.json": servers({ s: { enabled: true } }) });
    const alone = layered({ user });
    expect(off.value.servers).toEqual([{ ...alone.value.servers[0], enabled: false }]);
    expect(on.value.servers).toEqual(alone.value.servers);
    expect(on.diagnostics).toEqual([]);
    expect(lines(off.diagnostics)).toEqual([
      'mcp.json:1:38: warning: "zz" overrides a server that no configuration file defines [override-without-server]',
    ]);
  });
});

describe("which entry counts", () => {
  test("the project's definition replaces the user's, a later project file's an earlier one's", () => {
    const { value, diagnostics } = layered({
      user: servers({ a: stdio("user", { exposure: "hidden" }), b: stdio("user") }),
      ".mcp.json": servers({ a: stdio("dot"), c: stdio("dot") }),
      "mcp.json": servers({ c: stdio("plain", { env: { X: "1" } }) }),
      ".pi/mcp.json": servers({ c: stdio("pi") }),
    });
    expect(diagnostics).toEqual([]);
    expect(
      value.servers.map(({ name, scope, transport, file }) => [
        name,
        scope,
        "command" in transport && transport.command,
        file,
      ]),
    ).toEqual([
      ["a", "project", "dot", "/work/app/.mcp.json"],
      ["b", "user", "user", "/home/u/.pi/agent/mcp.json"],
      ["c", "project", "pi", "/work/app/.pi/mcp.json"],
    ]);
    expect(value.servers[0]).not.toHaveProperty("exposure");
    expect(value.servers[2]!.transport).toMatchObject({ env: {} });
  });

  test("a relative cwd is the project's, or the session's for the user's servers", () => {
    const { value } = layered({ user: servers({ u: stdio("x") }), "mcp.json": servers({ p: stdio("x") }) });
    expect(value.servers.map(({ name, baseDir }) => [name, baseDir])).toEqual([
      ["p", "/work/app"],
      ["u", "/work/app/sub"],
    ]);
  });

  test("an override on a server that an earlier project file defines is merged, not listed", () => {
    const { value, diagnostics } = layered({
      ".mcp.json": servers({ s: stdio("x", { exposure: "direct", maxOutputBytes: 5 }) }),
      ".pi/mcp.json": servers({ s: { exposure: "deferred", toolExposure: { a: "hidden" } } }),
    });
    expect(diagnostics).toEqual([]);
    expect(value.servers[0]).toMatchObject({
      scope: "project",
      exposure: "deferred",
      toolExposure: [{ pattern: "a", exposure: "hidden" }],
      maxOutputBytes: 5,
    });
    expect(Object.keys(value.overrides)).toEqual([]);
  });

  test("overrides of one user server in two files are laid over each other, key by key", () => {
    const { value } = layered({
      user: servers({ s: stdio("x", { toolExposure: { old: "direct" } }) }),
      ".mcp.json": servers({ s: { enabled: false, maxOutputBytes: 5 } }),
      "mcp.json": servers({ s: { enabled: true, toolExposure: {} } }),
    });
    expect(value.servers[0]).toMatchObject({ enabled: true, maxOutputBytes: 5, toolExposure: [], scope: "user" });
    expect(value.overrides["s"]).toMatchObject({
      enabled: true,
      maxOutputBytes: 5,
      toolExposure: [],
      location: { file: "mcp.json" },
    });
  });

  test("an override below a definition does nothing, and says so", () => {
    const { value, diagnostics } = layered({
      ".mcp.json": servers({ s: { enabled: false } }),
      "mcp.json": servers({ s: stdio("x") }),
    });
    expect(value.servers[0]!.enabled).toBe(true);
    expect(Object.keys(value.overrides)).toEqual([]);
    expect(lines(diagnostics)).toEqual(['.mcp.json:1:16: warning: this override of "s" has no effect [no-effect]']);
  });

  test("other fields of an override have no effect, and say so", () => {
    const { value, diagnostics } = layered({
      user: servers({ s: stdio("x", { env: { K: "mine" } }) }),
      "mcp.json": servers({ s: { enabled: false, env: { K: "theirs" }, timeout: 1, nope: 1 } }),
    });
    expect(value.servers[0]).toMatchObject({
      enabled: false,
      requestTimeoutMs: 60_000,
      transport: { env: { K: "mine" } },
    });
    expect(lines(diagnostics)).toEqual([
      'mcp.json:1:70: warning: unknown key "nope"; it has no effect [unknown-key]',
      'mcp.json:1:37: warning: env has no effect in an override of "s" [no-effect]',
      'mcp.json:1:58: warning: timeout has no effect in an override of "s" [no-effect]',
    ]);
  });

  test.each<[object, object]>([
    [{ enabled: "false" }, { enabled: false }],
    [{ exposure: "off" }, { exposure: "hidden" }],
    [{ maxOutputBytes: -1 }, { enabled: true }],
  ])("a malformed override %j never shows more", (change, want) => {
    const { value, diagnostics } = layered({ user: servers({ s: stdio("x") }), "mcp.json": servers({ s: change }) });
    expect(diagnostics.map((one) => one.severity)).toEqual(["error"]);
    expect(value.servers[0]).toMatchObject(want);
    expect(value.servers[0]).not.toHaveProperty("maxOutputBytes");
  });

  test("a server that the user disabled can't be enabled by a project, and it says so", () => {
    const { diagnostics } = layered({
      user: servers({ s: stdio("x", { enabled: false }) }),
      "mcp.json": servers({ s: { enabled: true } }),
    });
    expect(diagnostics).toMatchObject([{ code: "no-effect", server: "s", file: "mcp.json" }]);
    expect(diagnostics[0]!.message).toContain("disabled at ");
  });

  test("an override in the user's own file is a broken definition", () => {
    const { value, diagnostics } = layered({ user: servers({ s: { enabled: false } }) });
    expect(diagnostics.map((one) => one.code)).toEqual(["invalid-server"]);
    expect(value.dropped).toMatchObject([{ name: "s", scope: "user" }]);
  });

  test("an override of a server whose definition is broken is not called an orphan", () => {
    const { diagnostics } = layered({
      user: servers({ s: stdio("") }),
      "mcp.json": servers({ s: { enabled: false } }),
    });
    expect(diagnostics.map((one) => one.code)).toEqual(["invalid-value"]);
  });

  test("an orphan override suggests the server it may have meant", () => {
    const { diagnostics } = layered({
      user: servers({ github: stdio("x") }),
      "mcp.json": servers({ gihtub: { enabled: false } }),
    });
    expect(diagnostics[0]!.notes[0]).toBe('did you mean "github"?');
  });

  test("a broken project entry leaves the user's server as it was", () => {
    const { value } = layered({ user: servers({ s: stdio("mine") }), "mcp.json": servers({ s: stdio("") }) });
    expect(value.servers[0]).toMatchObject({ scope: "user", transport: { command: "mine" } });
    expect(value.dropped).toMatchObject([{ name: "s", scope: "project" }]);
  });
});

describe("names that differ only in - and _", () => {
  test("in one file the first stays", () => {
    const { value, diagnostics } = layered({
      "mcp.json": servers({ "a-b": stdio("x"), a_b: stdio("y"), c: stdio("z") }),
    });
    expect(names(value)).toEqual(["a-b", "c"]);
    expect(lines(diagnostics)).toEqual([
      'mcp.json:1:38: error: servers "a_b" and "a-b" differ only in "-" and "_"; "a_b" is left out [server-name-collision]',
    ]);
    expect(diagnostics[0]!.notes[0]).toContain('"a-b" is at mcp.json:1:16');
    expect(value.dropped).toMatchObject([{ name: "a_b" }]);
  });

  test("across files the higher layer's stays, and the user's own artifacts keep theirs", () => {
    const { value, diagnostics } = layered({
      user: servers({ "a-b": stdio("x") }),
      "mcp.json": servers({ a_b: stdio("y") }),
    });
    expect(names(value)).toEqual(["a_b"]);
    expect(lines(diagnostics)).toEqual([
      '~/.pi/agent/mcp.json:1:16: error: servers "a-b" and "a_b" differ only in "-" and "_"; "a-b" is left out [server-name-collision]',
    ]);
    expect(serversOfScope(value, "user").map((server) => server.name)).toEqual(["a-b"]);
    expect(value.dropped).toEqual([]);
  });

  test("one name in two files is no collision", () => {
    expect(
      layered({ user: servers({ a_b: stdio("x") }), "mcp.json": servers({ a_b: stdio("y") }) }).diagnostics,
    ).toEqual([]);
  });
});

describe("settings", () => {
  test("project files merge key by key; the scopes stay apart", () => {
    const { value } = layered({
      user: servers(
        { u: stdio("x") },
        { maxOutputBytes: 1, codemode: { inlineBudget: 10 }, ttlMs: 5, autoEnableCodemode: true },
      ),
      ".mcp.json": servers({ p: stdio("x"), q: stdio("x", { ttlMs: 0 }) }, { maxOutputBytes: 2, out: "a" }),
      "mcp.json": { out: "./b/c", ttlMs: 7, autoEnableCodemode: false },
    });
    expect(value.project).toEqual({ maxOutputBytes: 2, inlineBudget: 3000, out: "/work/app/b/c" });
    expect(value.user).toEqual({ maxOutputBytes: 1, inlineBudget: 10, out: "/home/u/.pi/agent/pimcp/generated" });
    expect(value.servers.map(({ name, ttlMs }) => [name, ttlMs])).toEqual([
      ["p", 7],
      ["q", 0],
      ["u", 5],
    ]);
    expect(value.autoEnableCodemode).toBe(false);
  });

  test.each([
    [{}, {}, undefined],
    [{ typecheck: "off" }, {}, "off"],
    [{ typecheck: "off" }, { codemode: { typecheck: "warn" } }, "warn"],
    [{}, { typecheck: "error", codemode: { typecheck: "warn" } }, "warn"],
    [{ codemode: { typecheck: "warn" } }, { typecheck: "error" }, "error"],
    [{ typecheck: "warn" }, { typecheck: "sometimes" }, "warn"],
  ])("typecheck of %j under %j is %j", (user, project, want) => {
    const { value } = layered({ user: servers({ s: stdio("x") }, user), "mcp.json": project });
    expect(value.typecheck).toBe(want);
  });

  test.each([
    [{}, {}, undefined],
    [{}, { onDrift: "block" }, "block"],
    [{ onDrift: "warn" }, { onDrift: "block" }, "block"],
    // A repository can't switch off what its user asked for.
    [{ onDrift: "block" }, { onDrift: "warn" }, "block"],
    [{ onDrift: "warn" }, {}, "warn"],
    [{}, { onDrift: "bloc" }, "block"],
    [{ onDrift: true }, { onDrift: "warn" }, "block"],
  ])("onDrift of %j under %j is %j", (user, project, want) => {
    const { value } = layered({ user: servers({ s: stdio("x") }, user), "mcp.json": project });
    expect(value.onDrift).toBe(want);
  });

  test("of a project's own files the later one's onDrift counts", () => {
    const { value } = layered({ "mcp.json": { onDrift: "block" }, ".pi/mcp.json": { onDrift: "warn" } });
    expect(value.onDrift).toBe("warn");
  });

  test.each([
    [{}, {}, undefined],
    [{ codemode: { engine: "pimcp" } }, {}, "pimcp"],
    [{ codemode: { engine: "pimcp" } }, { codemode: { engine: "pi" } }, "pi"],
    [{ codemode: { engine: "pimcp" } }, { codemode: { engine: "deno" } }, "pimcp"],
  ])("engine of %j under %j is %j", (user, project, want) => {
    const { value } = layered({ user: servers({ s: stdio("x") }, user), "mcp.json": project });
    expect(value.engine).toBe(want);
  });

  test("the user's ttlMs is the fallback for a project's servers", () => {
    expect(layered({ user: { ttlMs: 5 }, "mcp.json": servers({ p: stdio("x") }) }).value.servers[0]!.ttlMs).toBe(5);
  });

  test.each(["generated", "./generated", "a/b", "..a/b", "a..", ".cache/x"])("out %j is inside the project", (out) => {
    const { value, diagnostics } = layered({ "mcp.json": servers({ s: stdio("x") }, { out }) });
    expect(diagnostics).toEqual([]);
    expect(value.project.out.startsWith("/work/app/")).toBe(true);
  });

  test.each([
    "",
    ".",
    "./",
    "..",
    "../x",
    "a/../../x",
    "a\\..\\x",
    "/tmp/x",
    "\\\\host\\x",
    "C:\\x",
    "~/x",
    "${HOME}/x",
  ])("out %j is an error", (out) => {
    const { value, diagnostics } = layered({ "mcp.json": servers({ s: stdio("x") }, { out }) });
    expect(diagnostics.map((one) => one.code)).toEqual(["invalid-value"]);
    expect(value.project.out).toBe("/work/app/generated");
  });

  test("the user's file has no say about out", () => {
    const { value, diagnostics } = layered({ user: servers({ s: stdio("x") }, { out: "x" }) });
    expect(diagnostics.map((one) => one.code)).toEqual(["no-effect"]);
    expect(value.user.out).toBe("/home/u/.pi/agent/pimcp/generated");
  });
});

describe("a file that can't be used", () => {
  test("the others still count, and its scope is marked incomplete", () => {
    const { value, diagnostics } = layered({
      user: servers({ u: stdio("x") }),
      ".mcp.json": "{",
      "mcp.json": servers({ p: stdio("x"), u: { enabled: false } }),
    });
    expect(names(value)).toEqual(["p", "u"]);
    expect(diagnostics.map(({ file, code }) => [file, code])).toEqual([[".mcp.json", "config-syntax"]]);
    expect(value.project.incomplete).toBe(true);
    expect(value.user).not.toHaveProperty("incomplete");
  });

  test("overrides of servers in a user file that can't be read are not called orphans, and are kept", () => {
    const { value, diagnostics } = layered({ user: "{", "mcp.json": servers({ u: { enabled: false } }) });
    expect(diagnostics.map((one) => one.code)).toEqual(["config-syntax"]);
    expect(value.overrides["u"]).toMatchObject({ enabled: false });
  });
});

describe("what a repository keeps doesn't depend on the user's file", () => {
  test("overrides are kept whether or not the user has the server", () => {
    const project = servers({ p: stdio("x"), u: { enabled: false } });
    const without = layered({ "mcp.json": project }).value;
    const having = layered({ user: servers({ u: stdio("x") }), "mcp.json": project }).value;
    expect(without.overrides).toEqual(having.overrides);
    expect(serversOfScope(without, "project")).toEqual(serversOfScope(having, "project"));
  });

  test("and the user's artifacts don't depend on the project", () => {
    const user = servers({ u: stdio("x"), v: stdio("y") });
    const inside = layered({ user, "mcp.json": servers({ u: { enabled: false }, v: stdio("z") }, { ttlMs: 9 }) }).value;
    expect(serversOfScope(inside, "user")).toEqual(serversOfScope(layered({ user }).value, "user"));
  });
});
