// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${VAR} is the notation of the files under test.
import { describe, expect, test } from "vitest";
import { found, layered, lines, names } from "./config-layering.ts";

/** The same for one entry `s`, which starts at column 22 of line 1. */
function entry(text: string): string[] {
  return found(`{"mcpServers":{"s":${text}}}`);
}

describe("one line per mistake, at its place", () => {
  test.each<[string, string, string[]]>([
    [
      "no comma",
      '{\n  "mcpServers": {}\n  "ttlMs": 1\n}',
      ['mcp.json:3:3: error: expected "," before this [config-syntax]'],
    ],
    [
      "single quotes",
      "{'mcpServers': {}}",
      ["mcp.json:1:2: error: unexpected text; JSON strings stand in double quotes [config-syntax]"],
    ],
    ["cut off", '{"mcpServers": {', ['mcp.json:1:17: error: expected "}" or "," here [config-syntax]']],
    ["empty", "", ["mcp.json:1:1: error: the file is empty; the least it can hold is {} [config-syntax]"]],
    [
      "control character",
      '{"out": "a\u0001"}',
      ["mcp.json:1:9: error: control character in a string; write it as an escape such as \\n or \\t [config-syntax]"],
    ],
    [
      "too deep",
      `{"x":${"[".repeat(200_000)}`,
      ["mcp.json:1:105: error: nested more than 100 levels deep [config-syntax]"],
    ],
    ["a list", "[]", ["mcp.json:1:1: error: the configuration must be an object [config-shape]"]],
    [
      "servers as list",
      '{"mcpServers": []}',
      ["mcp.json:1:16: error: mcpServers must be an object of servers by name [config-shape]"],
    ],
    [
      "top level",
      '{"maxOutputBytes":0,"ttlMs":-1,"codemode":{"inlineBudget":1.5},"autoEnableCodemode":"no","out":"../x","mcpServers":{"s":{"command":"x"}}}',
      [
        "mcp.json:1:19: error: maxOutputBytes must be a positive whole number of bytes [invalid-value]",
        "mcp.json:1:29: error: ttlMs must be a whole number of milliseconds, 0 or more [invalid-value]",
        "mcp.json:1:59: error: codemode.inlineBudget must be a whole number of tokens, 0 or more [invalid-value]",
        "mcp.json:1:85: error: autoEnableCodemode must be true or false [invalid-value]",
        "mcp.json:1:96: error: out must be a folder inside the project, relative to its root [invalid-value]",
      ],
    ],
    [
      "onDrift",
      '{"onDrift":"blok","mcpServers":{"s":{"command":"x"}}}',
      ['mcp.json:1:12: error: onDrift "blok" is not one of warn, block [invalid-value]'],
    ],
    [
      "unknown keys",
      '{"mcpservers":{},"mcpServers":{"s":{"command":"x","comand":1,"disabled":true}},"codemode":{"budget":1}}',
      [
        'mcp.json:1:2: warning: unknown key "mcpservers"; it has no effect [unknown-key]',
        'mcp.json:1:51: warning: unknown key "comand"; it has no effect [unknown-key]',
        'mcp.json:1:62: warning: unknown key "disabled"; it has no effect [unknown-key]',
        'mcp.json:1:92: warning: unknown key "codemode.budget"; it has no effect [unknown-key]',
      ],
    ],
    [
      "duplicate keys",
      '{"mcpServers":{"s":{"command":"x"},"s":{"command":"y"}}}',
      ['mcp.json:1:36: warning: key "s" appears twice here; the last one counts [duplicate-key]'],
    ],
    ["nothing configured", "{}", ["warning: no MCP server is configured [no-servers]"]],
  ])("%s", (_, text, want) => {
    expect(found(text)).toEqual(want);
  });

  test("what a bad onDrift should be, and what holds until it is", () => {
    const [bad] = layered({ "mcp.json": '{"onDrift":"blok","mcpServers":{"s":{"command":"x"}}}' }).diagnostics;
    expect(bad!.notes).toEqual(['did you mean "block"?', 'until this is corrected "block" holds']);
  });

  test("the line of the design", () => {
    const text = `{
  "mcpServers": {
    "docs": {
      // comments count as lines
      "command": "npx",
      "args": [
        "-y", "docs",
      ],
      "exposure": "lazy"
    },
  },
}`;
    const { diagnostics } = layered({ "mcp.json": `\ufeff${text}` });
    expect(lines(diagnostics)).toEqual([
      'mcp.json:9:19: error: exposure "lazy" is not one of codemode, codemode-deferred, deferred, direct, hidden [invalid-exposure]',
    ]);
    expect(lines(layered({ "mcp.json": text.replaceAll("\n", "\r\n") }).diagnostics)).toEqual(lines(diagnostics));
  });
});

describe("a server's entry", () => {
  test.each<[string, string, string[]]>([
    ["not an object", "5", ['mcp.json:1:20: error: server "s" must be an object [invalid-server]']],
    ["null", "null", ['mcp.json:1:20: error: server "s" must be an object [invalid-server]']],
    [
      "empty",
      "{}",
      ['mcp.json:1:16: error: server "s" needs either "command" (stdio) or "url" (Streamable HTTP) [invalid-server]'],
    ],
    [
      "args alone",
      '{"args":[]}',
      ['mcp.json:1:16: error: server "s" needs either "command" (stdio) or "url" (Streamable HTTP) [invalid-server]'],
    ],
    [
      "sse",
      '{"type":"sse","url":"https://x.test/sse"}',
      ['mcp.json:1:28: error: server "s" uses the legacy SSE transport, which can\'t be configured [invalid-server]'],
    ],
    [
      "unknown type",
      '{"type":"htpp","url":"https://x.test"}',
      ['mcp.json:1:28: error: type "htpp" is not one of stdio, http, streamable-http [invalid-value]'],
    ],
    [
      "type without its field",
      '{"type":"http","command":"x"}',
      ['mcp.json:1:28: error: server "s" of type "http" needs "url" [invalid-server]'],
    ],
    [
      "every stdio field wrong",
      '{"command":"","args":["a",1],"env":{"A":1,"":"x"},"cwd":2}',
      [
        "mcp.json:1:31: error: command must be a string that is not empty [invalid-value]",
        "mcp.json:1:46: error: args[1] must be a string [invalid-value]",
        "mcp.json:1:60: error: env.A must be a string [invalid-value]",
        'mcp.json:1:62: error: name "" in env must not be empty or contain "=" [invalid-value]',
        "mcp.json:1:76: error: cwd must be a string [invalid-value]",
      ],
    ],
    [
      "args as a line",
      '{"command":"x","args":"-y foo"}',
      ["mcp.json:1:42: error: args must be a list of strings [invalid-value]"],
    ],
    [
      "url of another scheme",
      '{"url":"ftp://x.test"}',
      ["mcp.json:1:27: error: url must be an http or https URL [invalid-value]"],
    ],
    [
      "url with another scheme and a variable",
      '{"url":"ftp://${H}"}',
      ["mcp.json:1:27: error: url must be an http or https URL [invalid-value]"],
    ],
    ["url with variables", '{"url":"${BASE}/mcp"}', []],
    [
      "bad header name",
      '{"url":"https://x.test","headers":{"a b":"c"}}',
      ['mcp.json:1:55: error: name "a b" in headers must be an HTTP header name [invalid-value]'],
    ],
    [
      "shared fields",
      '{"command":"x","timeout":0,"enabled":1,"description":[],"maxOutputBytes":"9","protocolVersion":"2025-11-25","tasks":null,"ttlMs":0.5,"probeTimeoutMs":-1}',
      [
        "mcp.json:1:45: error: timeout must be a positive number of seconds [invalid-value]",
        "mcp.json:1:57: error: enabled must be true or false [invalid-value]",
        "mcp.json:1:73: error: description must be a string [invalid-value]",
        "mcp.json:1:93: error: maxOutputBytes must be a positive whole number of bytes [invalid-value]",
        'mcp.json:1:115: error: protocolVersion "2025-11-25" is not one of auto, legacy, 2026-07-28 [invalid-value]',
        "mcp.json:1:136: error: tasks must be true or false [invalid-value]",
        "mcp.json:1:149: error: ttlMs must be a whole number of milliseconds, 0 or more [invalid-value]",
        "mcp.json:1:170: error: probeTimeoutMs must be a positive whole number of milliseconds [invalid-value]",
      ],
    ],
    [
      "fields of the other transport",
      '{"command":"x","headers":{}}',
      ["mcp.json:1:35: warning: headers has no effect on a server that is started by a command [no-effect]"],
    ],
    [
      "both transports",
      '{"command":"x","url":"https://x.test"}',
      ["mcp.json:1:21: warning: command has no effect on a server that is reached by a url [no-effect]"],
    ],
    [
      "two timeouts",
      '{"command":"x","timeout":1,"requestTimeoutMs":5}',
      ["mcp.json:1:35: warning: timeout has no effect beside requestTimeoutMs [no-effect]"],
    ],
    [
      "auth in a project",
      '{"url":"https://x.test","auth":{"provider":"p"}}',
      ["mcp.json:1:51: error: auth is only allowed in the user's mcp.json [invalid-value]"],
    ],
    [
      "auth that is none in a project",
      '{"url":"https://x.test","auth":5}',
      ["mcp.json:1:51: error: auth is only allowed in the user's mcp.json [invalid-value]"],
    ],
    [
      "oauth beside Authorization",
      '{"url":"https://x.test","headers":{"authorization":"${A}"},"oauth":{}}',
      ["mcp.json:1:79: warning: oauth has no effect beside an Authorization header [no-effect]"],
    ],
  ])("%s", (_, text, want) => {
    expect(entry(text)).toEqual(want);
  });

  test.each<[string, string[]]>([
    ['{"clientId":1}', ["oauth.clientId must be a string"]],
    ['{"clientSecret":1}', ["oauth.clientSecret must be a string"]],
    ['{"clientName":" "}', ["oauth.clientName must be a string that is not empty"]],
    ['{"scope":[]}', ["oauth.scope must be a string"]],
    ['{"callbackPort":65536}', ["oauth.callbackPort must be a port number, 1 to 65535"]],
    [
      '{"callbackUrl":"http://evil.test/callback"}',
      ["oauth.callbackUrl must be an http URL on localhost, 127.0.0.1 or [::1] without query or fragment"],
    ],
    [
      '{"callbackUrl":"http://localhost:1/cb","callbackPort":2}',
      ["oauth.callbackPort names another port than oauth.callbackUrl"],
    ],
    ['{"callbackUrl":"http://localhost:2/cb","callbackPort":2}', []],
    ['{"clientRegistration":"cmd"}', ['oauth.clientRegistration "cmd" is not one of auto, dcr, cimd']],
    [
      '{"clientRegistration":"cimd","clientName":"x"}',
      ['oauth.clientRegistration "cimd" cannot be combined with oauth.clientId or oauth.clientName'],
    ],
    [
      '{"clientRegistration":"cimd","callbackUrl":"http://[::1]/callback"}',
      [
        'oauth.callbackUrl must be on localhost or 127.0.0.1 with the path /callback when oauth.clientRegistration is "cimd"',
      ],
    ],
    ['{"clientRegistration":"cimd","callbackUrl":"http://localhost:9/callback"}', []],
    [
      '{"authServerMetadataUrl":"http://as.test/x"}',
      ["oauth.authServerMetadataUrl must be an https URL, or http on localhost, 127.0.0.1 or [::1]"],
    ],
    ['{"authServerMetadataUrl":"http://[::1]:8/x"}', []],
    ["true", ["oauth must be an object"]],
  ])("oauth %s", (oauth, want) => {
    const { diagnostics, value } = layered({
      "mcp.json": `{"mcpServers":{"s":{"url":"https://x.test","oauth":${oauth}}}}`,
    });
    expect(diagnostics.map((one) => one.message)).toEqual(want);
    expect(names(value)).toEqual(want.length === 0 ? ["s"] : []);
  });

  test.each(["a b", "", "ä", "a.b", "a/b", "a\u202eb"])("the name %j is rejected", (name) => {
    const { diagnostics, value } = layered({
      "mcp.json": { mcpServers: { [name]: { command: "x" }, good: { command: "x" } } },
    });
    expect(diagnostics.map((one) => one.code)).toEqual(["invalid-server-name"]);
    expect(diagnostics[0]!.message).not.toContain("\u202e");
    expect(names(value)).toEqual(["good"]);
  });

  test("names that JavaScript objects trip over are only names", () => {
    const text = '{"mcpServers":{"__proto__":{"command":"x","env":{"__proto__":"e"}},"constructor":{"enabled":false}}}';
    const { value, diagnostics } = layered({
      user: '{"mcpServers":{"constructor":{"command":"y"}}}',
      "mcp.json": text,
    });
    expect(diagnostics).toEqual([]);
    expect(names(value)).toEqual(["__proto__", "constructor"]);
    expect(value.servers[0]!.transport).toMatchObject({ kind: "stdio", command: "x" });
    expect(Object.entries((value.servers[0]!.transport as { env: object }).env)).toEqual([["__proto__", "e"]]);
    expect(value.servers[1]!.enabled).toBe(false);
    expect(Object.keys(value.overrides)).toEqual(["constructor"]);
  });

  test("defaults, and every field as written", () => {
    const full = {
      type: "stdio",
      command: "~/bin/x",
      args: ["--k=${K}"],
      env: { A: "${A:-1}", B: "!cmd" },
      cwd: "./srv",
      enabled: false,
      exposure: "codemode-deferred",
      description: "d",
      timeout: 1.5,
      maxOutputBytes: 9,
      protocolVersion: "2026-07-28",
      tasks: false,
      ttlMs: 7,
      probeTimeoutMs: 3,
    };
    const { value, diagnostics } = layered({ "mcp.json": { mcpServers: { full, least: { url: "https://x.test" } } } });
    expect(diagnostics).toEqual([]);
    const [first, second] = value.servers;
    expect(first).toMatchObject({
      transport: { kind: "stdio", command: "~/bin/x", args: ["--k=${K}"], cwd: "./srv" },
      enabled: false,
      exposure: "codemode-deferred",
      description: "d",
      requestTimeoutMs: 1500,
      maxOutputBytes: 9,
      protocolVersion: "2026-07-28",
      tasks: false,
      ttlMs: 7,
      probeTimeoutMs: 3,
    });
    expect({ ...(first!.transport as { env: object }).env }).toEqual({ A: "${A:-1}", B: "!cmd" });
    expect(second).toMatchObject({
      name: "least",
      scope: "project",
      file: "/work/app/mcp.json",
      baseDir: "/work/app",
      enabled: true,
      toolExposure: [],
      protocolVersion: "auto",
      tasks: true,
      ttlMs: 0,
      requestTimeoutMs: 60_000,
      probeTimeoutMs: 10_000,
    });
    expect(second).not.toHaveProperty("exposure");
  });

  test("a timeout longer than a timer can wait does not fire at once", () => {
    const { value } = layered({ "mcp.json": { mcpServers: { s: { command: "x", timeout: 1e12 } } } });
    expect(value.servers[0]!.requestTimeoutMs).toBe(2 ** 31 - 1);
  });
});

describe("what is malformed never shows more", () => {
  const rules = (text: string) => layered({ "mcp.json": `{"mcpServers":{"s":{"command":"x",${text}}}}` });

  test.each<[string, object]>([
    ['"exposure":"Direct"', { exposure: "hidden", toolExposure: [] }],
    ['"exposure":null', { exposure: "hidden", toolExposure: [] }],
    ['"toolExposure":["a"]', { exposure: "hidden", toolExposure: [] }],
    ['"exposure":"direct","toolExposure":"hidden"', { exposure: "hidden", toolExposure: [] }],
    [
      '"exposure":"direct","toolExposure":{"a":"hiden","b":"codemode"}',
      {
        exposure: "direct",
        toolExposure: [
          { pattern: "a", exposure: "hidden" },
          { pattern: "b", exposure: "codemode" },
        ],
      },
    ],
  ])("%s", (text, want) => {
    const { value, diagnostics } = rules(text);
    expect(diagnostics.map((one) => one.code)).toEqual(["invalid-exposure"]);
    expect(diagnostics[0]!.notes.at(-1)).toMatch(/^until this is corrected .* as hidden$/);
    expect(value.servers[0]).toMatchObject(want);
  });

  test("rules keep the order of the file, number-like names too", () => {
    const { value } = rules('"toolExposure":{"b*":"direct","10":"hidden","*":"codemode","2":"deferred"}');
    expect(value.servers[0]!.toolExposure.map((rule) => rule.pattern)).toEqual(["b*", "10", "*", "2"]);
  });

  test("a close spelling is suggested", () => {
    const notes = rules('"exposure":"codmode","toolexposure":{}').diagnostics.map((one) => one.notes[0]);
    expect(notes).toEqual(['did you mean "codemode"?', 'did you mean "toolExposure"?']);
  });
});
