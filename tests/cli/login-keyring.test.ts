/**
 * `--store keyring` with the real package and a real Secret Service: a GNOME keyring of the test's own, on a message bus of
 * its own, that touches nothing of the person who runs the tests. Skipped where these programs are not installed
 * (Debian: `apt-get install gnome-keyring dbus`).
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { filesBelow } from "../scratch.ts";
import { type Setting, setting, shownAddress } from "./signing-in.ts";

const missing = whatIsMissing();
beforeEach(({ skip }) => skip(missing !== undefined, missing));

function whatIsMissing(): string | undefined {
  if (process.platform !== "linux") return "no Secret Service on this system";
  for (const program of ["dbus-run-session", "dbus-send", "gnome-keyring-daemon"]) {
    if (spawnSync(program, ["--version"]).error) return `${program} is not installed`;
  }
  try {
    createRequire(import.meta.url)("@napi-rs/keyring");
    return undefined;
  } catch (error) {
    return `the package of the keyring can't be loaded (${(error as NodeJS.ErrnoException).code})`;
  }
}

type Env = Readonly<Record<string, string>>;

/** A login session with the keyring of this workspace, and how to end it. */
async function session(
  { space }: Setting,
  state: "unlocked" | "locked",
): Promise<{ env: Env; end: () => Promise<void> }> {
  const HOME = join(space.root, "home");
  const XDG_RUNTIME_DIR = join(space.root, "run");
  mkdirSync(XDG_RUNTIME_DIR, { recursive: true, mode: 0o700 });
  const unlock =
    state === "unlocked" ? "printf password | gnome-keyring-daemon --unlock" : "gnome-keyring-daemon --start";
  // The daemon doesn't always end with its bus.
  const owner = "org.freedesktop.DBus.GetConnectionUnixProcessID string:org.freedesktop.secrets";
  const script = `${unlock} --components=secrets >/dev/null 2>&1
    pid=$(dbus-send --session --print-reply=literal --dest=org.freedesktop.DBus / ${owner} | sed 's/.*uint32 //')
    echo "bus $DBUS_SESSION_BUS_ADDRESS"
    cat >/dev/null
    kill "$pid"`;
  // Nothing that could ask somebody for the password.
  const env = { PATH: process.env["PATH"], HOME, XDG_RUNTIME_DIR, DISPLAY: "", WAYLAND_DISPLAY: "" };
  const child = spawn("dbus-run-session", ["--", "sh", "-c", script], { env, stdio: ["pipe", "pipe", "ignore"] });
  onTestFinished(() => void child.stdin.end());
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let text = "";
  const address = await new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => reject(new Error(`the session ended: ${text}`)));
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const [, found] = /^bus (\S+)\n/m.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const end = async () => {
    child.stdin.end();
    await ended;
  };
  return { env: { DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR }, end };
}

async function logIn({ space, server }: Setting, env: Env, ...args: string[]) {
  const login = space.start(["login", "remote", ...args], { env });
  await server.browse(await shownAddress(login));
  return login.finished;
}

const run = ({ space }: Setting, env: Env, ...args: string[]) => space.start(args, { env }).finished;

const stored = ({ space }: Setting) =>
  Object.values(JSON.parse(space.read("agent/mcp-auth.json")) as Record<string, Record<string, unknown>>);

const CALL = ["call", "remote", "add", "a=1", "b=2"];

test("signs in, calls, renews and signs out, with no token in any file", { timeout: 60_000 }, async () => {
  const made = await setting();
  const { env } = await session(made, "unlocked");
  const login = await logIn(made, env, "--store", "keyring");
  expect([login.code, login.stdout]).toEqual([0, expect.stringContaining("kept in the system's keyring")]);
  expect(stored(made)).toEqual([{ serverUrl: made.server.url, keyring: true }]);
  await made.space.start(["compile"], { env }).finished;
  expect(await run(made, env, ...CALL)).toMatchObject({ code: 0, stdout: "3\n" });
  made.server.tokens.expireAll();
  expect(await run(made, env, ...CALL)).toMatchObject({ code: 0, stdout: "3\n" });
  expect(made.server.count("refresh_token")).toBe(1);
  const tokens = made.server.seen.map(({ headers }) => /^Bearer (\S+)/.exec(String(headers["authorization"]))?.[1]);
  const used = [...new Set(tokens.filter((token) => token !== undefined))];
  expect(used.length).toBeGreaterThan(1);
  for (const path of filesBelow(made.space.root)) {
    const content = readFileSync(path, "latin1");
    for (const token of used) expect(content.includes(token), path).toBe(false);
  }
  const logout = await run(made, env, "logout", "remote");
  expect([logout.code, logout.stdout]).toEqual([0, 'signed out of "remote"; the tokens are revoked\n']);
  expect(stored(made)).toEqual([]);
});

test("a locked one: calls and sign-ins say so, signing out works and is finished later", {
  timeout: 60_000,
}, async () => {
  const made = await setting();
  const open = await session(made, "unlocked");
  await logIn(made, open.env, "--store", "keyring");
  await made.space.start(["compile"], { env: open.env }).finished;
  await open.end();

  const locked = await session(made, "locked");
  expect(await run(made, locked.env, ...CALL)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the system's keyring can't be read: none is running, or it is locked"),
  });
  const authorized = made.server.count("authorize");
  expect((await run(made, locked.env, "login", "remote")).code).toBe(1);
  expect(made.server.count("authorize")).toBe(authorized);
  const logout = await run(made, locked.env, "logout", "remote");
  expect(logout).toMatchObject({ code: 1, stdout: expect.stringContaining('signed out of "remote", but') });
  expect(logout.stderr).toContain("could not be deleted");
  expect(stored(made)).toEqual([{ serverUrl: made.server.url, keyring: "left" }]);
  await locked.end();

  const again = await session(made, "unlocked");
  expect(await run(made, again.env, "logout", "remote")).toMatchObject({ code: 0 });
  expect(stored(made)).toEqual([]);
});

test("an empty one that is locked is noticed before anybody signs in", { timeout: 60_000 }, async () => {
  const made = await setting();
  await (await session(made, "unlocked")).end();
  const { env } = await session(made, "locked");
  const login = await run(made, env, "login", "remote", "--store", "keyring");
  expect([login.code, login.stderr]).toEqual([1, expect.stringContaining("the system's keyring can't be used")]);
  expect(made.server.count("authorize")).toBe(0);
});

test("--store file leaves it, whether it is there or gone", { timeout: 60_000 }, async () => {
  const made = await setting();
  const { env, end } = await session(made, "unlocked");
  await logIn(made, env, "--store", "keyring");
  expect((await logIn(made, env, "--store", "file")).stdout).toContain("Pi is signed in too");
  expect(stored(made)).toEqual([expect.objectContaining({ tokens: expect.anything() })]);
  expect(stored(made)[0]).not.toHaveProperty("keyring");
  await logIn(made, env, "--store", "keyring");
  await end();
  const login = await logIn(made, {}, "--store", "file");
  expect(login).toMatchObject({ code: 0, stderr: expect.stringContaining("could not be deleted") });
  expect(stored(made)).toEqual([expect.objectContaining({ tokens: expect.anything(), keyring: "left" })]);
});
