/** The arguments of `pimcp call`, in every way that they may be typed. */
import { describe, expect, test } from "vitest";
import { project } from "./call-project.ts";

describe("arguments", () => {
  test.each<[string, string[], unknown]>([
    ["none", [], {}],
    ["JSON", ["--args", '{"text":"a","n":1}'], { text: "a", n: 1 }],
    ["a file", ["--args", "@args.json"], { text: "from a file" }],
    ["key=value, by the schema's types", ["text=5", "n=5", "yes=true"], { text: "5", n: 5, yes: true }],
    ["key:=JSON", ['at:={"lat":1}', "ids:=[1,2]"], { at: { lat: 1 }, ids: [1, 2] }],
    ["repeated keys", ["tags=a", "tags=b", "ids=1", "ids=2"], { tags: ["a", "b"], ids: [1, 2] }],
    ["a path into an object", ["at.lat=59.9"], { at: { lat: 59.9 } }],
    ["a word over --args", ["--args", '{"text":"a","n":1}', "n=2"], { text: "a", n: 2 }],
    ["an equals sign and blanks in a value", ["text=a=b c"], { text: "a=b c" }],
    ["a value that looks like an option", ["text=--json"], { text: "--json" }],
  ])("%s", async (_, words, wanted) => {
    const { work } = await project();
    work.write("project/args.json", '\ufeff{"text":"from a file"}');
    const { code, stdout, stderr } = await work.run("call", "s", "echo", ...words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual(wanted);
  });

  test("standard input", async () => {
    const { work } = await project();
    const input = JSON.stringify({ text: "x".repeat(200_000) });
    const { code, stdout } = await work.start(["call", "s", "echo", "--args", "-", "--json"], { input }).finished;
    expect(code).toBe(0);
    expect(JSON.parse(stdout).content[0].text).toBe(input);
  });

  test.each([[["mcp__s__echo"]], [["s/echo"]], [["s", "echo"]], [["s", "mcp__s__echo"]], [["echo"]]])(
    "the tool as %j",
    async (words) => {
      const { work } = await project();
      expect(await work.run("call", ...words, "n=1")).toMatchObject({ code: 0, stdout: '{"n":1}\n', stderr: "" });
    },
  );

  test.each<[string, string[], number, RegExp]>([
    ["no JSON", ["--args", "{oops"], 2, /--args is not JSON/],
    ["an empty --args", ["--args", ""], 2, /--args needs a value/],
    ["a file that isn't there", ["--args", "@nope.json"], 2, /nope\.json can't be read \(ENOENT\)/],
    ["words over something that is no object", ["--args", "[1]", "n=1"], 2, /object only/],
    ["no key=value", ["word"], 2, /"word" is not key=value/],
    ["a name that isn't declared", ["texts=a"], 2, /unknown argument texts; did you mean text\?/],
    ["a value of another type", ["n=five"], 2, /n: expected integer/],
    ["a bad --timeout", ["--timeout", "soon"], 2, /--timeout is a positive number/],
    ["a --timeout of zero", ["--timeout", "0"], 2, /--timeout is a positive number/],
    ["JSON that doesn't fit", ["--args", '{"n":"five"}'], 1, /\bn\b.*integer/],
    ["JSON that is no object", ["--args", "[1]"], 1, /object/],
  ])("%s", async (_, words, code, message) => {
    const { stub, work } = await project();
    const run = await work.run("call", "s", "echo", ...words);
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code, stdout: "" });
    expect(run.stderr).toMatch(message);
    expect(stub.log().filter(({ method }) => method === "tools/call")).toEqual([]);
    const json = await work.run("call", "s", "echo", ...words, "--json");
    expect(json.code).toBe(code);
    expect(JSON.parse(json.stdout)).toEqual({
      error: expect.objectContaining({ message: expect.stringMatching(message) }),
    });
  });
});
