/** `mcp-auth.json`: what goes in comes out, nobody's entry is lost, and what can't be read is left alone. */
import { execFile, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fileStore } from "../../runtime/connect/auth/store.ts";
import {
  type Credentials,
  credentialKey,
  entryOf,
  parseEntries,
  serializeEntries,
  withEntry,
} from "../../runtime/connect/auth/store-file.ts";
import { scratchFolder } from "../scratch.ts";
import { serversDir } from "../servers/run.ts";
import { AgentFolder } from "./auth-setup.ts";

const dist = process.env["PIMCP_DIST"] ?? join(import.meta.dirname, "../../dist");
const url = "https://mcp.example.com/mcp";
const key = credentialKey("my-server", new URL(url));
const name = `mcp__my_server|${url}`;
const tokens = { access_token: "access", token_type: "Bearer", refresh_token: "refresh" };

function run(folder: AgentFolder, act: object, more: object = {}): Promise<Record<string, unknown>> {
  const settings = { dist, agentDir: folder.path, server: "my-server", url, act };
  return new Promise((resolve, reject) => {
    const args = [join(serversDir, "store-client.mjs"), JSON.stringify(settings)];
    execFile(process.execPath, args, { encoding: "utf8", ...more }, (error, stdout) =>
      error ? reject(error) : resolve(JSON.parse(stdout) as Record<string, unknown>),
    );
  });
}

describe("the format is Pi's", () => {
  test("an entry is under the namespace and the URL, written as Pi writes it", async () => {
    const folder = new AgentFolder();
    await fileStore(folder.path).update(key, () => ({ serverUrl: url, tokens, tokensExpireAt: 1 }));
    expect(folder.content()).toBe(
      `${JSON.stringify({ [name]: { serverUrl: url, tokens, tokensExpireAt: 1 } }, null, 2)}\n`,
    );
  });

  test("what an older Pi filed under the URL alone is read, and taken over by the next change", async () => {
    const folder = new AgentFolder();
    folder.write({ [url]: { serverUrl: url, tokens } });
    const store = fileStore(folder.path);
    expect((await store.read(key))!.tokens).toEqual(tokens);
    await store.update(key, (stored) => ({ ...stored!, tokensExpireAt: 5 }));
    expect(folder.entries()).toEqual({ [name]: { serverUrl: url, tokens, tokensExpireAt: 5 } });
  });

  test("credentials of another address are nobody's", async () => {
    const folder = new AgentFolder();
    folder.write({ [name]: { serverUrl: "https://elsewhere.test/mcp", tokens } });
    expect(await fileStore(folder.path).read(key)).toBeUndefined();
  });

  const json = fc.jsonValue({ maxDepth: 3 });
  test("other entries and unknown fields come out as they went in", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), fc.dictionary(fc.string(), json), (others, unknown) => {
        const before = parseEntries(
          JSON.stringify({
            ...others,
            [name]: {
              ...unknown,
              serverUrl: url,
              tokens,
              tokensExpireAt: 1,
              clientInformation: undefined,
              discovery: undefined,
            },
          }),
        );
        const entry = entryOf(before, key)!;
        const after = parseEntries(serializeEntries(withEntry(before, key, { ...entry, tokensExpireAt: 9 })));
        const { [url]: _, ...expected } = before;
        expect(after).toEqual({ ...expected, [name]: { ...(before[name] as Credentials), tokensExpireAt: 9 } });
        expect(parseEntries(serializeEntries(withEntry(after, key, undefined)))).toEqual(
          Object.fromEntries(Object.entries(expected).filter(([one]) => one !== name)),
        );
      }),
    );
  });

  test("a server called __proto__ is a server like any other", async () => {
    const folder = new AgentFolder();
    folder.write(`{"__proto__":{"serverUrl":"x"},"constructor":1}`);
    await fileStore(folder.path).update(key, () => ({ serverUrl: url }));
    expect(folder.content()).toContain('"__proto__"');
    expect(Object.keys(folder.entries()).sort()).toEqual(["__proto__", "constructor", name]);
  });
});

describe("what can't be read is left as it is", () => {
  const rows: [what: string, content: string][] = [
    ["torn", `{"${name}": {"serverUrl": "${url}", "tok`],
    ["of another program", "[1, 2, 3]"],
    ["a text", '"hello"'],
    ["with an entry of another form", JSON.stringify({ [name]: { serverUrl: url, tokens: [tokens] } })],
    ["with an entry that is a text", JSON.stringify({ [name]: "encrypted:abc" })],
  ];
  test.each(rows)("%s", async (_, content) => {
    const folder = new AgentFolder();
    folder.write(content);
    const store = fileStore(folder.path);
    const refused = { name: "AuthError", code: "credentials-unusable" };
    await expect(store.read(key)).rejects.toMatchObject(refused);
    await expect(store.update(key, () => ({ serverUrl: url, tokens }))).rejects.toMatchObject(refused);
    await expect(store.assertWritable(key)).rejects.toMatchObject(refused);
    expect(folder.content()).toBe(content);
  });

  test("no message quotes what is in it", async () => {
    const folder = new AgentFolder();
    folder.write('{"a": canary-4711}');
    const error = await fileStore(folder.path)
      .read(key)
      .catch((caught: Error) => caught);
    expect(JSON.stringify([String(error), (error as Error).cause ?? null])).not.toContain("canary");
  });

  test("an empty file, as somebody leaves it who creates it first, is no credentials", async () => {
    const folder = new AgentFolder();
    for (const content of ["", "{}", " \n", "\ufeff{}"]) {
      folder.write(content);
      expect(await fileStore(folder.path).read(key)).toBeUndefined();
    }
  });

  test("half a file that somebody is writing in place is read once it is whole", async () => {
    const folder = new AgentFolder();
    folder.write(`{"${name}": {"ser`);
    mkdirSync(`${folder.file}.lock`);
    const reading = fileStore(folder.path).read(key);
    await new Promise((resolve) => setTimeout(resolve, 200));
    folder.write({ [name]: { serverUrl: url, tokens } });
    spawnSync("rmdir", [`${folder.file}.lock`]);
    expect((await reading)!.tokens).toEqual(tokens);
  });
});

describe("several at once", () => {
  test("no change of any of eight processes is lost", { timeout: 60_000 }, async () => {
    const folder = new AgentFolder();
    folder.write({ other: { serverUrl: "https://other.test/", n: 1 } });
    await Promise.all(Array.from({ length: 8 }, () => run(folder, { count: 10 })));
    expect(folder.entries()).toEqual({
      other: { serverUrl: "https://other.test/", n: 1 },
      [name]: { serverUrl: url, n: 80 },
    });
    expect(readdirSync(folder.path)).toEqual(["mcp-auth.json"]);
  });

  test("a lock that a dead process left is taken over", async () => {
    const folder = new AgentFolder();
    folder.write({});
    mkdirSync(`${folder.file}.lock`);
    const longAgo = Date.now() / 1000 - 60;
    utimesSync(`${folder.file}.lock`, longAgo, longAgo);
    await fileStore(folder.path).update(key, () => ({ serverUrl: url, tokens }));
    expect(Object.keys(folder.entries())).toEqual([name]);
  });
});

describe("where the file is", () => {
  test("behind a link the file itself is replaced, and the link stays", async () => {
    const folder = new AgentFolder();
    const real = join(folder.path, "elsewhere.json");
    writeFileSync(real, "{}");
    symlinkSync(real, folder.file);
    await fileStore(folder.path).update(key, () => ({ serverUrl: url, tokens }));
    expect(JSON.parse(readFileSync(real, "utf8"))).toHaveProperty([name]);
    expect(readdirSync(folder.path).sort()).toEqual(["elsewhere.json", "mcp-auth.json"]);
    expect(statSync(folder.file).mode & 0o777).toBe(0o600);
  });

  test("so does one to a file that is still to be made, over other links too", async () => {
    const folder = new AgentFolder();
    const elsewhere = scratchFolder();
    symlinkSync("b.json", join(elsewhere, "a.json"));
    symlinkSync(join(elsewhere, "a.json"), folder.file);
    await fileStore(folder.path).update(key, () => ({ serverUrl: url, tokens }));
    expect(JSON.parse(readFileSync(join(elsewhere, "b.json"), "utf8"))).toHaveProperty([name]);
    expect(readdirSync(elsewhere).sort()).toEqual(["a.json", "b.json"]);
    expect(await fileStore(folder.path).read(key)).toMatchObject({ tokens });
  });

  const isRoot = process.getuid?.() === 0;
  test.runIf(process.platform !== "win32")(
    "in a folder, or in a file, that may not be written nothing is",
    async () => {
      const someone = isRoot ? { uid: 65534, gid: 65534 } : {};
      const folder = new AgentFolder();
      folder.write({ [name]: { serverUrl: url, tokens } });
      chmodSync(folder.file, 0o444);
      chmodSync(folder.path, 0o555);
      expect(await run(folder, { writable: true }, someone)).toMatchObject({ code: "credentials-unwritable" });
      expect(await run(folder, { count: 1 }, someone)).toMatchObject({ code: "credentials-unwritable" });
      expect(await run(folder, {}, someone)).toMatchObject({ stored: { tokens } });
      chmodSync(folder.path, 0o777);
      expect(await run(folder, { writable: true }, someone)).toMatchObject({ code: "credentials-unwritable" });
      expect(await run(folder, { count: 1 }, someone)).toMatchObject({ code: "credentials-unwritable" });
      expect(folder.entries()).toEqual({ [name]: { serverUrl: url, tokens } });
    },
  );
});
