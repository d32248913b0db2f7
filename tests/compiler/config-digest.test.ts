// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${VAR} is the notation of the files under test.
import { describe, expect, test } from "vitest";
import { connectionDigest, settingsDigest } from "../../schemas/config/digest.ts";
import { locate, parseConfigSource } from "../../schemas/config/source.ts";
import { nearest, nearestAll } from "../../schemas/nearest.ts";
import { layered } from "./config-layering.ts";

function digest(entry: object, where: "user" | "mcp.json" = "mcp.json"): string {
  return connectionDigest(layered({ [where]: { mcpServers: { s: entry } } }).value.servers[0]!);
}

describe("the connection's digest", () => {
  const base = { command: "x", args: ["a", "b"], env: { K: "${K}" }, cwd: "w" };
  test.each<[string, object]>([
    ["command", { ...base, command: "y" }],
    ["args", { ...base, args: ["b", "a"] }],
    ["cwd", { ...base, cwd: "v" }],
    ["a variable's name", { ...base, env: { L: "${K}" } }],
    ["what a variable refers to", { ...base, env: { K: "${L}" } }],
    ["a reference turned literal", { ...base, env: { K: "v" } }],
    ["a command for a value", { ...base, env: { K: "!k" } }],
    ["protocolVersion", { ...base, protocolVersion: "legacy" }],
  ])("changes with %s", (_, entry) => {
    expect(digest(entry)).not.toBe(digest(base));
    expect(digest(base)).toMatch(/^[0-9a-f]{64}$/);
  });

  const http = { url: "https://x.test/mcp?key=${K}", headers: { A: "Bearer ${T}", B: "b" } };
  test.each<[string, object, object]>([
    ["literal values of env", { ...base, env: { K: "one" } }, { ...base, env: { K: "two" } }],
    ["a default", { ...base, env: { K: "${K:-one}" } }, { ...base, env: { K: "${K:-two}" } }],
    ["literal text around a variable", { ...base, env: { K: "one${K}" } }, { ...base, env: { K: "two${K}" } }],
    ["a secret argument", { ...base, args: ["--token", "one"] }, { ...base, args: ["--token", "two"] }],
    ["the order of env", { ...base, env: { A: "${A}", B: "${B}" } }, { ...base, env: { B: "${B}", A: "${A}" } }],
    ["literal values of headers", http, { ...http, headers: { A: "Basic ${T}", B: "c" } }],
    ["the case of header names", http, { ...http, headers: { a: "Bearer ${T}", b: "b" } }],
    ["a secret in the url", { url: "https://u:one@x.test/?api_key=one" }, { url: "https://u:two@x.test/?api_key=two" }],
    [
      "exposure, limits and times",
      base,
      { ...base, exposure: "direct", maxOutputBytes: 5, ttlMs: 5, timeout: 5, description: "d", enabled: false },
    ],
  ])("does not change with %s", (_, one, two) => {
    expect(digest(one)).toBe(digest(two));
  });

  test("does not tell the user's file from the project's", () => {
    expect(digest(base, "user")).toBe(digest(base));
  });
});

describe("the settings' digest", () => {
  const user = { mcpServers: { u: { command: "x" } } };
  const of = (project: object, scope: "user" | "project" = "project") =>
    settingsDigest(layered({ user, "mcp.json": project }).value, scope);
  const base = { mcpServers: { p: { command: "x", toolExposure: { a: "direct", "*": "hidden" } } } };
  const p = (more: object) => ({ mcpServers: { p: { ...base.mcpServers.p, ...more } } });

  test.each<[string, object]>([
    ["exposure", p({ exposure: "direct" })],
    ["the order of rules", p({ toolExposure: { "*": "hidden", a: "direct" } })],
    ["maxOutputBytes", p({ maxOutputBytes: 5 })],
    ["description", p({ description: "d" })],
    ["the connection", p({ args: ["a"] })],
    ["enabled", p({ enabled: false })],
    ["top-level maxOutputBytes", { ...base, maxOutputBytes: 5 }],
    ["inlineBudget", { ...base, codemode: { inlineBudget: 1 } }],
    ["an override", { mcpServers: { ...base.mcpServers, u: { enabled: false } } }],
  ])("changes with %s", (_, project) => {
    expect(of(project)).not.toBe(of(base));
    expect(of(project, "user")).toBe(of(base, "user"));
  });

  test.each<[string, object]>([
    ["ttlMs, timeouts and out", { ...p({ ttlMs: 5, timeout: 3, probeTimeoutMs: 1 }), out: "o", ttlMs: 9 }],
    ["a disabled server", { mcpServers: { ...base.mcpServers, q: { command: "x", enabled: false } } }],
    ["the order of servers", { mcpServers: { ...base.mcpServers } }],
  ])("does not change with %s", (_, project) => {
    expect(of(project)).toBe(of(base));
  });
});

test("places of keys and values", () => {
  const { root } = parseConfigSource('{\n  "a": [1,\n    {"b": "é", "__proto__": 2}]\n}', "f");
  const at = (path: (string | number)[], part?: "key" | "value") => {
    const { line, column } = locate(root!, path, part);
    return [line, column];
  };
  expect(at([])).toEqual([1, 1]);
  expect(at(["a"], "key")).toEqual([2, 3]);
  expect(at(["a", 1, "b"])).toEqual([3, 11]);
  expect(at(["a", 1, "b"], "key")).toEqual([3, 6]);
  expect(at(["a", 1, "__proto__"])).toEqual([3, 29]);
  expect(at(["a", 9, "x"])).toEqual([2, 8]);
  expect(at(["constructor"])).toEqual([1, 1]);
});

describe("close names", () => {
  const keys = ["command", "args", "env", "exposure", "toolExposure", "enabled", "url", "mcpServers"];
  test.each<[string, string | undefined]>([
    ["comand", "command"],
    ["commnad", "command"],
    ["toolexposure", "toolExposure"],
    ["tool-exposure", "toolExposure"],
    ["enabeld", "enabled"],
    ["servers", "mcpServers"],
    ["serverUrl", "url"],
    ["arg", "args"],
    ["zebra", undefined],
    ["", undefined],
    ["x", undefined],
  ])("%j → %j", (name, want) => {
    expect(nearest(name, keys)).toBe(want);
    expect(nearest(name, keys.toReversed())).toBe(want);
  });

  test("several, the closest first", () => {
    const tools = ["get_forecast_daily", "get_forecast", "forecasts", "set_forecast", "other"];
    expect(nearestAll("forecast", tools, 3)).toEqual(["forecasts", "get_forecast", "set_forecast"]);
    expect(nearestAll("getForecast", tools, 9)).toEqual(["get_forecast", "set_forecast", "get_forecast_daily"]);
    expect(nearestAll("forecast", tools, 0)).toEqual([]);
  });

  test("huge names are no work", () => {
    const huge = "a".repeat(5_000_000);
    expect(nearestAll("abc", [huge, `${huge}b`], 3)).toEqual([]);
    expect(nearest(`${huge}x`, [huge, `${huge}b`])).toBeUndefined();
  });
});
