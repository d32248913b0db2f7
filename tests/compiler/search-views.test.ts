import { describe, expect, test } from "vitest";
import { cell, cut, widthOf, wrap } from "../../cli/columns.ts";
import { describeData, describeLines } from "../../cli/describe.ts";
import { listData, listLines } from "../../cli/list.ts";
import type { Look } from "../../cli/print.ts";
import { searchData, searchLines } from "../../cli/search.ts";
import { layerArtifacts } from "../../schemas/artifacts/layer.ts";
import type { Loaded } from "../../schemas/artifacts/read.ts";
import { openSpec } from "../artifacts-builder.ts";

const look = (width: number): Look => ({ colour: false, width });
function got<T>(loaded: Loaded<T>): T {
  if (!loaded.ok) throw new Error(loaded.diagnostic.message);
  return loaded.value;
}
const HOSTILE = "\u001b[2J\u202eevil\u0007\r\nnext";
const table = layerArtifacts({
  project: openSpec({
    servers: [
      {
        name: "docs",
        instructions: `Use it.\n\n\n${HOSTILE}`,
        toolExposure: { wipe: "hidden", later: "codemode-deferred" },
        tools: [
          {
            name: "read",
            title: "Read",
            description: "Reads a page of the documentation, all of it.\n\nSecond paragraph.",
            annotations: { readOnlyHint: true },
          },
          { name: "wipe" },
          { name: "later", limit: { maxOutputBytes: 9, source: "server" } },
          { name: `tool_${HOSTILE}`, description: HOSTILE },
          { name: "天気を調べる道具の長い名前です本当に長い名前", description: "天気 😀 👨‍👩‍👧 weather" },
          { name: "an_extraordinarily_long_tool_name_that_no_terminal_of_forty_columns_shows" },
        ],
      },
    ],
  }),
  user: openSpec({ scope: "user", servers: [{ name: "mine", exposure: "direct", tools: ["go"] }] }),
}).value;

describe("list", () => {
  test("as JSON has exactly what others rely on", () => {
    expect(got(listData(table, { server: "mine" }))).toEqual({
      servers: [
        {
          name: "mine",
          scope: "user",
          exposure: "direct",
          tools: [
            {
              name: "mcp__mine__go",
              tool: "go",
              exposure: "direct",
              maxOutputBytes: 20480,
              declared: false,
              tokens: 10,
            },
          ],
        },
      ],
    });
  });

  test("has hidden tools with --all alone", () => {
    const names = (all: boolean) =>
      got(listData(table, { all })).servers.flatMap((server) => server.tools.map((tool) => tool.tool));
    expect(names(false)).not.toContain("wipe");
    expect(names(true)).toContain("wipe");
    const wipe = got(listData(table, { all: true })).servers[0]!.tools.find((tool) => tool.tool === "wipe");
    expect(wipe).toMatchObject({ exposure: "hidden", declared: false, tokens: 0 });
  });

  test("suggests a server", () => {
    expect(listData(table, { server: "dosc" })).toMatchObject({
      ok: false,
      diagnostic: { code: "unknown-server", message: expect.stringContaining('did you mean "docs"') },
    });
    expect(got(listData(table, { server: "mcp__docs" })).servers).toHaveLength(1);
  });

  test("text names every tool with its cost", () => {
    const lines = listLines(got(listData(table, {})), look(80));
    expect(lines[0]).toBe("docs (project, codemode): 5 tools, 4 declared in 40 tokens");
    expect(lines.find((line) => line.startsWith("  later"))).toMatch(/^ {2}later +codemode-deferred +10 - +9$/);
    expect(lines).toContain("mine (user, direct): 1 tool, 0 declared in 0 tokens");
  });

  test("text tells what the budget had no room for", () => {
    const tool = {
      name: "mcp__s__a",
      tool: "a",
      exposure: "codemode",
      maxOutputBytes: 1,
      declared: true,
      tokens: 30,
    } as const;
    const tools = [
      tool,
      { ...tool, tool: "b", declared: false, tokens: 500 },
      { ...tool, tool: "c", exposure: "direct" as const, declared: false },
    ];
    const lines = listLines({ servers: [{ name: "s", scope: "project", exposure: "codemode", tools }] }, look(100));
    expect(lines[0]).toBe("s (project, codemode): 3 tools, 1 declared in 30 tokens, 1 outside the budget (500 tokens)");
    expect(lines.filter((line) => line.includes("no room"))).toEqual([expect.stringMatching(/^ {2}b /)]);
  });

  test("says so when there is nothing", () => {
    expect(listLines({ servers: [] }, look(80))).toEqual(["no servers"]);
  });
});

describe("describe", () => {
  const declare = (tool: { tool: string }) => `  function ${tool.tool}(): void;\n`;
  test("a tool as JSON: where it stands and what was declared", () => {
    expect(got(describeData(table, "docs/read", declare))).toEqual({
      kind: "tool",
      name: "mcp__docs__read",
      tool: "read",
      server: "docs",
      scope: "project",
      exposure: "codemode",
      rule: "default",
      maxOutputBytes: 20480,
      limitSource: "default",
      tokens: 10,
      declared: true,
      title: "Read",
      description: "Reads a page of the documentation, all of it.\n\nSecond paragraph.",
      annotations: { readOnlyHint: true },
      declaration: "  function read(): void;\n",
    });
  });

  test("a tool as text", () => {
    expect(describeLines(got(describeData(table, "read", declare)), look(40))).toEqual([
      "mcp__docs__read",
      "Read",
      "",
      "Reads a page of the documentation, all",
      "of it.",
      "",
      "Second paragraph.",
      "",
      "tool      read of docs (project)",
      "exposure  codemode (default)",
      "limit     20480 bytes (default)",
      "tokens    10, declared",
      "hints     read-only",
      "",
      "  function read(): void;",
      "",
    ]);
  });

  test("a server has its instructions and its tools, hidden ones not", () => {
    const data = got(describeData(table, "mcp__docs", declare));
    expect(data).toMatchObject({
      kind: "server",
      name: "docs",
      namespace: "mcp__docs",
      era: "legacy",
      protocolVersion: "2025-11-25",
    });
    expect(JSON.stringify(data)).not.toContain("wipe");
    expect(describeLines(data, look(80)).join("\n")).toContain("Use it.");
  });

  test("a hidden tool is not there", () => {
    expect(describeData(table, "mcp__docs__wipe", declare)).toMatchObject({
      ok: false,
      diagnostic: { code: "unknown-tool" },
    });
  });
});

describe("search", () => {
  test("results carry what others rely on; a namespace that is none is an error", () => {
    const { results } = got(searchData(table, "documentation", { namespace: "mcp__docs" }));
    expect(results).toEqual([
      {
        name: "mcp__docs__read",
        server: "docs",
        tool: "read",
        description: "Reads a page of the documentation, all of it.",
        score: expect.any(Number),
      },
    ]);
    expect(searchData(table, "x", { namespace: "dcos" })).toMatchObject({
      ok: false,
      diagnostic: { code: "unknown-server" },
    });
  });

  test("text says so when nothing matches", () => {
    expect(searchLines({ results: [] }, look(80))).toEqual(["no tool matches; `pimcp list` names all there are"]);
  });
});

describe("every view", () => {
  const views: [name: string, lines: (width: number) => string[]][] = [
    ["list", (width) => listLines(got(listData(table, { all: true })), look(width))],
    ["search", (width) => searchLines(got(searchData(table, "天気 weather evil read")), look(width))],
    ["describe server", (width) => describeLines(got(describeData(table, "docs", () => "")), look(width))],
    [
      "describe tool",
      (width) => describeLines(got(describeData(table, `docs/tool_${HOSTILE}`, () => HOSTILE)), look(width)),
    ],
  ];
  test.each(views)("%s fits 80 and 40 columns and prints no control characters", (_, lines) => {
    for (const width of [80, 40]) {
      for (const line of lines(width)) {
        expect(widthOf(line), line).toBeLessThanOrEqual(width);
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      }
    }
    expect(lines(80).join("\n")).toMatch(/evil|天気/);
  });
});

describe("columns", () => {
  test.each([
    ["", 0],
    ["abc", 3],
    ["天気", 4],
    ["ｆｕｌｌ", 8],
    ["é", 1],
    ["e\u0301", 1],
    ["😀", 2],
    ["👨‍👩‍👧", 2],
    ["한국", 4],
    ["a\u200bb", 2],
    ["✓", 1],
  ])("%j takes %i", (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  test("cut and cell never split a character", () => {
    expect(cut("天気予報", 5)).toBe("天気…");
    expect(cut("👨‍👩‍👧👨‍👩‍👧", 3)).toBe("👨‍👩‍👧…");
    expect(cell("天", 4)).toBe("天  ");
    expect(cell("abcdef", 3)).toBe("ab…");
  });

  test("wrap breaks at blanks and only where it must elsewhere", () => {
    expect(wrap("one two three", 8)).toEqual(["one two", "three"]);
    expect(wrap("abcdefghijkl mn", 8)).toEqual(["abcdefgh", "ijkl mn"]);
    expect(wrap("天気予報天気 x", 8)).toEqual(["天気予報", "天気 x"]);
    expect(wrap("   ", 8)).toEqual([]);
  });
});
