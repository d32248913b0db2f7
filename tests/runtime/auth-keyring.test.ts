/**
 * Sign-ins kept in a keyring that is a map here, which can be locked, and lose the process in the middle of a change. The
 * real package is used in `auth-keyring-real.test.ts`.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { logIn } from "../../runtime/connect/auth/log-in.ts";
import { logOut } from "../../runtime/connect/auth/log-out.ts";
import type { Credentials } from "../../runtime/connect/auth/store-file.ts";
import { credentialStore } from "../../runtime/connect/auth/store-keyring.ts";
import type { ResolvedHttp } from "../../runtime/connect/resolve.ts";
import { type AuthorizationServer, startAuthorization } from "../servers/authorization.ts";
import { AgentFolder, add, agreeing, connected, guarded, openGuarded, SERVER, signedIn } from "./auth-setup.ts";

const kept = new Map<string, string>();
const used: string[] = [];
/** What the next uses of the keyring come to: `before` the change is made, or `after`. */
let failing: { [operation: string]: "before" | "after" } = {};
/** Happens while the keyring is being read. */
let meanwhile: (() => void) | undefined;

beforeEach(() => {
  kept.clear();
  used.length = 0;
  failing = {};
  meanwhile = undefined;
  vi.doMock("@napi-rs/keyring", () => ({
    AsyncEntry: class {
      readonly #name: string;
      constructor(service: string, account: string) {
        this.#name = `${service} ${account}`;
      }
      getSecret = () =>
        use("get", () => [...Buffer.from(kept.get(this.#name) ?? "")]).then((b) => (b.length ? b : null));
      setSecret = (bytes: Uint8Array) => use("set", () => void kept.set(this.#name, Buffer.from(bytes).toString()));
      deleteCredential = () => use("delete", () => kept.delete(this.#name));
    },
  }));
});
afterEach(() => void vi.doUnmock("@napi-rs/keyring"));

async function use<T>(operation: string, change: () => T): Promise<T> {
  used.push(operation);
  if (operation === "get") meanwhile?.();
  const when = failing[operation] ?? failing["all"];
  if (when === "before") throw new Error("unlock prompt was dismissed");
  const done = change();
  if (when === "after") throw new Error("and there it ended");
  return done;
}

const lock = () => {
  failing = { all: "before" };
};

async function made() {
  const server = await startAuthorization();
  const folder = new AgentFolder();
  return { server, folder, name: `mcp__${SERVER}|${server.url}` };
}

async function inKeyring() {
  const setting = await made();
  const connection = await connected(guarded(setting.server.url), {
    agentDir: setting.folder.path,
    interactive: agreeing(setting.server),
    signIns: "keyring",
  });
  await connection.close();
  used.length = 0;
  return setting;
}

const resolvedFor = (server: AuthorizationServer): ResolvedHttp => ({
  kind: "http",
  url: new URL(server.url),
  headers: {},
  secrets: [],
  credentials: [],
});

function login(server: AuthorizationServer, folder: AgentFolder, signIns?: "file" | "keyring") {
  return logIn(guarded(server.url), resolvedFor(server), {
    agentDir: folder.path,
    interactive: agreeing(server),
    fetch,
    signIns,
  });
}

const logout = (server: AuthorizationServer, folder: AgentFolder) =>
  logOut(guarded(server.url), resolvedFor(server), { agentDir: folder.path }, fetch);

const works = async (server: AuthorizationServer, folder: AgentFolder) =>
  add(await connected(guarded(server.url), { agentDir: folder.path }));

describe("in a keyring", () => {
  test("the file says where the sign-in is and holds no secret; later calls find and renew it by themselves", async () => {
    const { server, folder, name } = await inKeyring();
    expect(folder.entries()).toEqual({ [name]: { serverUrl: server.url, keyring: true } });
    expect([...kept.keys()]).toEqual([`pimcp ${name}`]);

    const later = await connected(guarded(server.url), { agentDir: folder.path });
    server.tokens.expireAll();
    expect(await Promise.all([add(later), add(later), add(later)])).toEqual(["5", "5", "5"]);
    expect(server.count("refresh_token")).toBe(1);
    expect(server.count("authorize")).toBe(1);
    expect(folder.entries()).toEqual({ [name]: { serverUrl: server.url, keyring: true } });
    expect(server.seen.filter(({ endpoint }) => endpoint === "token").at(-1)!.params["resource"]).toBe(server.url);
  });

  test("it is small enough for Windows, which takes 2,560 bytes", async () => {
    await inKeyring();
    expect([...kept.values()].map((text) => Buffer.byteLength(text))[0]).toBeLessThan(1500);
  });

  test("other servers stay in the file, and nobody touches the keyring for them", async () => {
    const { server, folder } = await made();
    await signedIn(server, folder);
    expect(folder.entry(server.url).tokens).toBeDefined();
    expect(await works(server, folder)).toBe("5");
    await logout(server, folder);
    expect(used).toEqual([]);
  });

  test("a sign-in without a wish stays where the last one was, and says so", async () => {
    const { server, folder } = await inKeyring();
    expect(await login(server, folder)).toMatchObject({ kind: "signed-in", store: "keyring", isLeftInKeyring: false });
    expect(folder.entry(server.url)).toEqual({ serverUrl: server.url, keyring: true });
  });

  test("one that is locked is noticed before anybody signs in", async () => {
    const { server, folder } = await made();
    failing = { set: "before" };
    const person = agreeing(server);
    const auth = { agentDir: folder.path, interactive: person, signIns: "keyring" } as const;
    expect(await openGuarded(guarded(server.url), auth)).toMatchObject({
      ok: false,
      diagnostic: { code: "credentials-unwritable", message: expect.stringContaining("locked") },
    });
    expect(person.visited).toEqual([]);
  });

  test("one that is locked during a refresh fails the call before the token is spent", async () => {
    const { server, folder } = await inKeyring();
    server.tokens.expireAll();
    lock();
    await expect(works(server, folder)).rejects.toThrow("the system's keyring can't be read");
    expect(server.count("refresh_token")).toBe(0);
    failing = {};
    expect(await works(server, folder)).toBe("5");
  });
});

describe("out of it again", () => {
  test("--store file moves the sign-in and deletes the keyring's", async () => {
    const { server, folder } = await inKeyring();
    expect(await login(server, folder, "file")).toMatchObject({
      kind: "signed-in",
      store: "file",
      isLeftInKeyring: false,
    });
    expect(folder.entry(server.url)).toMatchObject({ tokens: { access_token: expect.any(String) } });
    expect(folder.entry(server.url).keyring).toBeUndefined();
    expect(kept.size).toBe(0);
    used.length = 0;
    expect(await works(server, folder)).toBe("5");
    expect(used).toEqual([]);
  });

  test("where the keyring is gone, all but the deletion goes through without it", async () => {
    const { server, folder } = await inKeyring();
    lock();
    expect(await login(server, folder, "file")).toMatchObject({ store: "file", isLeftInKeyring: true });
    expect(used).toEqual(["delete"]);
    server.tokens.expireAll();
    expect(await works(server, folder)).toBe("5");
    expect(folder.entry(server.url).keyring).toBe("left");
    expect(used).toEqual(["delete"]);
    // It is back: whoever signs out is rid of both.
    failing = {};
    expect(await logout(server, folder)).toEqual({ kind: "signed-out", revoked: "yes" });
    expect(kept.size).toBe(0);
    expect(folder.entries()).toEqual({});
  });

  test("somebody who signed in with Pi since is signed in as that", async () => {
    const { server, folder } = await inKeyring();
    const other = new AgentFolder();
    await signedIn(server, other);
    folder.edit(server.url, (entry) => ({ ...entry, ...other.entry(server.url) }));
    expect(folder.entry(server.url).keyring).toBe(true);
    lock();
    expect(await works(server, folder)).toBe("5");
    expect(await login(server, folder)).toMatchObject({ store: "file", isLeftInKeyring: true });
    failing = {};
    expect(await logout(server, folder)).toMatchObject({ kind: "signed-out" });
    expect(kept.size).toBe(0);
  });
});

describe("signing out", () => {
  test("revokes and deletes what is in the keyring", async () => {
    const { server, folder } = await inKeyring();
    expect(await logout(server, folder)).toEqual({ kind: "signed-out", revoked: "yes" });
    expect(kept.size).toBe(0);
    expect(folder.entries()).toEqual({});
    expect(await logout(server, folder)).toEqual({ kind: "not-signed-in" });
  });

  test("where the keyring is gone: signed out here, and what could not be done is said", async () => {
    const { server, folder } = await inKeyring();
    lock();
    const why = expect.stringContaining("none is running, or it is locked");
    const outcome = await logout(server, folder);
    expect(outcome).toEqual({ kind: "signed-out", revoked: "failed", reason: why, leftInKeyring: why });
    expect(folder.entry(server.url)).toEqual({ serverUrl: server.url, keyring: "left" });
    await expect(works(server, folder)).rejects.toThrow("sign-in is needed");
    expect(await logout(server, folder)).toMatchObject({ leftInKeyring: why });
    failing = {};
    await expect(works(server, folder)).rejects.toThrow("sign-in is needed");
    expect(await logout(server, folder)).toEqual({ kind: "signed-out", revoked: "not-offered" });
    expect(kept.size).toBe(0);
    expect(folder.entries()).toEqual({});
  });

  test("a file that can't be read is still a failure, and stays", async () => {
    const { server, folder } = await made();
    folder.write("{torn");
    expect(await logout(server, folder)).toMatchObject({
      kind: "failed",
      diagnostic: { code: "credentials-unusable" },
    });
    expect(folder.content()).toBe("{torn");
  });
});

/** A change that is cut off at some write: what counts then is the newest that was stored, whole. */
describe("a process that dies between two writes", () => {
  const tokens = (name: string, grant = name) => ({ access_token: `access-${name}`, refresh_token: name, grant });
  const url = "https://one.test/mcp";
  const key = { server: SERVER, url };
  const entry = (name: string, grant?: string): Credentials => ({ serverUrl: url, tokens: tokens(name, grant) });
  const counting = async (folder: AgentFolder) => (await credentialStore(folder.path).read(key))?.tokens?.refresh_token;

  const rows: [string, "file" | "keyring", typeof failing, "old" | "new", stored?: "file"][] = [
    ["into the keyring, before it held anything", "keyring", { set: "before" }, "old", "file"],
    ["into the keyring, before the file's own went", "keyring", { set: "after" }, "new", "file"],
    ["into the keyring, before anything", "keyring", { delete: "before" }, "old", "file"],
    ["out of it, before the keyring's went", "file", { delete: "before" }, "new"],
    ["out of it, when all but the note was done", "file", { delete: "after" }, "new"],
    ["within the keyring, before", "keyring", { set: "before" }, "old"],
    ["within the keyring, after", "keyring", { set: "after" }, "new"],
  ];
  test.each(rows)("%s", async (_, target, failure, want, from = "keyring" as never) => {
    const folder = new AgentFolder();
    await credentialStore(folder.path, from).update(key, () => entry("old"));
    failing = failure;
    await credentialStore(folder.path, target)
      .update(key, () => entry("new"))
      .catch(() => undefined);
    failing = {};
    expect(await counting(folder)).toBe(want);
    // The next refresh builds on it, and what it stores counts.
    await credentialStore(folder.path).update(key, (stored) => {
      expect(stored?.tokens?.refresh_token).toBe(want);
      return entry("renewed");
    });
    expect(await counting(folder)).toBe("renewed");
    // And wherever the next sign-in goes, nothing of the ones before comes back.
    for (const next of ["file", "keyring", "file"] as const) {
      await credentialStore(folder.path, next).update(key, () => entry(`last in the ${next}`));
      expect(await counting(folder)).toBe(`last in the ${next}`);
    }
    expect(kept.size).toBe(0);
    expect(Object.values(folder.entries())).toEqual([entry("last in the file")]);
  });

  test("an old secret that nothing points to never counts", async () => {
    const folder = new AgentFolder();
    kept.set(`pimcp mcp__${SERVER}|${url}`, JSON.stringify(entry("ancient")));
    expect(await counting(folder)).toBeUndefined();
    failing = { set: "before" };
    await expect(credentialStore(folder.path, "keyring").update(key, () => entry("new"))).rejects.toThrow();
    failing = {};
    expect(await counting(folder)).toBeUndefined();
  });

  test("a reader that looks while it leaves the keyring finds it in the file", async () => {
    const folder = new AgentFolder();
    await credentialStore(folder.path, "keyring").update(key, () => entry("old"));
    meanwhile = () => {
      kept.clear();
      folder.write({ [`mcp__${SERVER}|${url}`]: entry("new") });
    };
    expect(await counting(folder)).toBe("new");
  });
});

/** A container or a server: none is running, or no package is there for the system. */
test.runIf(process.platform === "linux" && !process.env["DBUS_SESSION_BUS_ADDRESS"])(
  "without a keyring the sign-in fails before anybody is asked, says why, and stores nothing",
  async () => {
    vi.doUnmock("@napi-rs/keyring");
    const server = await startAuthorization();
    const folder = new AgentFolder();
    const person = agreeing(server);
    const auth = { agentDir: folder.path, interactive: person, signIns: "keyring" } as const;
    const outcome = await openGuarded(guarded(server.url), auth);
    expect(outcome).toMatchObject({ ok: false, diagnostic: { code: "credentials-unwritable" } });
    if (outcome.ok) throw new Error("connected");
    const { message, notes } = outcome.diagnostic;
    expect(message).toMatch(/keyring/);
    expect(notes.join()).toContain("--store file");
    expect(person.visited).toEqual([]);
    expect(() => folder.content()).toThrow("ENOENT");
  },
);
