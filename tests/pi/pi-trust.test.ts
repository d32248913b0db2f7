/** Whether a project may be used: what was decided in Pi, and what is made of it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { locateConfiguration } from "../../runtime/connect/configuration-files.ts";
import { approval, type PiTrust, savedDecision } from "../../runtime/pi/trust/pi-trust.ts";
import { projectTrust } from "../../runtime/pi/trust/project-trust.ts";
import { scratchFolder } from "../scratch.ts";

describe("--approve on Pi's command line", () => {
  test.each([
    ["given", "pi", ["--approve"]],
    ["given", "pi", ["-a", "go"]],
    ["given", "pi", ["--model", "one", "--approve", "-p", "go"]],
    ["given", "pi-rpc", ["x", "-a"]],
    ["none", "pi", []],
    ["none", "pi", ["go", "--", "--approve"]],
    ["none", "pi", ["--approve=1"]],
    // The option before it may take it for its value: only Pi knows.
    ["unclear", "pi", ["--system-prompt", "--approve"]],
    ["unclear", "pi", ["-p", "-a"]],
    ["unclear", "pi", ["--approve", "--no-approve"]],
    // Another application's command line.
    ["none", "node", ["--approve"]],
    ["none", "my-app", ["-a"]],
  ])("is %s: %s %j", (wanted, title, args) => {
    expect(approval(title, args)).toBe(wanted);
  });
});

describe("a saved decision", () => {
  const rows: [wanted: boolean | undefined, what: string, decisions: (folder: string) => unknown][] = [
    [true, "for the folder", (folder) => ({ [folder]: true })],
    [
      false,
      "against the folder, in one that is trusted",
      (folder) => ({ [folder]: false, [join(folder, "..")]: true }),
    ],
    [true, "for a folder above", (folder) => ({ [join(folder, "..")]: true })],
    [true, "taken back, below one for a folder above", (folder) => ({ [folder]: null, [join(folder, "..")]: true })],
    [undefined, "for a folder beside it", (folder) => ({ [`${folder}-other`]: true })],
    [undefined, "that is no decision", (folder) => ({ [folder]: "yes" })],
    [undefined, "in a file of another shape", () => [true]],
    [undefined, "in a file that is null", () => null],
  ];
  test.each(rows)("is %s: %s", (wanted, _, decisions) => {
    const root = scratchFolder();
    const folder = join(root, "project");
    mkdirSync(folder);
    const file = join(root, "trust.json");
    writeFileSync(file, JSON.stringify(decisions(folder)));
    expect(savedDecision(file, folder)).toBe(wanted);
  });

  test.each(["{", ""])("is none in a file that can't be read: %j", (content) => {
    const root = scratchFolder();
    writeFileSync(join(root, "trust.json"), content);
    expect(savedDecision(join(root, "trust.json"), root)).toBeUndefined();
    expect(savedDecision(join(root, "gone.json"), root)).toBeUndefined();
  });
});

describe("a project", () => {
  interface Given {
    readonly piSays?: boolean;
    readonly saved?: boolean;
    readonly isApproved?: boolean;
    readonly isGated?: boolean;
    readonly byDefault?: "ask" | "always" | "never";
    readonly mode?: "tui" | "rpc" | "json";
    readonly answers?: string;
    readonly answered?: boolean;
    readonly empty?: boolean;
    /** Of the folder. */
    /** There is a file of the name that is Pi's folder elsewhere. */
    readonly piFile?: boolean;
    readonly name?: string;
  }
  async function decide(given: Given) {
    const root = join(scratchFolder(), given.name ?? "project");
    mkdirSync(root);
    if (!given.empty) writeFileSync(join(root, "mcp.json"), "{}");
    if (given.piFile) writeFileSync(join(root, ".pi"), "");
    const env = { PI_CODING_AGENT_DIR: join(root, "agent") };
    const files = await locateConfiguration({ cwd: root, env, homedir: join(root, "home") });
    const saves: boolean[] = [];
    const now: boolean[] = [];
    let asked = 0;
    const pi: PiTrust = {
      saved: () => given.saved,
      isApproved: async () => given.isApproved ?? false,
      isGated: async () => given.isGated ?? false,
      byDefault: () => given.byDefault,
      save: async (_folder, trusted) => void saves.push(trusted),
      decidedForThisRun: () => given.answered,
      decideForThisRun: (_folder, trusted) => void now.push(trusted),
    };
    const select = async (title: string, labels: string[]) => {
      asked++;
      // Pi draws it as it is.
      expect(title).not.toMatch(/[^\P{Cc}\n]/u);
      return labels.find((label) => given.answers && label.startsWith(given.answers));
    };
    const ctx = {
      cwd: root,
      mode: given.mode ?? ("json" as const),
      isProjectTrusted: () => given.piSays ?? true,
      ui: { select },
    };
    const { trusted, ...rest } = await projectTrust(files, ctx, pi);
    return { trusted, asked, saves, now, told: "notice" in rest };
  }
  const quiet = { asked: 0, saves: [], now: [], told: false };
  const ask = (answers: string): Given => ({ mode: "tui", answers });
  const rows: [what: string, given: Given, wanted: object][] = [
    // Pi's no holds, whatever was decided before.
    ["Pi says no", { piSays: false, saved: true, isApproved: true, isGated: true }, { trusted: false, ...quiet }],
    ["a saved yes", { saved: true }, { trusted: true, ...quiet }],
    ["approved for this run", { isApproved: true }, { trusted: true, ...quiet }],
    ["approved, though a no was saved", { saved: false, isApproved: true }, { trusted: true, ...quiet }],
    ["Pi asked about it", { isGated: true }, { trusted: true, ...quiet }],
    ["a saved no", { saved: false, byDefault: "always" }, { trusted: false, ...quiet }],
    ["always by default", { byDefault: "always" }, { trusted: true, ...quiet }],
    ["never by default", { byDefault: "never", mode: "tui" }, { trusted: false, ...quiet }],
    ["nobody to ask", {}, { trusted: false, ...quiet, told: true }],
    ["a program that may not answer", { mode: "rpc" }, { trusted: false, ...quiet, told: true }],
    ["asked: yes", ask("Use them, and"), { trusted: true, ...quiet, asked: 1, saves: [true] }],
    ["asked: now", ask("Use them this"), { trusted: true, ...quiet, asked: 1, now: [true] }],
    ["asked: not now", ask("Leave"), { trusted: false, ...quiet, asked: 1, now: [false] }],
    ["asked: never", ask("Never"), { trusted: false, ...quiet, asked: 1, saves: [false] }],
    ...(process.platform === "win32"
      ? []
      : ([
          [
            "a folder's name that acts on terminals",
            { ...ask(""), name: "p\u001b[2J" },
            { trusted: false, ...quiet, asked: 1, now: [false] },
          ],
        ] satisfies [string, Given, object][])),
    ["asked: no answer", ask(""), { trusted: false, ...quiet, asked: 1, now: [false] }],
    ["answered before: yes", { mode: "tui", answered: true }, { trusted: true, ...quiet }],
    ["answered before: no", { mode: "tui", answered: false }, { trusted: false, ...quiet }],
    ["answered before, and now Pi says no", { piSays: false, answered: true }, { trusted: false, ...quiet }],
    ["nothing of ours in it", { saved: true, empty: true }, { trusted: false, ...quiet }],
    ["a file .pi in it", { saved: true, empty: true, piFile: true }, { trusted: false, ...quiet }],
  ];
  test.each(rows)("%s", async (_, given, wanted) => {
    expect(await decide(given)).toEqual(wanted);
  });
});
