// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the notation of mcp.json
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { printableLine, printableTail, redact, redactData } from "../../runtime/connect/redact.ts";
import { type ResolvedHttp, type ResolvedStdio, resolveServer } from "../../runtime/connect/resolve.ts";
import type { ServerConfig, StdioSettings } from "../../schemas/config/server-config.ts";
import { expandHome, expandVariables, hasVariables, isCommandValue, variablesOf } from "../../schemas/expand.ts";
import { countProcesses, eventually, serverConfig } from "../servers/run.ts";

const env = { A: "1", EMPTY: "", NESTED: "${A}", PATH: process.env["PATH"] };

describe("expandVariables", () => {
  test.each([
    ["plain", "plain"],
    ["${A}", "1"],
    ["x${A}y${A}z", "x1y1z"],
    ["${NO:-fb}", "fb"],
    ["${NO:-}", ""],
    ["${A:-fb}", "1"],
    ["${EMPTY:-fb}", "fb"],
    ["${EMPTY}", ""],
    ["${NESTED}", "${A}"],
    ["${NO:-${A}}", "1"],
    ["${NO:-a${NO2:-b}c}d", "abcd"],
    ["${NO:-{}}", "{}"],
    ["$A ${} ${1} ${a-b} ${A", "$A ${} ${1} ${a-b} ${A"],
    ["${A:+x}", "${A:+x}"],
    ["${__proto__:-safe}", "safe"],
    ["$${A}", "$1"],
  ])("%j → %j", (text, value) => {
    expect(expandVariables(text, env)).toEqual({ ok: true, value });
  });

  test.each([
    ["${NO}", ["NO"]],
    ["${NO}${A}${NO}${NO2}", ["NO", "NO2"]],
    ["${EMPTY:-${NO}}", ["NO"]],
    ["${toString}", ["toString"]],
  ])("%j misses %j", (text, missing) => {
    expect(expandVariables(text, env)).toEqual({ ok: false, missing });
  });

  test("a text without ${ comes back as it is, any text comes back without a throw", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("$", "{", "}", ":", "-", "A", "x") }), (text) => {
        const expansion = expandVariables(text, {});
        if (!text.includes("${")) expect(expansion).toEqual({ ok: true, value: text });
        expect(hasVariables(text)).toBe(variablesOf(text).length > 0);
      }),
    );
  });

  test("names, commands, home", () => {
    expect(variablesOf("${A} ${B:-${C}} ${A}")).toEqual(["A", "B", "C"]);
    expect([isCommandValue("!echo x"), isCommandValue("echo !x"), isCommandValue("!  ")]).toEqual([true, false, false]);
    expect(["~/x", "~", "~user/x", "a~/x"].map((text) => expandHome(text, "/h"))).toEqual([
      "/h/x",
      "/h",
      "~user/x",
      "a~/x",
    ]);
  });
});

const project = mkdtempSync(join(tmpdir(), "pimcp-project-"));
const home = mkdtempSync(join(tmpdir(), "pimcp-home-"));
afterAll(() => {
  for (const folder of [project, home]) rmSync(folder, { recursive: true });
});
mkdirSync(join(project, "srv"));
mkdirSync(join(home, "w"));

function entry(settings: Partial<StdioSettings>): ServerConfig {
  return serverConfig({ kind: "stdio", command: "node", args: [], env: {}, ...settings }, { baseDir: project });
}

const variables = { P_T: "s3cret-value", PATH: process.env["PATH"], HOME: home };
const resolve = (config: ServerConfig, more = {}) => resolveServer(config, { env: variables, homedir: home, ...more });

async function resolved<T>(config: ServerConfig): Promise<T> {
  const outcome = await resolve(config);
  if (!outcome.ok) throw new Error(outcome.diagnostic.message);
  return outcome.resolved as T;
}

async function refused(config: ServerConfig, more = {}) {
  const outcome = await resolve(config, more);
  if (outcome.ok) throw new Error("resolved");
  return outcome.diagnostic;
}

describe("resolveServer", () => {
  test("every field of a stdio server is expanded, the environment is ours with the entry's over it", async () => {
    const server = await resolved<ResolvedStdio>(
      entry({
        command: "${NO:-~/bin/x}",
        args: ["--k=${P_T}", "~/data", "~${P_T}", "!echo no"],
        env: { T: "${P_T}", D: "${P_NO:-fb}", C: "!printf 'from-command\\n\\n'", HOME: "/other" },
        cwd: "./srv",
      }),
    );
    expect(server.command).toBe("~/bin/x");
    expect(server.args).toEqual(["--k=s3cret-value", `${home}/data`, "~s3cret-value", "!echo no"]);
    expect(server.env).toEqual({ ...variables, T: "s3cret-value", D: "fb", C: "from-command", HOME: "/other" });
    expect(server.cwd).toBe(join(project, "srv"));
    expect(server.secrets).toEqual(expect.arrayContaining(["s3cret-value", "from-command"]));
  });

  const words = "correct-horse-battery-staple";
  test.each<[string, Partial<StdioSettings>, string[], string[]]>([
    ["a secret's name makes words a credential", { env: { GH_PAT: words } }, [words], [words]],
    ["elsewhere words are kept out of messages alone", { env: { NOTE: words } }, [words], []],
    ["nor does a variable make a credential of words", { env: { WHERE: "${P_REGION}" } }, ["eu-central-1"], []],
    ["unless it is called one", { env: { X: "${P_PASS}" } }, ["eu-central-1"], ["eu-central-1"]],
    ["what doesn't read like words is one", { env: { X: "aB3dE5gH7" } }, ["aB3dE5gH7"], ["aB3dE5gH7"]],
    [
      "paths, numbers, switches and short words are none",
      {
        env: { A: "/srv/data", B: "8080", C: "true", D: "eu-west-1", E: "~/x y/z.db", F: "https://api.test/v1/items" },
      },
      [],
      [],
    ],
    [
      "names that speak of one are none",
      { env: { MAX_TOKENS: "4000", TOKEN_FILE: "/run/token", AUTH_MODE: "oauth" } },
      [],
      [],
    ],
    ["famous values are none", { env: { PASSWORD: "password", SECRET: "changeme" } }, [], []],
    ["a default", { env: { API_KEY: "${P_NO:-aB3dE5gH7}" } }, ["aB3dE5gH7"], ["aB3dE5gH7"]],
    ["an option", { args: ["--api-key", "plainword"] }, ["plainword"], ["plainword"]],
    ["an option with =", { args: ["--token=plainword"] }, ["plainword"], ["plainword"]],
    ["other arguments are none", { args: ["-y", "package@1.2", "--root", "/data", "token-server:1.2"] }, [], []],
    ["a header among arguments", { args: ["--header=Authorization: Bearer plainword"] }, ["plainword"], ["plainword"]],
    [
      "a URL's password and query",
      { args: ["redis://:pl%40in@h/0?password=other1"] },
      ["pl%40in", "pl@in", "other1"],
      ["pl%40in", "pl@in", "other1"],
    ],
  ])("%s", async (_, settings, secrets, credentials) => {
    const env = { ...variables, P_REGION: "eu-central-1", P_PASS: "eu-central-1" };
    const outcome = await resolve(entry(settings), { env });
    const found = outcome.ok ? outcome.resolved : undefined;
    expect([...found!.credentials].sort()).toEqual([...credentials].sort());
    const whole = Object.values(settings.env ?? {}).filter((value) => secrets.some((secret) => value.includes(secret)));
    expect(new Set([...found!.secrets])).toEqual(
      new Set([...secrets, ...whole.filter((value) => !value.includes("$"))]),
    );
  });

  test("a child's inherited credentials are known too, for it could repeat them", async () => {
    const env = {
      ...variables,
      GH_TOKEN: "ghp_0123456789abcdef",
      DB: "mysql://u:pw3K9x2q@h",
      API_KEY: "none yet",
      N: "x1y2z3q9",
    };
    const outcome = await resolve(entry({}), { env });
    expect(outcome.ok && outcome.resolved.credentials).toEqual(["ghp_0123456789abcdef", "pw3K9x2q"]);
  });

  test("of an address: user, password, query and opaque parts of its path; of Basic, its password too", async () => {
    const basic = Buffer.from("me:pass:word1").toString("base64");
    const server = await resolved<ResolvedHttp>(
      serverConfig({
        kind: "http",
        url: "https://ghp_0123456789abcdef@x.test/api/mcp/s/NmQ4YjA3M2QtZTk5Zi00/mcp?key=k1e2y3&page=2",
        headers: { Authorization: `Basic ${basic}`, Accept: "application/json", "X-Mode": "relaxed" },
      }),
    );
    expect([...server.credentials].sort()).toEqual(
      [
        "ghp_0123456789abcdef",
        "NmQ4YjA3M2QtZTk5Zi00",
        "k1e2y3",
        `Basic ${basic}`,
        basic,
        "me:pass:word1",
        "pass:word1",
      ].sort(),
    );
    expect(server.secrets).toContain("relaxed");
    expect(server.secrets).not.toContain("application/json");
  });

  test("url, headers and oauth are expanded; header values are secrets, with and without their scheme", async () => {
    const server = await resolved<ResolvedHttp>(
      serverConfig({
        kind: "http",
        url: "https://example.com/${P_T}/mcp",
        headers: { Authorization: "Bearer ${P_T}x", "X-Run": "!echo run-output" },
        oauth: { clientId: "${P_NO:-id}", clientSecret: "!echo client-secret", callbackPort: 1234 },
      }),
    );
    expect(server.url.href).toBe("https://example.com/s3cret-value/mcp");
    expect(server.headers).toEqual({ Authorization: "Bearer s3cret-valuex", "X-Run": "run-output" });
    expect(server.oauth).toEqual({ clientId: "id", clientSecret: "client-secret", callbackPort: 1234 });
    expect(server.secrets).toEqual(expect.arrayContaining(["s3cret-valuex", "run-output", "client-secret"]));
  });

  test("variables that are unset and have no default are all named, with their fields", async () => {
    const finding = await refused(entry({ args: ["${P_NO}"], env: { U: "${P_NO}", V: "${P_NO2}", R: "!exit 1" } }));
    expect(finding.code).toBe("unset-variable");
    expect(finding.message).toContain("P_NO (in args[0]), P_NO (in env.U), P_NO2 (in env.V)");
    expect(finding).toMatchObject({ server: "s", file: "mcp.json", line: 3, column: 5 });
  });

  test.each([
    ["a status", "!echo hidden-output; exit 3", "the command in env.K exited with status 3"],
    ["no output", "!true", "the command in env.K printed nothing"],
    ["too much output", "!yes", "the command in env.K printed more than 1 MiB"],
  ])("a command that fails by %s is named by its field, its output is not shown", async (_, value, message) => {
    const finding = await refused(entry({ env: { K: value } }));
    expect(finding.code).toBe("command-failed");
    expect(finding.message).toContain(message);
    expect(JSON.stringify(finding)).not.toContain("hidden-output");
  });

  test("a command that doesn't end is ended, with what it started", async () => {
    const marker = `sleeper-${process.pid}`;
    const outcome = refused(entry({ env: { K: `!bash -c "exec -a ${marker} sleep 60" & wait` } }), {
      commandTimeoutMs: 500,
    });
    await eventually(() => countProcesses(`${marker}\0`) > 0, "the command runs");
    expect((await outcome).message).toContain("did not end within 500 ms");
    await eventually(() => countProcesses(marker) === 0, "all it started is gone");
  });

  test.each([
    [{ cwd: "./gone" }, '"./gone" (relative to the project folder), doesn\'t exist'],
    [{ cwd: "~/gone" }, '"~/gone", doesn\'t exist'],
  ])("a missing cwd %j is blamed on the folder", async (settings, message) => {
    const finding = await refused(entry(settings));
    expect(finding.code).toBe("missing-cwd");
    expect(finding.message).toContain(message);
  });

  test("cwd: home, absolute, absent", async () => {
    const cwdOf = async (settings: Partial<StdioSettings>) => (await resolved<ResolvedStdio>(entry(settings))).cwd;
    expect(await cwdOf({ cwd: "~/w" })).toBe(join(home, "w"));
    expect(await cwdOf({ cwd: project })).toBe(project);
    expect(await cwdOf({})).toBe(project);
  });

  test("keys that name prototypes are ordinary", async () => {
    const hostile = JSON.parse('{"__proto__": "x", "constructor": "y"}');
    const server = await resolved<ResolvedStdio>(entry({ env: hostile }));
    expect(Object.hasOwn(server.env, "__proto__") && server.env["constructor"]).toBe("y");
  });
});

describe("text of others", () => {
  test("secrets go in every spelling, the longest first; short values stay", () => {
    const secrets = ["abc def/1", "abc def/1-long", "tiny"];
    expect(redact("x abc def/1-long y abc def/1 z abc%20def%2F1 tiny", secrets)).toBe(
      "x [redacted] y [redacted] z [redacted] tiny",
    );
    expect(redact('{"k":"a\\"b\\nc-long"}', ['a"b\nc-long'])).toBe('{"k":"[redacted]"}');
    expect(redact("x\ud800secret y", ["\ud800secret"])).toBe("x[redacted] y");
  });

  test("of data, keys and texts are cleaned at any depth, and the rest is as it was", () => {
    const data = JSON.parse(
      '{"__proto__":{"a-secret-1":["x a-secret-1"]},"n":123456789,"m":1234567,"b":null,"t":true}',
    );
    const { value, found } = redactData(data, ["a-secret-1", "123456789", "1234567"]);
    expect(found).toBe(true);
    expect(JSON.stringify(value)).toBe(
      '{"__proto__":{"[redacted]":["x [redacted]"]},"n":"[redacted]","m":1234567,"b":null,"t":true}',
    );
    expect(redactData(data, ["other-secret"])).toEqual({ value: data, found: false });
    const deep = JSON.parse(`${"[".repeat(100_000)}"a-secret-1"${"]".repeat(100_000)}`);
    expect(redactData(deep, ["a-secret-1"]).found).toBe(true);
  });

  test("control, colour and bidirectional characters go, long lines are cut between characters", () => {
    expect(printableLine("\u001b[31mred\u001b[0m\u0007 a\tb\u202ec\u2066d\r")).toBe("red a bcd");
    expect(printableLine("😀".repeat(300), 10)).toBe("😀😀😀😀…");
    expect(printableTail("a\n\n\u001b[1m\nb\r\nc", 2)).toEqual(["b", "c"]);
  });
});
