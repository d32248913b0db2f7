/** `--login`: a command signs in on its way where a server wants it, and none does so without being asked to. */
import { describe, expect, test } from "vitest";
import { startAuthorization } from "../servers/authorization.ts";
import { eventually } from "../servers/run.ts";
import { type Setting, setting, shownAddress } from "./signing-in.ts";

/** Runs a command, with this test as the person who signs in when asked to. */
async function asPerson({ space, server }: Setting, args: string[], waitMs = 0) {
  const running = space.start(args);
  const address = await shownAddress(running);
  await new Promise((resolve) => setTimeout(resolve, waitMs));
  await server.browse(address);
  return running.finished;
}

const PROVED = { code: 0, stdout: "3\n" };

test("compile and then call, signed in once", async () => {
  const made = await setting();
  const compiled = await asPerson(made, ["compile", "--login", "--json"]);
  expect(JSON.parse(compiled.stdout)).toMatchObject({ ok: true, servers: [{ status: "compiled", tools: 3 }] });
  expect(await made.space.run("call", "remote", "add", "a=1", "b=2", "--login")).toMatchObject(PROVED);
  expect(made.server.count("authorize")).toBe(1);
});

describe("in the middle of", () => {
  test.each([
    ["call", ["call", "remote", "add", "a=1", "b=2"], "3\n"],
    ["doctor", ["doctor", "remote"], undefined],
  ])("%s", async (_, args, stdout) => {
    const made = await setting();
    await asPerson(made, ["compile", "--login"]);
    made.server.tokens.revokeAll();
    const finished = await asPerson(made, [...args, "--login"]);
    expect(finished.code).toBe(0);
    if (stdout !== undefined) expect(finished.stdout).toBe(stdout);
    expect(made.server.count("authorize")).toBe(2);
  });

  test("a call that needs more than was granted", async () => {
    const made = await setting({ challengeScope: "read", toolScopes: { write: "write" } });
    await asPerson(made, ["compile", "--login"]);
    expect(await asPerson(made, ["call", "remote", "write", "--login"])).toMatchObject({
      code: 0,
      stdout: "written\n",
    });
    const scopes = made.server.seen
      .filter(({ endpoint }) => endpoint === "authorize")
      .map(({ params }) => params["scope"]);
    expect(scopes).toEqual(["read", "read write"]);
  });

  test("a person who takes longer than any server may", async () => {
    const entry = { requestTimeoutMs: 4000, probeTimeoutMs: 4000 };
    const made = await setting({}, entry);
    const compiled = await asPerson(made, ["compile", "--login"], 6000);
    expect([compiled.code, compiled.stderr]).toEqual([0, expect.not.stringContaining("error")]);
    made.server.tokens.revokeAll();
    expect(await asPerson(made, ["call", "remote", "add", "a=1", "b=2", "--login"], 6000)).toMatchObject(PROVED);
  });
});

test("two servers are signed in to one after the other", async () => {
  const made = await setting();
  const other = await startAuthorization();
  made.space.servers({ first: { url: made.server.url }, second: { url: other.url } });
  const running = made.space.start(["compile", "--login", "--json"]);
  const addresses = () => [...running.stderr().matchAll(/^ {2}(https?:\S+)$/gm)].map((found) => found[1]!);
  await eventually(() => addresses().length === 1, "an address");
  const browse = (address: string) => (address.startsWith(other.issuer) ? other : made.server).browse(address);
  await browse(addresses()[0]!);
  await eventually(() => addresses().length === 2, "a second address");
  await browse(addresses()[1]!);
  expect((await running.finished).code).toBe(0);
});

test.each([
  ["compile", ["compile"]],
  ["call", ["call", "remote", "add", "a=1", "b=2"]],
  ["doctor", ["doctor"]],
])("without it %s asks nobody, and says what would", async (_, args) => {
  const made = await setting();
  await asPerson(made, ["compile", "--login"]);
  made.server.tokens.revokeAll();
  const { code, stderr, stdout } = await made.space.start(args, { env: { BROWSER: "/bin/false", DISPLAY: ":0" } })
    .finished;
  expect(`${stderr}${stdout}`).toContain("pimcp login remote");
  // Compiled before, so compile keeps what there is.
  expect(code).toBe(args[0] === "compile" ? 0 : 1);
  expect(made.server.count("authorize")).toBe(1);
});

test("Ctrl-C in the middle ends the command", async () => {
  const made = await setting();
  const running = made.space.start(["compile", "--login"]);
  await shownAddress(running);
  running.child.kill("SIGINT");
  expect((await running.finished).code).toBe(130);
});
