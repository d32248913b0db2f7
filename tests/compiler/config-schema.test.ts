// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${VAR} is the notation of the files under test.
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseConfigSource, plainValue } from "../../schemas/config/source.ts";
import { SERVER_NAME } from "../../schemas/config/validate-entry.ts";
import { OUT_FOLDER } from "../../schemas/config/validate-file.ts";
import { layered, names } from "./config-layering.ts";

const schema = JSON.parse(readFileSync(new URL("../../schemas/mcp.schema.json", import.meta.url), "utf8"));
const accepts = new Ajv2020({ strictTypes: false, strictRequired: false }).compile(schema);

const s = (entry: unknown, top: object = {}) => ({ mcpServers: { s: entry }, ...top });
const http = (more: object) => s({ url: "https://x.test/mcp", ...more });
const stdio = (more: object) => s({ command: "x", ...more });
const oauth = (more: unknown) => http({ oauth: more });

/** Configurations by whether they hold an error. Warnings are no errors. */
const GOOD: unknown[] = [
  {},
  { mcpServers: {} },
  { $schema: "x" },
  stdio({}),
  http({}),
  { unknown: 1, ...stdio({}) },
  stdio({ unknown: 1 }),
  stdio({ type: "stdio" }),
  http({ type: "http" }),
  http({ type: "streamable-http" }),
  s({ url: "${U}" }),
  s({ url: "http://localhost:1" }),
  s({ url: "HTTPS://x.test" }),
  s({ url: "https://${HOST}/mcp" }),
  s({ url: "https://[::1]/" }),
  stdio({ args: ["a", ""], env: { A: "1", "a b": "" }, cwd: "" }),
  http({ headers: { "X-A": "b" } }),
  stdio({ exposure: "codemode-deferred", toolExposure: { "a*": "hidden", "": "direct" } }),
  stdio({ toolExposure: {} }),
  stdio({
    timeout: 0.1,
    requestTimeoutMs: 1,
    probeTimeoutMs: 1,
    ttlMs: 0,
    maxOutputBytes: 1,
    tasks: false,
    enabled: false,
    description: "",
  }),
  stdio({ protocolVersion: "auto" }),
  stdio({ protocolVersion: "legacy" }),
  stdio({ protocolVersion: "2026-07-28" }),
  s({ enabled: false }),
  s({ exposure: "hidden", unknown: 1 }),
  s({ toolExposure: { a: "direct" } }),
  s({ maxOutputBytes: 5 }),
  { maxOutputBytes: 1, ttlMs: 0, codemode: { inlineBudget: 0 }, out: "a/b", autoEnableCodemode: false },
  { codemode: {} },
  { typecheck: "warn", codemode: { typecheck: "off" } },
  { codemode: { engine: "pimcp" } },
  { onDrift: "warn" },
  { onDrift: "block" },
  oauth({}),
  oauth({
    clientId: "",
    clientSecret: "${S}",
    clientName: "n",
    clientRegistration: "dcr",
    scope: "a b",
    callbackPort: 1,
  }),
  oauth({ callbackUrl: "http://[::1]:5/x" }),
  oauth({ clientRegistration: "cimd", callbackUrl: "http://localhost/callback" }),
  oauth({ authServerMetadataUrl: "https://as.test/x" }),
  oauth({ authServerMetadataUrl: "http://127.0.0.1:1/x" }),
  oauth({ unknown: 1 }),
];
const BAD: unknown[] = [
  [],
  null,
  "x",
  5,
  { mcpServers: [] },
  { mcpServers: null },
  { $schema: 1 },
  s(5),
  s(null),
  s([]),
  s({}),
  s({ unknown: 1 }),
  s({ args: [] }),
  s({ enabled: false, args: [] }),
  s({ description: "d", enabled: true }),
  { mcpServers: { "a b": { command: "x" } } },
  { mcpServers: { "": { command: "x" } } },
  s({ command: "" }),
  s({ command: 1 }),
  s({ command: null }),
  s({ url: 1 }),
  s({ url: "" }),
  s({ url: "x" }),
  s({ url: "ftp://x.test" }),
  s({ url: "http://" }),
  s({ url: "ftp://${H}" }),
  s({ type: "stdio" }),
  s({ type: "http" }),
  stdio({ type: "http" }),
  http({ type: "stdio" }),
  http({ type: "sse" }),
  stdio({ type: "x" }),
  stdio({ type: null }),
  stdio({ args: "x" }),
  stdio({ args: [1] }),
  stdio({ env: [] }),
  stdio({ env: { A: 1 } }),
  stdio({ env: { A: null } }),
  stdio({ env: { "": "x" } }),
  stdio({ env: { "A=B": "x" } }),
  stdio({ cwd: 1 }),
  http({ headers: { "a b": "x" } }),
  http({ headers: { A: 1 } }),
  http({ headers: "x" }),
  stdio({ exposure: "lazy" }),
  stdio({ exposure: null }),
  stdio({ toolExposure: [] }),
  stdio({ toolExposure: { a: "lazy" } }),
  stdio({ toolExposure: { a: null } }),
  s({ exposure: "lazy" }),
  s({ enabled: "no" }),
  s({ maxOutputBytes: 0 }),
  stdio({ timeout: 0 }),
  stdio({ timeout: "5" }),
  stdio({ requestTimeoutMs: 0 }),
  stdio({ requestTimeoutMs: 1.5 }),
  stdio({ probeTimeoutMs: 0 }),
  stdio({ ttlMs: -1 }),
  stdio({ ttlMs: 0.5 }),
  stdio({ maxOutputBytes: 0 }),
  stdio({ maxOutputBytes: "20" }),
  stdio({ tasks: "no" }),
  stdio({ enabled: 1 }),
  stdio({ description: null }),
  stdio({ protocolVersion: "2025-11-25" }),
  { maxOutputBytes: 0 },
  { ttlMs: -1 },
  { codemode: [] },
  { codemode: { inlineBudget: -1 } },
  { codemode: { typecheck: true } },
  { typecheck: "strict" },
  { codemode: { engine: "quickjs" } },
  { onDrift: "ignore" },
  { onDrift: true },
  { codemode: { inlineBudget: "3" } },
  { autoEnableCodemode: "x" },
  { out: "" },
  { out: "." },
  { out: "../x" },
  { out: "/x" },
  { out: "a/../b" },
  { out: 1 },
  { out: "~/x" },
  { out: "${X}" },
  oauth([]),
  oauth(null),
  oauth({ clientId: 1 }),
  oauth({ clientSecret: 1 }),
  oauth({ clientName: " " }),
  oauth({ scope: 1 }),
  oauth({ callbackPort: 0 }),
  oauth({ callbackPort: 1.5 }),
  oauth({ callbackPort: "1" }),
  oauth({ callbackUrl: "https://localhost/x" }),
  oauth({ callbackUrl: "http://evil.test/x" }),
  oauth({ callbackUrl: "http://localhost/x?y" }),
  oauth({ callbackUrl: 1 }),
  oauth({ clientRegistration: "cmd" }),
  oauth({ clientRegistration: "cimd", clientId: "x" }),
  oauth({ clientRegistration: "cimd", clientName: "x" }),
  oauth({ clientRegistration: "cimd", callbackUrl: "http://[::1]/callback" }),
  oauth({ clientRegistration: "cimd", callbackUrl: "http://localhost/x" }),
  oauth({ authServerMetadataUrl: "http://as.test" }),
  oauth({ authServerMetadataUrl: "x" }),
  oauth({ authServerMetadataUrl: 1 }),
];

describe("the editor's schema and the compiler agree", () => {
  const errors = (config: unknown) =>
    layered({ "mcp.json": JSON.stringify(config) }).diagnostics.filter((one) => one.severity === "error");

  test.each(GOOD.map((config) => [JSON.stringify(config), config] as const))("fine: %s", (_, config) => {
    expect(errors(config)).toEqual([]);
    expect(accepts(config)).toBe(true);
  });
  test.each(BAD.map((config) => [JSON.stringify(config), config] as const))("an error: %s", (_, config) => {
    expect(errors(config)).not.toEqual([]);
    expect(accepts(config)).toBe(false);
  });

  test("on the patterns they share", () => {
    expect(schema.properties.out.pattern).toBe(OUT_FOLDER.source.replaceAll("\\/", "/"));
    expect(schema.properties.mcpServers.propertyNames.pattern).toBe(SERVER_NAME.source);
  });

  test("on which keys there are: an editor completes exactly what is not an unknown key", () => {
    const known = (object: object) => Object.keys(object);
    const unknown = (config: object) =>
      layered({ "mcp.json": config }).diagnostics.filter((one) => one.code === "unknown-key");
    const empty = (keys: string[]) => Object.fromEntries(keys.map((key) => [key, {}]));
    const { server, oauth: oauthSchema } = schema.$defs;
    const everything = {
      ...empty(known(schema.properties)),
      ...s({ ...empty(known(server.properties)), command: "x" }),
    };
    expect(unknown(everything)).toEqual([]);
    expect(unknown(http({ oauth: empty(known(oauthSchema.properties)) }))).toEqual([]);
    expect(unknown({ ...s({ command: "x", nope: 1 }), nope: 1 })).toHaveLength(2);
  });

  test("the starter file is fine", () => {
    const starter = readFileSync(new URL("../../templates/mcp.json", import.meta.url), "utf8");
    expect(layered({ "mcp.json": starter }).diagnostics).toEqual([]);
    expect(accepts(JSON.parse(starter))).toBe(true);
  });
});

describe("whatever a file holds", () => {
  const keys = [
    "mcpServers",
    "command",
    "url",
    "type",
    "args",
    "env",
    "oauth",
    "exposure",
    "toolExposure",
    "enabled",
    "__proto__",
    "constructor",
    "out",
    "codemode",
    "callbackUrl",
  ];
  const anyJson = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom<unknown>(
        null,
        true,
        0,
        -1,
        1.5,
        "",
        "x",
        "http://localhost/x",
        "hidden",
        "cimd",
        "sse",
        "${A:-${B}",
        "!x",
        "--token=abc",
      ),
      fc.string(),
      fc.double(),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.string()), tie("value"), { maxKeys: 5 }),
    ),
  })).value;

  test("nothing throws, every place exists, and the good server survives", () => {
    fc.assert(
      fc.property(anyJson, fc.dictionary(fc.string(), anyJson, { maxKeys: 3 }), (entry, more) => {
        const text = JSON.stringify({ ...more, mcpServers: { bad: entry, good: { command: "x" } } }, null, 1);
        const { value, diagnostics } = layered({ user: JSON.stringify(more), "mcp.json": text });
        expect(names(value)).toContain("good");
        for (const { file, line, column } of diagnostics.filter((one) => one.file === "mcp.json")) {
          expect(text.split("\n")[line! - 1]?.length, `${file}:${line}`).toBeGreaterThanOrEqual(column! - 1);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("a text cut anywhere, or with a character replaced, is a diagnostic or a configuration", () => {
    const text =
      '\ufeff// c\n{"mcpServers": {"a": {"command": "x", /* é */ "toolExposure": {"*": "hidden",}},}, "out": "o\\u0041"}\n';
    fc.assert(
      fc.property(
        fc.nat(text.length),
        fc.constantFrom("", "{", "}", '"', "\\", ",", "/", "\u0000", "\ud800"),
        fc.boolean(),
        (at, put, cut) => {
          const damaged = text.slice(0, at) + put + (cut ? "" : text.slice(at + 1));
          const { value, diagnostics } = layered({ user: '{"mcpServers":{"u":{"command":"x"}}}', "mcp.json": damaged });
          expect(names(value)).toContain("u");
          const broken = diagnostics.some((one) => one.code === "config-syntax" || one.code === "config-shape");
          expect(value.project.incomplete ?? false).toBe(broken);
          // Half a file must not count: the half that is gone may be the one that hides a tool.
          if (broken) expect(names(value)).toEqual(["u"]);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("a plain value is what JSON.parse reads", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = JSON.stringify(value);
        const { root, diagnostics } = parseConfigSource(text, "f");
        expect(diagnostics).toEqual([]);
        expect(JSON.stringify(plainValue(root!))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });
});
