/** Sign-ins kept in a keyring. The keyring is a map here; what happens without one is tested with the real package. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startAuthorization } from "../servers/authorization.ts";
import { AgentFolder, add, agreeing, connected, guarded, openGuarded, SERVER, signedIn } from "./auth-setup.ts";

const kept = new Map<string, string>();

describe("with a keyring", () => {
  beforeEach(() => {
    kept.clear();
    vi.doMock("@napi-rs/keyring", () => ({
      AsyncEntry: class {
        readonly #name: string;
        constructor(service: string, account: string) {
          this.#name = `${service} ${account}`;
        }
        getPassword = async () => kept.get(this.#name) ?? null;
        setPassword = async (text: string) => void kept.set(this.#name, text);
        deleteCredential = async () => kept.delete(this.#name);
      },
    }));
  });
  afterEach(() => void vi.doUnmock("@napi-rs/keyring"));

  test("the file says where the sign-in is and holds no secret; later calls find and renew it by themselves", async () => {
    const server = await startAuthorization();
    const folder = new AgentFolder();
    const first = await connected(guarded(server.url), {
      agentDir: folder.path,
      interactive: agreeing(server),
      signIns: "keyring",
    });
    expect(await add(first)).toBe("5");
    const name = `mcp__${SERVER}|${server.url}`;
    expect(folder.entries()).toEqual({ [name]: { serverUrl: server.url, keyring: true } });
    expect([...kept.keys()]).toEqual([`pimcp ${name}`]);

    const later = await connected(guarded(server.url), { agentDir: folder.path });
    server.tokens.expireAll();
    expect(await Promise.all([add(later), add(later), add(later)])).toEqual(["5", "5", "5"]);
    expect(server.count("refresh_token")).toBe(1);
    expect(server.count("authorize")).toBe(1);
    expect(folder.entries()).toEqual({ [name]: { serverUrl: server.url, keyring: true } });
  });

  test("other servers stay in the file", async () => {
    const server = await startAuthorization();
    const folder = new AgentFolder();
    await signedIn(server, folder);
    expect(folder.entry(server.url).tokens).toBeDefined();
    expect(kept.size).toBe(0);
  });
});

/** A container or a server: none is running, or no package is there for the system. */
test.runIf(process.platform === "linux" && !process.env["DBUS_SESSION_BUS_ADDRESS"])(
  "without a keyring the sign-in fails before anybody is asked, says why, and stores nothing",
  async () => {
    const server = await startAuthorization();
    const folder = new AgentFolder();
    const person = agreeing(server);
    const outcome = await openGuarded(guarded(server.url), {
      agentDir: folder.path,
      interactive: person,
      signIns: "keyring",
    });
    expect(outcome).toMatchObject({ ok: false, diagnostic: { code: "credentials-unwritable" } });
    if (outcome.ok) throw new Error("connected");
    const { message, notes } = outcome.diagnostic;
    expect(message).toMatch(/keyring/);
    expect(notes.join()).toContain("--store file");
    expect(person.visited).toEqual([]);
    expect(() => folder.content()).toThrow("ENOENT");
  },
);
