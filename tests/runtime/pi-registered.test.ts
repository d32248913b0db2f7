/** Where the artifacts of servers that extensions register with Pi are kept, for whom, and for how long. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { locateConfiguration } from "../../runtime/connect/configuration-files.ts";
import { registrations } from "../../runtime/pi/registered/registered-servers.ts";
import { tidyRegistered } from "../../runtime/pi/registered/tidy-registered.ts";
import { variable } from "../cli/pimcp.ts";
import { scratchFolder } from "../scratch.ts";

const TOKEN = "t0ken-of-somebody";

function surroundings(cache = scratchFolder(), more: NodeJS.ProcessEnv = {}) {
  const home = scratchFolder();
  return { cache, homedir: home, env: { HOME: home, PIMCP_CACHE_DIR: cache, ...more } as NodeJS.ProcessEnv };
}
type Surroundings = ReturnType<typeof surroundings>;

/** Registers one server `s` with this configuration. */
async function registered(config: object, { env, homedir }: Surroundings) {
  const files = await locateConfiguration({ cwd: homedir, env, homedir });
  const server = { name: "s", config, extensionPath: "/x/extension.js" };
  const getMcpServers = () => [server] as never;
  return registrations({ getMcpServers }, { files, env, homedir });
}
const folderOf = async (config: object, around: Surroundings) => (await registered(config, around)).servers[0]!.out;

const stdio = (API_TOKEN: string) => ({ command: "serve", env: { API_TOKEN } });
const http = (token: string) => ({ url: "https://example.com/mcp", headers: { authorization: `Bearer ${token}` } });

describe("the folder of a registration", () => {
  test.each([
    ["stdio", stdio],
    ["HTTP", http],
  ])("%s: another token has another one, the same token the same, and no token is to be seen", async (_, entry) => {
    const around = surroundings();
    const [first, other, again] = [
      await folderOf(entry(TOKEN), around),
      await folderOf(entry("other"), around),
      await folderOf(entry(TOKEN), around),
    ];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    // Elsewhere the name is another: nobody can try tokens until one fits.
    const elsewhere = await folderOf(entry(TOKEN), surroundings());
    expect(elsewhere.slice(-32)).not.toBe(first.slice(-32));
    expect(readdirSync(around.cache)).toEqual(["key"]);
    expect(first + readFileSync(join(around.cache, "key"), "latin1")).not.toContain(TOKEN);
  });

  test("a token in a variable counts by its value, and variables of others don't", async () => {
    const cache = scratchFolder();
    const of = (env: NodeJS.ProcessEnv) => folderOf(stdio(variable("THE_TOKEN")), surroundings(cache, env));
    const first = await of({ THE_TOKEN: "a" });
    expect(await of({ THE_TOKEN: "a", ANOTHER_TOKEN: "b" })).toBe(first);
    expect(await of({ THE_TOKEN: "b" })).not.toBe(first);
    expect(await of({})).not.toBe(first);
  });

  test("no command is run to find it", async () => {
    const around = surroundings();
    const proof = join(around.cache, "proof");
    await folderOf(stdio(`!touch ${proof}`), around);
    expect(existsSync(proof)).toBe(false);
  });
});

describe("folders that nobody uses", () => {
  const DAY_MS = 86_400_000;
  const NAME = "0123456789abcdef".repeat(2);

  /** A folder of artifacts that was used so many days ago. */
  function used(cache: string, name: string, days: number): string {
    const folder = join(cache, "registered", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "manifest.json"), "{}");
    const then = new Date(Date.now() - days * DAY_MS);
    utimesSync(folder, then, then);
    return folder;
  }
  async function tidy({ env }: Surroundings): Promise<void> {
    const ending = new AbortController();
    await tidyRegistered({ env, signal: ending.signal, registrations: { servers: [] } as never });
    ending.abort();
  }

  test("go after a month; what is younger, and what is not ours, stays", async () => {
    const around = surroundings();
    const [old, young] = [used(around.cache, NAME, 31), used(around.cache, NAME.replace("0", "f"), 29)];
    const foreign = used(around.cache, "somebody-elses", 99);
    const outside = used(scratchFolder(), NAME, 99);
    const link = join(around.cache, "registered", NAME.replace("0", "e"));
    if (process.platform !== "win32") symlinkSync(outside, link);
    await tidy(around);
    expect([old, young, foreign, join(outside, "manifest.json")].map((path) => existsSync(path))).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });

  test("one that is registered is in use from then on, however old", async () => {
    const around = surroundings();
    const out = await folderOf(stdio(TOKEN), around);
    const folder = used(around.cache, out.slice(-32), 99);
    expect(folder).toBe(out);
    await registered(stdio(TOKEN), around);
    await expect.poll(() => Date.now() - statSync(out).mtimeMs).toBeLessThan(DAY_MS);
    await tidy(around);
    expect(existsSync(out)).toBe(true);
  });

  test("a session that lasts says each day that it is in use, and no longer", async () => {
    const around = surroundings();
    const folder = used(around.cache, NAME, 29);
    const ending = new AbortController();
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const session = { env: around.env, signal: ending.signal, registrations: { servers: [{ out: folder }] } as never };
    await tidyRegistered(session);
    expect(Date.now() - statSync(folder).mtimeMs).toBeGreaterThan(DAY_MS);
    vi.advanceTimersByTime(DAY_MS);
    await expect.poll(() => Date.now() - statSync(folder).mtimeMs).toBeLessThan(DAY_MS);
    ending.abort();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("without any there is nothing to do", async () => {
    const around = surroundings();
    await tidy(around);
    expect(readdirSync(around.cache)).toEqual([]);
  });
});
