/** What servers log: a line each, whatever they say, in a file that stays small and whole. */
import { execFile } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { logLine, ServerLog } from "../../runtime/pi/servers/server-log.ts";
import { DIST } from "../cli/pimcp.ts";
import { scratchFolder } from "../scratch.ts";

const NOON = Date.parse("2026-01-02T12:00:00Z");
const MB = 1024 * 1024;

describe("a line", () => {
  const rows: [what: string, params: unknown, line: string][] = [
    ["text", { level: "warning", data: "disk is full" }, "2026-01-02T12:00:00.000Z [docs] warning disk is full"],
    ["a logger", { level: "debug", logger: "db", data: "hi" }, "2026-01-02T12:00:00.000Z [docs] debug db: hi"],
    ["data", { level: "info", data: { a: ["b"] } }, '2026-01-02T12:00:00.000Z [docs] info {"a":["b"]}'],
    ["nothing", undefined, "2026-01-02T12:00:00.000Z [docs] info "],
    ["no object", "hello", "2026-01-02T12:00:00.000Z [docs] info hello"],
    [
      "what a terminal would obey, or read as another line",
      { level: "in\nfo", logger: "\u001b[2J", data: "a\nb\r\u001b[31mred\u202e\u2028" },
      "2026-01-02T12:00:00.000Z [docs] in\\nfo \\u{1b}[2J: a\\nb\\u{d}\\u{1b}[31mred\\u{202e}\\u{2028}",
    ],
  ];
  test.each(rows)("%s", (_, params, line) => expect(logLine("docs", params, NOON)).toBe(`${line}\n`));

  test("is cut where the server says very much", () => {
    const line = logLine("docs", { data: "x".repeat(1_000_000) }, NOON);
    expect(line.length).toBeLessThan(9000);
    expect(line).toContain("… (1000000 characters)\n");
  });
});

describe("the file", () => {
  test("is its owner's alone, and one that was open to others is closed", () => {
    const path = join(scratchFolder(), "agent", "mcp.log");
    const log = new ServerLog(path, () => NOON);
    log.write("docs", { data: "one" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    chmodSync(path, 0o644);
    log.write("docs", { data: "two" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(
      readFileSync(path, "utf8")
        .split("\n")
        .map((line) => line.split(" ").at(-1)),
    ).toEqual(["one", "two", ""]);
  });

  test("is moved away past 5 MB, one before it is kept", () => {
    const folder = scratchFolder();
    const path = join(folder, "mcp.log");
    writeFileSync(`${path}.1`, "older\n");
    writeFileSync(path, `${"x".repeat(5 * MB)}\n`);
    const log = new ServerLog(path, () => NOON);
    log.write("docs", { data: "last of the old" });
    log.write("docs", { data: "first of the new" });
    expect(readdirSync(folder).sort()).toEqual(["mcp.log", "mcp.log.1"]);
    expect(readFileSync(`${path}.1`, "utf8")).toContain("last of the old");
    expect(readFileSync(path, "utf8")).toBe("2026-01-02T12:00:00.000Z [docs] info first of the new\n");
  });

  test("is left to the process that is moving it, until that one has died", () => {
    const path = join(scratchFolder(), "mcp.log");
    writeFileSync(path, `${"x".repeat(5 * MB)}\n`);
    writeFileSync(`${path}.lock`, "");
    const log = new ServerLog(path);
    log.write("docs", { data: "one" });
    expect(existsSync(`${path}.1`)).toBe(false);
    utimesSync(`${path}.lock`, NOON / 1000, NOON / 1000);
    log.write("docs", { data: "two" });
    log.write("docs", { data: "three" });
    expect(readFileSync(`${path}.1`, "utf8")).toContain("three");
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test("that can't be written costs the line and nothing else", () => {
    const folder = scratchFolder();
    writeFileSync(join(folder, "agent"), "a file");
    const log = new ServerLog(join(folder, "agent", "mcp.log"));
    expect(() => log.write("docs", { data: "one" })).not.toThrow();
  });

  test("takes whole lines of several processes at once", async () => {
    const path = join(scratchFolder(), "mcp.log");
    const script = `
      import { ServerLog } from ${JSON.stringify(join(DIST, "runtime", "pi", "servers", "server-log.js"))};
      const log = new ServerLog(${JSON.stringify(path)});
      for (let i = 0; i < 150; i++) log.write(process.argv[1], { data: "x".repeat(2000) + i });`;
    const run = promisify(execFile);
    const names = ["a", "b", "c"];
    await Promise.all(names.map((name) => run(process.execPath, ["--input-type=module", "-e", script, "--", name])));
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(450);
    for (const line of lines) expect(line).toMatch(/^\S+ \[[abc]\] info x{2000}\d+$/);
  });
});

test("a flood is cut short for the server that makes it, and how much was left out is said", () => {
  const path = join(scratchFolder(), "mcp.log");
  let now = NOON;
  const log = new ServerLog(path, () => now);
  for (let i = 0; i < 10_000; i++) log.write("loud", { data: i });
  log.write("quiet", { data: "still heard" });
  const lines = () => readFileSync(path, "utf8").trimEnd().split("\n");
  expect(lines()).toHaveLength(201);
  expect(lines().at(-1)).toContain("[quiet] info still heard");
  now += 10_000;
  log.write("loud", { data: "again" });
  expect(lines().slice(-2)).toEqual([
    "2026-01-02T12:00:10.000Z [loud] warning pimcp: 9800 more messages were left out: more than 200 within 10 s",
    "2026-01-02T12:00:10.000Z [loud] info again",
  ]);
  for (let i = 0; i < 300; i++) log.write("loud", { data: i });
  log.close();
  expect(lines().at(-1)).toContain("101 more messages were left out");
});
