/** Secrets that a server was given and repeats: in its list, in what it says of itself, in errors, over either transport. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ServerError } from "../../runtime/errors.ts";
import { Stub, variable } from "../cli/pimcp.ts";
import { readTree } from "../golden.ts";
import { declared, httpStub, RuntimeProject, rejection } from "../runtime/runtime-project.ts";

const SECRET = "hunter2-Correct/Horse 9";
const LEAK = /hunter2|Correct/;

describe("a list that repeats a secret", () => {
  const listing = (era: string) => ({
    era,
    serverInfo: { name: `stub for ${SECRET}`, version: SECRET, title: SECRET },
    instructions: `Send ${SECRET} with each call, or ${encodeURIComponent(SECRET)}.`,
    capabilities: { tools: {}, experimental: { [SECRET]: { seen: [SECRET] } } },
    tools: [
      declared("quiet", { type: "object", properties: { region: { enum: ["us-east-1", "eu-west-1"] } } }),
      declared(
        "loud",
        {
          type: "object",
          properties: {
            key: { type: "string", default: SECRET, enum: [SECRET] },
            [SECRET]: { const: { a: [SECRET] } },
          },
        },
        { description: `Uses ${SECRET}.`, annotations: { title: SECRET }, _meta: { [SECRET]: SECRET } },
      ),
      declared(`get_${SECRET}`, { type: "object" }),
    ],
  });

  test.each([["legacy"], ["modern"]])("%s: no artifact and no finding holds it, and one says so", async (era) => {
    const stub = new Stub(listing(era));
    const project = new RuntimeProject();
    const env = { ...stub.entry.env, API_TOKEN: variable("THE_TOKEN"), AWS_REGION: "us-east-1", LOG_LEVEL: "warning" };
    project.servers({ s: { ...stub.entry, env } });
    const found = await project.compileInProcess({ THE_TOKEN: SECRET });
    expect(JSON.stringify(found)).not.toMatch(LEAK);
    const echoes = found.filter(({ code }) => code === "secret-echoed");
    expect(echoes.map(({ server, severity }) => [server, severity])).toEqual(Array(3).fill(["s", "warning"]));
    const said = echoes.map(({ message }) => message).join("\n");
    expect(said).toContain('tool "loud"');
    expect(said).toMatch(/1 tool is left out/);
    expect(said).toMatch(/what it says of itself/);
    const files = readTree(join(project.project, "generated"));
    expect(Object.keys(files)).toContain("catalog.json");
    for (const [path, text] of Object.entries(files)) expect(text, path).not.toMatch(LEAK);
    expect(files["catalog.json"]).toContain("[redacted]");
    expect(files["catalog.json"]).toContain("us-east-1");

    const runtime = await project.runtime({ env: { ...project.surroundings.env, THE_TOKEN: SECRET } });
    expect((await runtime.call("s", "quiet", { region: "us-east-1" })).text).toBe('{"region":"us-east-1"}');
    await runtime.call("s", "quiet");
    // The live list is read as the compiled one was: nothing has drifted.
    const strict = await project.runtime({ env: { ...project.surroundings.env, THE_TOKEN: SECRET }, onDrift: "block" });
    expect((await strict.call("s", "quiet")).text).toBe("{}");
    expect(project.notices).toEqual([]);
  });
});

describe("an error that repeats a secret", () => {
  const TOOLS = [declared("echo", { type: "object" })];

  test("the data of a protocol error, whatever its depth", async () => {
    let deep: unknown = SECRET;
    for (let level = 0; level < 2000; level++) deep = [deep];
    const data = { config: { token: SECRET, [SECRET]: 1 }, deep };
    const error = { code: -32050, message: `refused ${SECRET}`, data };
    const stub = new Stub({ tools: TOOLS, replies: { "tools/call": { error } } });
    const project = new RuntimeProject();
    project.servers({ s: { ...stub.entry, env: { ...stub.entry.env, API_TOKEN: SECRET } } });
    await project.compileInProcess();
    const failed = await rejection<ServerError>((await project.runtime()).call("s", "echo"));
    expect(failed.cause).toMatchObject({
      kind: "rpc-error",
      error: { code: -32050, data: { config: { token: "[redacted]" } } },
    });
    expect(JSON.stringify([failed.message, failed.cause, failed.stderrTail])).not.toMatch(LEAK);
  });

  test("the body of an HTTP error", async () => {
    const { entry } = await httpStub({ tools: TOOLS });
    const project = new RuntimeProject();
    const headers = { "X-Api-Key": SECRET };
    project.servers({ s: { ...entry, headers } });
    await project.compileInProcess();
    const { entry: refusing } = await httpStub({ http: { status: { POST: 418 }, errorBody: `no ${SECRET} here` } });
    project.servers({ s: { ...refusing, headers } });
    const failed = await rejection<ServerError>((await project.runtime()).call("s", "echo"));
    expect(failed.message).toContain("418");
    expect(JSON.stringify([failed.message, failed.cause])).not.toMatch(LEAK);
  });

  const connection = "postgres://me:hunter2-Correct@db.test/x";
  test.each<[string, object, string]>([
    ["--token=…", { args: [`--token=${SECRET}`] }, SECRET],
    ["--api-key …", { args: ["--api-key", SECRET] }, SECRET],
    ["a header among arguments", { args: ["--header", `Authorization:Bearer ${SECRET}`] }, SECRET],
    ["a default", { env: { API_KEY: variable(`NOPE:-${SECRET}`) } }, SECRET],
    ["GH_PAT", { env: { GH_PAT: SECRET } }, SECRET],
    ["DATABASE_URL", { env: { DATABASE_URL: connection } }, "hunter2-Correct"],
    ["a connection string", { env: { CONN: "Server=h;Password=hunter2-Correct;" } }, "hunter2-Correct"],
    ["headers as JSON", { env: { HEADERS: `{"Authorization": "Bearer hunter2Correct"}` } }, "hunter2Correct"],
    ["a name that says nothing", { env: { WHATEVER: SECRET } }, SECRET],
    ["an argument's URL", { args: [connection] }, "hunter2-Correct"],
  ])("on stderr, given as %s", async (_, given: { args?: string[]; env?: object }, secret) => {
    const stub = new Stub({
      tools: TOOLS,
      exitAtStart: 1,
      stderr: `starting in eu-west-1\ncannot log in with ${secret}\n`,
    });
    const project = new RuntimeProject();
    const [args, env] = [
      [...stub.entry.args, ...(given.args ?? [])],
      { ...stub.entry.env, ...given.env, REGION: "eu-west-1" },
    ];
    project.servers({ s: { ...stub.entry, args, env } });
    const found = (await project.compileInProcess()).filter(({ code }) => code === "server-unreachable");
    expect(found.flatMap(({ notes }) => notes)).toEqual([
      "stderr: starting in eu-west-1",
      "stderr: cannot log in with [redacted]",
    ]);
  });
});
