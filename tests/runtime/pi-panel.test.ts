/** The panel without a terminal: what it draws at any width and of any text, and what its keys do. */
import * as tui from "@earendil-works/pi-tui";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listLines } from "../../runtime/pi/panel/list-view.ts";
import { Panel, type PanelOptions } from "../../runtime/pi/panel/panel.ts";
import { Screen, windowOf } from "../../runtime/pi/panel/screen.ts";
import { SignInView } from "../../runtime/pi/panel/sign-in-view.ts";
import type { ServerKind, ServerRow, ToolRow } from "../../runtime/pi/servers/server-overview.ts";
import { eventually } from "../servers/run.ts";

const plain = { fg: (_: string, text: string) => text, bold: (text: string) => text };
const KEYS = new Map([
  ["\u001b[A", "tui.select.up"],
  ["\u001b[B", "tui.select.down"],
  ["\r", "tui.select.confirm"],
  ["\u001b", "tui.select.cancel"],
  ["\u001b[6~", "tui.select.pageDown"],
  ["\u001b[5~", "tui.select.pageUp"],
]);
const [UP, DOWN, ENTER, ESCAPE, PAGE_DOWN, PAGE_UP] = [
  "\u001b[A",
  "\u001b[B",
  "\r",
  "\u001b",
  "\u001b[6~",
  "\u001b[5~",
] as const;

function toolRow(name: string, changes: Partial<ToolRow> = {}): ToolRow {
  return {
    tool: name,
    exposure: "codemode",
    rule: "default",
    isDeclared: true,
    tokens: 20,
    description: `Does ${name}`,
    ...changes,
  };
}

function row(name: string, changes: Partial<ServerRow> = {}): ServerRow {
  return {
    name,
    kind: "connected",
    reason: [],
    scope: "project",
    source: "mcp.json:3:5",
    exposure: "codemode",
    tools: [toolRow("echo"), toolRow("wipe", { exposure: "hidden", isDeclared: false })],
    isCompiled: true,
    isStale: false,
    transport: "stdio, legacy 2025-11-25",
    isSignable: false,
    ...changes,
  };
}

interface Made {
  readonly panel: Panel;
  readonly called: string[];
  readonly screen: (width?: number) => string;
  readonly closed: () => boolean;
}

function made(
  rows: readonly ServerRow[],
  changes: { readonly lines?: number; readonly outcome?: () => Promise<unknown> } = {},
): Made {
  const called: string[] = [];
  let isClosed = false;
  const outcome = changes.outcome ?? (async () => ({ ok: true, text: "it is done" }));
  const options = {
    around: { session: { onChange: () => () => {}, isProjectTrusted: true, signal: AbortSignal.abort() } },
    actions: {
      run: (action: string, { name }: ServerRow) => {
        called.push(`${action} ${name}`);
        return outcome();
      },
      toolExposure: ({ name }: ServerRow, { tool }: ToolRow) => {
        called.push(`exposure ${name}/${tool}`);
        return outcome();
      },
    },
    current: { rows, problems: [] },
    tui: { terminal: { rows: changes.lines ?? 40 }, requestRender: () => {} },
    theme: plain,
    keybindings: { matches: (data: string, name: string) => KEYS.get(data) === name },
    measure: tui,
    close: () => {
      isClosed = true;
    },
  } as unknown as PanelOptions;
  const panel = new Panel(options);
  return { panel, called, screen: (width = 100) => panel.render(width).join("\n"), closed: () => isClosed };
}

function press({ panel }: Made, ...keys: readonly string[]): void {
  for (const key of keys) panel.handleInput(key);
}

describe("the list", () => {
  test("has a row for each server, and says more of the selected one", () => {
    const shown = made([
      row("docs", { kind: "failed", reason: ["the server process exited with status 7", "stderr: no licence"] }),
      row("mine", { scope: "user", source: "~/.pi/agent/mcp.json:2:3", override: ".pi/mcp.json:3:5", isStale: true }),
    ]);
    expect(shown.screen()).toBe(
      [
        "─".repeat(100),
        " MCP servers",
        "",
        "→ docs  failed            2 tools  codemode  20/40 tokens  mcp.json:3:5",
        "  mine  connected, stale  2 tools  codemode  20/40 tokens  ~/.pi/agent/mcp.json:2:3",
        "",
        " 2 tools · 20 of 40 tokens declared · codemode · mcp.json:3:5",
        " the server process exited with status 7",
        " stderr: no licence",
        "",
        " ↑↓ choose · enter open · r reconnect · c compile · e exposure · d disable · esc close",
        "─".repeat(100),
      ].join("\n"),
    );
    press(shown, DOWN);
    const wide = shown.screen(130);
    expect(wide).toContain("~/.pi/agent/mcp.json:2:3, overridden at .pi/mcp.json:3:5");
    expect(wide).toContain("d disable · p disable in this project");
  });

  test("at 40 columns keeps names and states, and breaks the rest", () => {
    const lines = made([row("docs"), row("a-server-with-a-long-name", { kind: "needs-sign-in", isSignable: true })])
      .screen(40)
      .split("\n");
    expect(lines.slice(3, 5).map(tui.stripTerminalSequences)).toEqual([
      "→ docs                     connected",
      "  a-server-with-a-long-n…  needs sign-in",
    ]);
    for (const line of lines) expect(tui.visibleWidth(line)).toBeLessThanOrEqual(40);
  });

  test("scrolls with the selection, which goes around the ends", () => {
    const many = made(
      Array.from({ length: 100 }, (_, index) => row(`server-${String(index).padStart(3, "0")}`)),
      { lines: 30 },
    );
    expect(many.screen()).toContain("(1 of 100)");
    expect(many.screen()).toContain("→ server-000");
    expect(many.screen()).not.toContain("server-050");
    press(many, UP);
    expect(many.screen()).toContain("→ server-099");
    press(many, DOWN, PAGE_DOWN, PAGE_DOWN);
    expect(many.screen()).toContain("→ server-020");
    press(many, PAGE_UP, PAGE_UP, PAGE_UP);
    expect(many.screen()).toContain("→ server-000");
    expect(many.panel.render(100).length).toBeLessThan(30);
  });

  test("says so where there is nothing", () => {
    const none = made([]);
    expect(none.screen()).toContain("No MCP servers are configured");
    press(none, DOWN, ENTER, "d", "x");
    expect(none.called).toEqual([]);
    press(none, ESCAPE);
    expect(none.closed()).toBe(true);
  });
});

describe("keys", () => {
  const rows: [kind: ServerKind, changes: Partial<ServerRow>, does: string[]][] = [
    ["connected", {}, ["reconnect", "compile", "exposure", "toggle"]],
    [
      "needs-sign-in",
      { isSignable: true, scope: "user" },
      ["login", "logout", "reconnect", "compile", "exposure", "toggle", "toggle-in-project"],
    ],
    ["not-compiled", { isCompiled: false }, ["compile", "exposure", "toggle"]],
    ["disabled", { scope: "user" }, ["toggle", "toggle-in-project"]],
    ["invalid", {}, []],
    ["gone", { scope: "user" }, []],
    ["connected", { scope: "extension" }, ["reconnect", "compile", "exposure", "toggle"]],
  ];
  test.each(rows)("of a server that is %s %j", async (kind, changes, does) => {
    const one = made([row("docs", { kind, ...changes })], { outcome: async () => undefined });
    for (const key of "sorcedpxyz") {
      press(one, key);
      // One action at a time: the next key counts once the last one's is done.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(one.called).toEqual(does.map((action) => `${action} docs`));
    const help = one.screen();
    expect(help.includes("reconnect")).toBe(does.includes("reconnect"));
    expect(help.includes("d enable")).toBe(kind === "disabled");
  });

  test("a second key while an action runs does nothing, and the outcome stands where it belongs", async () => {
    let finish = (_: unknown) => {};
    const one = made([row("docs"), row("other")], { outcome: () => new Promise((resolve) => (finish = resolve)) });
    press(one, "d", "d", "r");
    expect(one.called).toEqual(["toggle docs"]);
    expect(one.screen()).toContain("docs   waiting…");
    finish({ ok: false, text: "mcp.json can't be changed:\n  permission denied \u001b[31m" });
    await eventually(() => !one.screen().includes("waiting…"), "the end of it");
    expect(one.screen()).toContain("permission denied \\u001b[31m");
    press(one, DOWN);
    expect(one.screen()).not.toContain("permission denied");
    press(one, UP, "r");
    expect(one.called).toEqual(["toggle docs", "reconnect docs"]);
    expect(one.screen()).not.toContain("permission denied");
  });

  test("what the outcome says is not said again as the reason of the state", async () => {
    const reason = ['server "docs" exited with status 3', "stderr: no licence"];
    const text = ['"docs" could not be compiled:', ...reason.map((line) => `  ${line}`)].join("\n");
    const one = made([row("docs", { kind: "not-compiled", reason })], { outcome: async () => ({ ok: false, text }) });
    const times = () => one.screen().split(reason[0]!).length - 1;
    expect(times()).toBe(1);
    press(one, "c");
    await eventually(() => one.screen().includes("could not be compiled"), "the outcome");
    expect(times()).toBe(1);
  });

  test("that a server has other tools for this session alone is a remark, that they changed a warning", () => {
    const tools = [{ tool: "more", change: "added", members: [] }] as const;
    const stateOf = (isOfClient?: true) => {
      const theme = { ...plain, fg: (colour: string, text: string) => `<${colour}>${text}` };
      const rows = [row("docs", { drift: { server: "docs", tools, ...(isOfClient && { isOfClient }) } })];
      const state = { rows, selected: 0, busy: new Map(), outcomes: new Map(), problems: [], isProjectTrusted: true };
      const screen = new Screen({ theme, measure: tui, width: 200, rows: 10 });
      return /<\w+>connected, \w+ \w+/.exec(listLines(state, screen).join("\n"))?.[0];
    };
    expect(stateOf(true)).toBe("<success>connected, other tools");
    expect(stateOf()).toBe("<warning>connected, tools changed");
  });

  test("an action that breaks is shown and ends nothing", async () => {
    const one = made([row("docs")], { outcome: () => Promise.reject(new Error("a bug")) });
    press(one, "r");
    await eventually(() => one.screen().includes("Error: a bug"), "the error");
  });
});

describe("a server", () => {
  test("shows its tools; enter changes the exposure of the selected one, escape goes back", () => {
    const one = made([row("docs", { drift: { server: "docs", tools: [] }, transport: "" })]);
    press(one, ENTER, DOWN);
    expect(one.screen()).toContain(
      [
        " MCP server docs",
        " connected, tools changed",
        " codemode · 2 tools · 20 of 40 tokens declared",
        " project server",
        " defined at mcp.json:3:5",
        "",
        "  echo  codemode  20 tokens  declared  Does echo",
        "→ wipe  hidden    20 tokens            Does wipe",
        "",
        " Does wipe",
      ].join("\n"),
    );
    press(one, ENTER);
    expect(one.called).toEqual(["exposure docs/wipe"]);
    press(one, ESCAPE);
    expect(one.screen()).toContain("MCP servers");
    expect(one.closed()).toBe(false);
  });

  test("with many tools scrolls", () => {
    const tools = Array.from({ length: 300 }, (_, index) => toolRow(`tool_${index}`));
    const one = made([row("docs", { tools })], { lines: 24 });
    press(one, ENTER, UP);
    expect(one.screen()).toContain("(300 of 300)");
    expect(one.screen()).toContain("→ tool_299");
    expect(one.panel.render(100).length).toBeLessThan(30);
  });
});

describe("signing in", () => {
  const address = `https://auth.example.com/authorize?state=${"x".repeat(150)}`;

  function signIn(rejected = "") {
    const [copied, answers]: [string[], (string | undefined)[]] = [[], []];
    const view = new SignInView({
      intro: 'Sign in to "docs" \u001b[2J',
      rejected,
      address,
      copyKey: "ctrl+x",
      tui: { requestRender: () => {} },
      theme: plain,
      keybindings: {
        matches: (data: string, name: string) =>
          (KEYS.get(data) ?? (data === "\u0018" ? "app.message.copy" : "")) === name,
      } as never,
      measure: tui,
      copy: async (text) => {
        if (copied.length > 0) throw new Error("no clipboard");
        copied.push(text);
      },
      done: (answer) => answers.push(answer),
    });
    return { view, copied, answers };
  }

  test("shows the address as a link on each of its lines, and fits", () => {
    const { view } = signIn("What was pasted is not an address.");
    for (const width of [1, 2, 20, 40, 100]) {
      const lines = view.render(width);
      for (const line of lines) expect(tui.visibleWidth(line)).toBeLessThanOrEqual(width);
      const links = lines.filter((line) => line.includes("\u001b]8;;https"));
      expect(links).toHaveLength(Math.ceil(address.length / width));
      for (const line of links) expect(line).toContain(address);
      expect(links.map(tui.stripTerminalSequences).join("")).toBe(address);
    }
    expect(view.render(100).join("\n")).toContain("\\u001b[2J");
    expect(view.render(100).join("\n")).toContain("What was pasted is not an address.");
  });

  test("gives back what was pasted, copies the address, and gives up", async () => {
    const { view, copied, answers } = signIn();
    view.handleInput(ENTER);
    view.handleInput("\u001b[200~ http://127.0.0.1:1/callback?code=1 \u001b[201~");
    view.handleInput(ENTER);
    view.handleInput(ESCAPE);
    expect(answers).toEqual(["http://127.0.0.1:1/callback?code=1", undefined]);
    view.handleInput("\u0018");
    await eventually(() => view.render(100).join("\n").includes("copied"), "the copy");
    expect(copied).toEqual([address]);
    view.handleInput("\u0018");
    await eventually(() => view.render(100).join("\n").includes("no clipboard"), "the failure");
  });
});

test("no line is wider than the screen or obeyed by a terminal, whatever servers call themselves", () => {
  const nasty = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("\u001b[2J\u0007", "日本語のツール", "a\nb\rc\td", "👩‍👩‍👧‍👦", "\u202eevil", "", "x".repeat(500)),
  );
  const someTools = fc.array(
    nasty.map((text) => toolRow(text, { description: text })),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(nasty, nasty, someTools), { maxLength: 30 }),
      fc.integer({ min: 1, max: 130 }),
      fc.boolean(),
      (servers, width, opens) => {
        const one = made(
          servers.map(([name, reason, tools]) => row(name, { reason: [reason], tools, source: reason })),
        );
        if (opens) press(one, ENTER);
        for (const line of one.panel.render(width)) {
          expect(tui.visibleWidth(line)).toBeLessThanOrEqual(width);
          expect(line.replaceAll("\u001b[0m", "")).not.toMatch(
            /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
          );
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("a window of a list always has the selected row in it", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 500 }),
      fc.nat(499),
      fc.integer({ min: 1, max: 40 }),
      (length, index, rows) => {
        const selected = index % length;
        const { from, to } = windowOf(length, selected, rows);
        expect(from).toBeGreaterThanOrEqual(0);
        expect(to).toBeLessThanOrEqual(length);
        expect(to - from).toBe(Math.min(rows, length));
        expect(selected >= from && selected < to).toBe(true);
      },
    ),
  );
});
