/** One server in the panel: what it is and where it comes from, and its tools with their exposure and cost. */
import { costOf, count, KIND_TEXT, originOf, remarksOn } from "../command/mcp-text.ts";
import type { ServerRow } from "../servers/server-overview.ts";
import { shortLine, terminalLine } from "../terminal-text.ts";
import { helpLines, keysOf } from "./keys.ts";
import { KIND_COLOUR, type ListState, trouble } from "./list-view.ts";
import { type Cell, positionText, type Screen, windowOf } from "./screen.ts";

/** UTF-16 units of a tool's description that are looked at: they are drawn with every key. */
const MAX_DESCRIPTION = 500;

export interface ServerViewState extends Pick<ListState, "busy" | "outcomes"> {
  readonly row: ServerRow;
  /** Index of the selected tool. */
  readonly selected: number;
}

export function serverLines(state: ServerViewState, screen: Screen): readonly string[] {
  const { row, selected } = state;
  const title = ` ${screen.bold(screen.paint("accent", `MCP server ${terminalLine(row.name)}`))}${screen.paint("dim", positionText(row.tools.length, selected, screen.rows))}`;
  const tool = row.tools[selected];
  return [
    screen.rule(),
    screen.cut(title),
    ...factLines(state, screen),
    "",
    ...toolTable(row, selected, screen),
    "",
    ...(tool === undefined ? [] : screen.wrapped(shortLine(tool.description, MAX_DESCRIPTION), "muted", 3)),
    ...helpLines(screen, [
      ...(tool === undefined
        ? []
        : ([
            ["↑↓", "choose"],
            ["enter", "exposure of the tool"],
          ] as const)),
      ...keysOf(row),
      ["esc", "back"],
    ]),
    screen.rule(),
  ];
}

function factLines({ row, busy, outcomes }: ServerViewState, screen: Screen): readonly string[] {
  const { kind, transport, exposure, scope } = row;
  const going = busy.get(row.name);
  const state = [KIND_TEXT[kind], ...remarksOn(row)].join(", ");
  return [
    ...screen.wrapped(
      going === undefined ? state : terminalLine(going),
      going === undefined ? KIND_COLOUR[kind] : "accent",
      2,
    ),
    ...screen.wrapped(terminalLine([exposure, ...costOf(row)].join(" · ")), "muted", 2),
    ...screen.wrapped(
      terminalLine(
        [transport, scope === "extension" ? "registered by an extension" : `${scope} server`]
          .filter((fact) => fact !== "")
          .join(" · "),
      ),
      "muted",
      2,
    ),
    ...originOf(row).flatMap((line) => screen.wrapped(terminalLine(line), "dim", 2)),
    ...trouble(row, outcomes, screen),
  ];
}

function toolTable({ tools, kind, exposure: own }: ServerRow, selected: number, screen: Screen): readonly string[] {
  if (tools.length === 0) {
    const why = kind === "disabled" ? "A disabled server has no tools." : "No tools are compiled.";
    return screen.wrapped(why, "muted", 2);
  }
  const { from, to } = windowOf(tools.length, selected, screen.rows);
  const cells = tools
    .slice(from, to)
    .map(({ tool, exposure, tokens, isDeclared, description }): readonly Cell[] => [
      { text: terminalLine(tool) },
      { text: exposure, colour: exposure === "hidden" ? "dim" : exposure === own ? "muted" : "accent" },
      { text: tokens === undefined ? "" : count(tokens, "token"), colour: "muted", isNumber: true },
      { text: isDeclared ? "declared" : "", colour: "success" },
      { text: screen.cut(shortLine(description, MAX_DESCRIPTION), 60), colour: "dim" },
    ]);
  return screen.table(cells, selected - from);
}
