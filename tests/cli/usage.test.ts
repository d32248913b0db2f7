import { describe, expect, test } from "vitest";
import { COMMANDS, COMMON_OPTIONS } from "../../cli/commands.ts";
import { Stub, Workspace } from "./pimcp.ts";

describe("help", () => {
  test("alone and with --help, the commands there are", async () => {
    const work = new Workspace();
    for (const args of [[], ["--help"], ["-h"], ["help"]]) {
      const { code, stdout, stderr } = await work.run(...args);
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
      for (const { name, summary } of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${name}\\b.*${summary}$`, "m"));
    }
  });

  test.each(COMMANDS.map((command) => command.name))("of %s names each of its options, in 80 columns", async (name) => {
    const { code, stdout, stderr } = await new Workspace().run(name, "--help");
    expect(code).toBe(0);
    expect(stderr).toBe("");
    const { options } = COMMANDS.find((command) => command.name === name)!;
    for (const [option, { help }] of Object.entries({ ...COMMON_OPTIONS, ...options })) {
      const line = stdout.split("\n").find((one) => one.startsWith(`  --${option} `));
      expect(line).toContain(help.split(" ", 3).join(" "));
    }
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  test("--version prints the version alone", async () => {
    const { code, stdout } = await new Workspace().run("--version");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe("usage errors exit with 2, print nothing on stdout and say what would be right", () => {
  const rows: [args: string[], says: RegExp][] = [
    [["complie"], /unknown command "complie"; did you mean `compile`\?/],
    [["frobnicate"], /unknown command "frobnicate"\nRun `pimcp --help`/],
    [["compile", "--offlien"], /'--offlien'; did you mean `--offline`\?/],
    [["compile", "--server"], /--server/],
    [["compile", "extra"], /unexpected argument "extra"/],
    [["compile", "--scope", "everything"], /--scope is project, user or all, not "everything"/],
    [["compile", "--refresh", "--offline"], /--refresh .* --offline/],
    [["compile", "--check=yes"], /--check/],
    [["describe"], /missing TOOL/],
    [["watch", "--scope", "x"], /--scope/],
  ];
  test.each(rows)("%j", async (args, says) => {
    const work = new Workspace();
    work.servers({ a: new Stub().entry });
    const { code, stdout, stderr } = await work.run(...args);
    expect(stderr).toMatch(says);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(work.has("project/generated")).toBe(false);
  });
});
