/**
 * Canaries: a secret of its own in every place that one can be, servers that repeat what they were given wherever they
 * can, and every command that connects. Afterwards no canary stands in any file that pimcp wrote or in the name of one, nor in
 * anything it printed. Two exceptions are meant, and asserted: the credentials file, and the result of a call, which
 * reaches the caller as it was sent.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { CompileJson } from "../../cli/compile-command.ts";
import { Stub, variable } from "../cli/pimcp.ts";
import { shownAddress } from "../cli/signing-in.ts";
import { scratchFolder } from "../scratch.ts";
import { type AuthorizationServer, startAuthorization } from "../servers/authorization.ts";
import { type EchoingServer, startEchoing } from "../servers/echoing.ts";
import { eventually, serversDir } from "../servers/run.ts";
import { CANARIES, command, found, Mine, USERS } from "./canaries.ts";

/** A question that repeats a text wherever it can. */
function asking(echo: string): object {
  return {
    method: "elicitation/create",
    params: {
      mode: "form",
      message: `Is ${echo} right?`,
      requestedSchema: { type: "object", properties: { [echo]: { type: "string", title: echo } } },
    },
  };
}

describe("a process", () => {
  const given = {
    envLiteral: CANARIES.envLiteral,
    envVariable: CANARIES.envVariable,
    envDefault: CANARIES.envDefault,
    envCommand: CANARIES.envCommand,
    inherited: CANARIES.inherited,
    arg: CANARIES.arg,
    argVariable: CANARIES.argVariable,
  };
  const echo = Object.values(given).join(" and ");

  function entry(stub: Stub, variables: Record<string, string> = {}) {
    return {
      ...stub.entry,
      args: [...stub.entry.args, `--token=${given.arg}`, "--api-key", variable("ARG_KEY")],
      env: {
        ...stub.entry.env,
        ...variables,
        API_TOKEN: given.envLiteral,
        FROM_VARIABLE: variable("A_TOKEN"),
        DEFAULT_TOKEN: variable(`NOT_SET:-${given.envDefault}`),
        FROM_COMMAND: command(given.envCommand),
      },
    };
  }

  /** Repeats everything wherever a server over stdio can. */
  const options = (more: object = {}) => ({
    serverInfo: { name: `s ${echo}`, version: echo },
    instructions: echo,
    capabilities: { tools: {}, logging: {}, experimental: { [echo]: { echo } } },
    tools: [
      { name: "quiet", inputSchema: { type: "object" }, description: echo },
      { name: "env", inputSchema: { type: "object", properties: { names: { default: echo } } }, title: echo },
      { name: "asks", inputSchema: { type: "object" } },
      { name: `named_${given.envCommand}`, inputSchema: { type: "object" } },
    ],
    stderr: `starting with ${echo}\n`,
    noise: [
      `debug: ${echo}`,
      JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: echo } }),
    ],
    ...more,
  });

  let mine: Mine;
  beforeEach(() => {
    mine = new Mine({ A_TOKEN: given.envVariable, ARG_KEY: given.argVariable, SOME_TOKEN: given.inherited });
  });

  test("that works", async () => {
    const stub = new Stub(options());
    mine.space.write("agent/mcp.json", { mcpServers: { s: entry(stub) } });
    expect((await mine.run("compile", "--json")).code).toBe(0);
    for (const args of [
      ["list", "--all"],
      ["describe", "s"],
      ["describe", "s/env"],
      ["search", "env"],
    ]) {
      await mine.start(...args).finished;
    }
    expect((await mine.run("doctor", "--json")).code).toBe(0);
    expect((await mine.run("doctor", "--verbose")).code).toBe(0);
    expect((await mine.run("call", "s", "quiet")).code).toBe(0);
    expect((await mine.run("compile", "--refresh", "--verbose")).code).toBe(0);
    expect(mine.leaks(CANARIES, USERS)).toEqual([]);
    // It has had them all, or nothing above would mean anything; and what a call is answered reaches its caller as it was sent.
    const names = ["API_TOKEN", "FROM_VARIABLE", "DEFAULT_TOKEN", "FROM_COMMAND", "SOME_TOKEN"];
    const { stdout } = await mine.space.start(["call", "s", "env", "--args", JSON.stringify({ names })], {
      env: { A_TOKEN: given.envVariable, ARG_KEY: given.argVariable, SOME_TOKEN: given.inherited },
    }).finished;
    expect(found(stdout, given)).toEqual(["envLiteral", "envVariable", "envDefault", "envCommand", "inherited"]);
  });

  test("that fails, in any way", async () => {
    const limits = { requestTimeoutMs: 1500, probeTimeoutMs: 1500 };
    const ways: Record<string, object> = {
      exits: { exitAtStart: 1 },
      refuses_list: {
        replies: { "tools/list": { error: { code: -32000, message: echo, data: { [echo]: [echo] } } } },
      },
      ends_in_list: { exitOn: "tools/list", exitStatus: 3 },
      never_answers: { silent: ["initialize", "server/discover"], ignoreUnknown: true },
      own_version: { protocolVersion: echo },
      lists_no_tools: { tools: [{ name: 5, description: echo }, { name: echo }, echo] },
    };
    const servers = Object.entries(ways).map(([name, more]) => [
      name,
      { ...entry(new Stub(options(more))), ...(name === "never_answers" && limits) },
    ]);
    mine.space.write("agent/mcp.json", { mcpServers: Object.fromEntries(servers) });
    await mine.run("compile", "--verbose");
    const { stdout } = await mine.run("compile", "--json");
    await mine.run("doctor", "--json");
    const found = (JSON.parse(stdout) as CompileJson).diagnostics.map(({ server, code }) => `${server} ${code}`);
    // Each in its own way, or there would be nothing to search.
    expect(found).toEqual(
      expect.arrayContaining([
        "exits server-unreachable",
        "refuses_list tools-unlisted",
        "ends_in_list server-unreachable",
        "never_answers server-timeout",
        "own_version protocol-mismatch",
        "lists_no_tools invalid-tool",
      ]),
    );
    expect(mine.printed.length).toBe(3);
    expect(mine.leaks(CANARIES, USERS)).toEqual([]);
  });

  test.each<[string, object]>([
    ["an error", { "tools/call": { error: { code: -32001, message: echo, data: { deep: [[echo]], [echo]: echo } } } }],
    [
      "a question",
      {
        "tools/call": [
          { result: { resultType: "input_required", inputRequests: { [echo]: asking(echo) } } },
          { error: { code: -32002, message: `no answer about ${echo}` } },
        ],
      },
    ],
  ])("whose call ends in %s", async (_, replies) => {
    const stub = new Stub(options({ era: "modern", replies }));
    mine.space.write("agent/mcp.json", { mcpServers: { s: entry(stub) } });
    expect((await mine.run("compile")).code).toBe(0);
    expect((await mine.run("call", "s", "quiet")).code).toBe(1);
    expect((await mine.run("call", "s", "quiet", "--json")).code).toBe(1);
    expect(mine.leaks(CANARIES, USERS)).toEqual([]);
  });

  test("whose call becomes a task, left behind by a process that is killed", async () => {
    const stub = new Stub();
    const variables = { TASKS_STORE: join(scratchFolder(), "store") };
    const task = { ...entry(stub, variables), args: [join(serversDir, "tasks.mjs"), `--token=${given.arg}`] };
    mine.space.write("agent/mcp.json", { mcpServers: { t: task } });
    expect((await mine.run("compile")).code).toBe(0);
    const plan = { workMs: 600_000, intervalMs: 100, messages: Array(500).fill(echo) };
    const calling = mine.start("call", "t", "run", "--args", JSON.stringify({ plan }));
    const handles = join(mine.space.root, "home", ".local", "state", "pimcp", "tasks");
    await eventually(
      () => mine.space.has("home/.local/state/pimcp/tasks") && readdirSync(handles).length > 0,
      "a handle",
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    calling.child.kill("SIGKILL");
    await calling.finished;
    await mine.start("tasks", "list").finished;
    await mine.start("tasks", "list", "--json").finished;
    expect(mine.leaks(CANARIES, USERS)).toEqual([]);
  });
});

describe("a server over HTTP", () => {
  const given = {
    header: CANARIES.header,
    headerCommand: CANARIES.headerCommand,
    bearer: CANARIES.bearer,
    query: CANARIES.query,
  };

  function entry({ port }: EchoingServer): object {
    return {
      url: `http://127.0.0.1:${port}/mcp?api_key=${encodeURIComponent(given.query)}`,
      headers: {
        "X-Api-Key": variable("A_HEADER"),
        "X-Command": command(given.headerCommand),
        Authorization: `Bearer ${given.bearer}`,
      },
      requestTimeoutMs: 5000,
    };
  }

  test("that repeats all it is sent", async () => {
    const server = await startEchoing();
    const mine = new Mine({ A_HEADER: given.header });
    mine.space.write("agent/mcp.json", { mcpServers: { h: entry(server) } });
    expect((await mine.run("compile", "--json")).code).toBe(0);
    await mine.run("doctor", "--json");
    await mine.run("doctor", "--verbose");
    for (const name of ["quiet", "rpc", "status", "page", "away"]) {
      const { code } = await mine.run("call", "h", name);
      expect([name, code]).toEqual([name, name === "quiet" ? 0 : 1]);
      await mine.run("call", "h", name, "--json");
    }
    expect(mine.leaks(CANARIES, USERS)).toEqual([]);
    expect(found(server.heard.join("\n"), given)).toEqual(Object.keys(given));
    const { stdout } = await mine.space.start(["call", "h", "loud"], { env: { A_HEADER: given.header } }).finished;
    expect(found(stdout, given)).toEqual(Object.keys(given));
  });

  test("that repeats the token of a login of Pi's", async () => {
    const server = await startEchoing();
    const mine = new Mine({});
    mine.space.write("agent/auth.json", { acme: { type: "api_key", key: CANARIES.piLogin } });
    const url = `http://127.0.0.1:${server.port}/mcp`;
    mine.space.write("agent/mcp.json", { mcpServers: { h: { url, auth: { provider: "acme" } } } });
    expect((await mine.run("compile", "--json")).code).toBe(0);
    await mine.run("doctor", "--json");
    for (const name of ["rpc", "status", "page", "away"]) await mine.run("call", "h", name, "--json");
    expect(found(server.heard.join("\n"), CANARIES)).toEqual(["piLogin"]);
    expect(mine.leaks(CANARIES, [...USERS, "agent/auth.json"])).toEqual([]);
  });

  test("that can't be reached, by an address with a user, through a proxy with a password", async () => {
    const proxied = {
      HTTP_PROXY: `http://me:${encodeURIComponent(CANARIES.proxy)}@127.0.0.1:1`,
      NO_PROXY: "127.0.0.1",
    };
    const mine = new Mine(proxied);
    const basic = Buffer.from(`me:${CANARIES.basic}`).toString("base64");
    mine.space.write("agent/mcp.json", {
      mcpServers: {
        user: { url: `http://me:${encodeURIComponent(CANARIES.userinfo)}@127.0.0.1:9/mcp` },
        away: { url: "http://away.test/mcp", headers: { Authorization: `Basic ${basic}` } },
      },
    });
    await mine.run("compile", "--verbose");
    await mine.run("compile", "--json");
    await mine.run("doctor", "--json");
    await mine.run("login", "user");
    expect(mine.printed.map(({ text }) => text).join("\n")).toContain("by way of the proxy http://127.0.0.1:1");
    expect(mine.leaks({ ...CANARIES, basicHeader: basic }, USERS)).toEqual([]);
  });
});

describe("a sign-in", () => {
  const client = {
    client_id: "known",
    client_secret: CANARIES.clientSecret,
    token_endpoint_auth_method: "client_secret_post",
  } as const;

  async function signedIn(mine: Mine, server: AuthorizationServer, ...args: string[]): Promise<void> {
    const login = mine.start(...args);
    await server.browse(await shownAddress(login));
    expect((await login.finished).code).toBe(0);
  }

  test("whose authorization server repeats tokens, secrets and codes in its errors", async () => {
    const server = await startAuthorization({
      clients: [client],
      registration: false,
      authMethods: ["client_secret_post"],
    });
    const mine = new Mine({});
    const oauth = { clientId: client.client_id, clientSecret: command(client.client_secret) };
    mine.space.write("agent/mcp.json", { mcpServers: { o: { url: server.url, oauth } } });
    await signedIn(mine, server, "login", "o", "--json");
    expect((await mine.run("compile")).code).toBe(0);
    expect((await mine.run("call", "o", "whoami")).code).toBe(0);
    const secrets = (): Record<string, string> => {
      const [entry] = Object.values(
        JSON.parse(mine.space.read("agent/mcp-auth.json")) as Record<string, { tokens?: Record<string, string> }>,
      );
      return { access: entry!.tokens!["access_token"]!, refresh: entry!.tokens!["refresh_token"]! };
    };
    const all: Record<string, string> = { clientSecret: client.client_secret };
    const remember = (when: string) => {
      for (const [name, secret] of Object.entries(secrets())) all[`${name} ${when}`] = secret;
    };
    remember("at first");
    const echo = `${Object.values(all).join(" ")} ${encodeURIComponent(client.client_secret)}`;
    server.tokens.expireAll();
    server.faults.errorBody = echo;
    server.faults.refreshStatuses = [500, 400, 403];
    for (const _ of [1, 2, 3]) await mine.run("call", "o", "whoami", "--json");
    server.faults.refreshStatuses = [];
    server.faults.refreshError = "invalid_request";
    await mine.run("call", "o", "whoami");
    await mine.run("doctor", "--json");
    delete server.faults.refreshError;
    await mine.run("call", "o", "whoami");
    remember("renewed");
    await mine.run("compile", "--refresh", "--json");
    server.faults.revocationStatuses = [500];
    await mine.start("logout", "o").finished;
    for (const { params } of server.seen) {
      for (const name of ["code", "code_verifier"])
        if (params[name] !== undefined) all[`${name} ${params[name]}`] = params[name];
    }
    expect(Object.keys(all).length).toBeGreaterThan(6);
    expect(mine.leaks(all, [...USERS, "agent/mcp-auth.json"])).toEqual([]);
  });

  test("that is refused, with a state and a verifier that nobody else should see", async () => {
    const server = await startAuthorization({
      clients: [client],
      registration: false,
      authMethods: ["client_secret_post"],
    });
    const mine = new Mine({});
    const oauth = { clientId: client.client_id, clientSecret: client.client_secret };
    mine.space.write("agent/mcp.json", { mcpServers: { o: { url: server.url, oauth } } });
    server.faults.authorize = "denied";
    server.faults.denial = `not with ${client.client_secret}`;
    const login = mine.start("login", "o");
    await server.browse(await shownAddress(login));
    expect((await login.finished).code).toBe(1);
    expect(mine.leaks({ clientSecret: client.client_secret }, USERS)).toEqual([]);
  });
});

test("a project's file with credentials written out is warned about, without them", async () => {
  const mine = new Mine({});
  const written = {
    p: {
      command: process.execPath,
      args: ["-e", "0", `--token=${CANARIES.arg}`],
      env: { API_TOKEN: CANARIES.envLiteral },
    },
    h: {
      url: `http://me:${encodeURIComponent(CANARIES.userinfo)}@127.0.0.1:9/mcp?token=${encodeURIComponent(CANARIES.query)}`,
      headers: { "X-Api-Key": CANARIES.header },
      oauth: { clientId: "c", clientSecret: CANARIES.clientSecret },
    },
  };
  mine.space.servers(written);
  await mine.run("compile", "--verbose");
  const warned = mine.printed[0]!.text.split("\n").filter((line) => line.endsWith("[literal-secret]"));
  expect(warned.map((line) => / warning: (\S+) looks like/.exec(line)?.[1]).sort()).toEqual([
    "args[2]",
    "env.API_TOKEN",
    "headers.X-Api-Key",
    "oauth.clientSecret",
    "url",
  ]);
  expect(mine.leaks(CANARIES, USERS)).toEqual([]);
});
