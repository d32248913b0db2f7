/** `pimcp call` when a server asks: without anybody there, with answers in a file, and at a real terminal. */
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { RuntimeProject } from "../runtime/runtime-project.ts";
import { advertised, readAskingLog } from "../servers/asking-log.ts";
import { eventually, serversDir } from "../servers/run.ts";
import { BIN, Workspace } from "./pimcp.ts";

const ERAS: readonly [string, string, Record<string, string>][] = [
  ["2025", "old", {}],
  ["2026", "new", { ERA: "modern" }],
];

async function workspace(): Promise<Workspace> {
  const made = new RuntimeProject();
  const entry = (name: string, env: Record<string, string>) => ({
    command: process.execPath,
    args: [join(serversDir, "asking.mjs")],
    env: { ...env, LOG: join(made.root, `${name}.log`) },
  });
  made.servers(Object.fromEntries(ERAS.map(([, name, env]) => [name, entry(name, env)])));
  await made.prepare();
  return made;
}

const told = (made: Workspace, server: string) => advertised(readAskingLog(join(made.root, `${server}.log`)));

const SECRET = "hunter2-and-more";

describe.each(ERAS)("a server of %s", (_, server) => {
  test("without a terminal its question is cancelled, and it is said whose it was and what would help", async () => {
    const made = await workspace();
    const { code, stdout, stderr } = await made.run("call", server, "greet");
    expect([code, stdout]).toEqual([0, "no name: cancel\n"]);
    expect(stderr).toContain(`server "${server}" (tool greet) asked for elicitation ("Who is there?")`);
    expect(stderr).toContain("[question-unanswered]");
    expect(stderr).toContain("run it in a terminal, or give the answer with --answers FILE");
  });

  test("is answered from the file, in the order of the file, and what was not used is said", async () => {
    const made = await workspace();
    made.write("project/answers.json", {
      elicitation: [
        { message: "never asked", action: "decline" },
        { message: "Who *", tool: "other", action: "decline" },
        { message: "Who *", server, action: "accept", content: { name: "Ada" } },
        { action: "cancel" },
      ],
    });
    const { code, stdout, stderr } = await made.run("call", server, "greet", "--answers", "answers.json", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ content: [{ text: "hello Ada" }] });
    expect(stderr.match(/^answers\.json:\d+:\d+: warning: .*\[answer-unused\]$/gm)).toHaveLength(3);
  });

  test("an answer that doesn't fit fails the call with its place, and is printed nowhere", async () => {
    const made = await workspace();
    made.write("project/answers.json", {
      elicitation: [{ action: "accept", content: { name: 7, password: SECRET } }],
    });
    const { code, stdout, stderr } = await made.run("call", server, "greet", "--answers", "answers.json", "--json");
    expect(code).toBe(1);
    expect(stderr).toMatch(/the answer at answers\.json:3:5 doesn't fit: content\.name: expected string/);
    expect(JSON.parse(stdout)).toMatchObject({ error: { name: "ServerError", server } });
    expect(stdout + stderr + made.read(`${server}.log`)).not.toContain(SECRET);
  });

  test("a page is for answers with a url, and nothing is opened", async () => {
    const made = await workspace();
    made.write("project/answers.json", {
      elicitation: [
        { action: "cancel", repeat: true },
        { url: "https://example.com/*", action: "accept" },
      ],
    });
    const { stdout } = await made.run("call", server, "visit", "--answers", "answers.json");
    expect(JSON.parse(stdout)).toEqual({ action: "accept" });
  });

  test("is told of elicitation always, of sampling and roots only where the file has some", async () => {
    const made = await workspace();
    const elicitation = { form: {}, url: {} };
    expect(told(made, server)).toEqual([{ elicitation }]);
    await made.run("call", server, "greet");
    expect(told(made, server)).toEqual([{ elicitation }]);
    made.write("project/answers.json", { sampling: [{ text: "42" }], roots: [] });
    await made.run("call", server, "greet", "--answers", "answers.json");
    expect(told(made, server)).toEqual([{ elicitation }, { elicitation, sampling: {}, roots: {} }]);
  });
});

describe("the answers file", () => {
  test("answers completions and roots", async () => {
    const made = await workspace();
    const roots = [{ uri: "file:///work", name: "work" }];
    made.write("project/answers.json", { sampling: [{ text: "42" }], roots });
    const sample = await made.run("call", "old", "sample", "--answers", "answers.json");
    expect(JSON.parse(sample.stdout)).toMatchObject({ role: "assistant", content: { type: "text", text: "42" } });
    const listed = await made.run("call", "old", "roots", "--answers", "answers.json");
    expect(JSON.parse(listed.stdout)).toEqual(roots);
  });

  test.each<[string, string, RegExp]>([
    ["not there", "gone.json", /^gone\.json: error: the answers can't be read \(ENOENT\)/m],
    ["no JSON", "broken.json", /^broken\.json:1:\d+: error: /m],
    ["wrong", "wrong.json", /^wrong\.json:1:\d+: error: action "acept" is not one of accept, decline, cancel/m],
  ])("that is %s stops the run before anything is called", async (_, file, message) => {
    const made = await workspace();
    made.write("project/broken.json", `{ "elicitation": ${SECRET} }`);
    made.write("project/wrong.json", `{ "elicitation": [{ "action": "acept", "content": { "a": "${SECRET}" } }] }`);
    const before = made.read("old.log");
    const { code, stdout, stderr } = await made.run("call", "old", "greet", "--answers", file, "--json");
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(JSON.parse(stdout)).toMatchObject({ error: {} });
    expect(stdout + stderr).not.toContain(SECRET);
    expect(made.read("old.log")).toBe(before);
  });

  test("--help shows what one looks like", async () => {
    const { stdout } = await new Workspace().run("call", "--help");
    expect(stdout).toContain("--answers FILE");
    expect(stdout.replace(/\s+/g, " ")).toContain('"action": "accept", "content": { "name": "Ada" }');
  });
});

// `script` of util-linux gives a process a terminal; CI may have none, and other systems' takes other options.
const hasScript = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") === true;

describe.skipIf(!hasScript)("at a real terminal (needs util-linux's script)", () => {
  async function terminal(made: Workspace, command: string) {
    const line = `${process.execPath} ${BIN} ${command}`;
    const child = spawn("script", ["-qefc", line, "/dev/null"], {
      cwd: made.project,
      env: {
        PATH: process.env["PATH"],
        HOME: join(made.root, "home"),
        PI_CODING_AGENT_DIR: made.agent,
        PIMCP_CACHE_DIR: made.cache,
        TERM: "xterm",
      },
      stdio: ["pipe", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let shown = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      shown += stripVTControlCharacters(text);
    });
    const ended = new Promise<number | null>((resolve) => void child.once("close", resolve));
    const at = async (words: string, keys: string) => {
      const from = shown.indexOf(words);
      if (from < 0) await eventually(() => shown.includes(words), `"${words}" on the screen`, 20_000);
      // A terminal's keys are read once the prompt has been drawn; those before it are thrown away.
      await new Promise((resolve) => setTimeout(resolve, 200));
      child.stdin.write(keys);
    };
    return { at, ended, shown: () => shown };
  }

  test.each(ERAS)("a person is asked, and stdout has the result alone: %s", async (_, server) => {
    const made = await workspace();
    const screen = await terminal(made, `call ${server} greet --json >out.json`);
    await screen.at("Answer (1 field)", "\r");
    await screen.at("name (text)", "Ada\r");
    await screen.at("Send it?", "\r");
    expect(await screen.ended).toBe(0);
    expect(screen.shown()).toContain(`server "${server}" asks (tool greet):`);
    expect(JSON.parse(made.read("project/out.json"))).toMatchObject({ content: [{ text: "hello Ada" }] });
  });

  test("Ctrl-C at a question cancels it, and the call goes on", async () => {
    const made = await workspace();
    const screen = await terminal(made, "call new greet");
    await screen.at("What now?", "\u0003");
    expect(await screen.ended).toBe(0);
    expect(screen.shown()).toContain("no name: cancel");
  });

  test("what the file answers is not asked", async () => {
    const made = await workspace();
    made.write("project/answers.json", { elicitation: [{ action: "accept", content: { name: "Ada" } }] });
    const screen = await terminal(made, "call new greet --answers answers.json");
    expect(await screen.ended).toBe(0);
    expect(screen.shown()).toContain("hello Ada");
    expect(screen.shown()).not.toContain("What now?");
  });
});
