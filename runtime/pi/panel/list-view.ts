/** The panel's list of servers: one a row, and below it what is to be said of the selected one. */
import type { Diagnostic } from "../../../schemas/diagnostic.ts";
import { placed } from "../../../schemas/placed.ts";
import {
  costOf,
  count,
  isOutOfStep,
  KIND_TEXT,
  NO_PROJECT,
  NO_SERVERS,
  placeTaken,
  remarksOn,
} from "../command/mcp-text.ts";
import type { ActionOutcome } from "../servers/action-outcome.ts";
import { type ServerKind, type ServerRow, tokensOf } from "../servers/server-overview.ts";
import { terminalLine, terminalText } from "../terminal-text.ts";
import { helpLines, keysOf } from "./keys.ts";
import { type Cell, type Colour, positionText, type Screen, windowOf } from "./screen.ts";

export interface ListState {
  readonly rows: readonly ServerRow[];
  readonly selected: number;
  /** What goes on with servers just now, by name. */
  readonly busy: ReadonlyMap<string, string>;
  /** What the last action on a server came to. */
  readonly outcomes: ReadonlyMap<string, ActionOutcome>;
  /** What no row says. */
  readonly problems: readonly Diagnostic[];
  readonly isProjectTrusted: boolean;
}

export const KIND_COLOUR: Readonly<Record<ServerKind, Colour>> = {
  "needs-sign-in": "warning",
  failed: "error",
  invalid: "error",
  "not-compiled": "warning",
  gone: "warning",
  connecting: "accent",
  connected: "success",
  "not-connected": "muted",
  disabled: "dim",
};

export function listLines(state: ListState, screen: Screen): readonly string[] {
  const { rows, selected, problems, isProjectTrusted } = state;
  const title = ` ${screen.bold(screen.paint("accent", "MCP servers"))}${screen.paint("dim", positionText(rows.length, selected, screen.rows))}`;
  return [
    screen.rule(),
    screen.cut(title),
    ...problems
      .slice(-3)
      .flatMap((one) => screen.wrapped(terminalLine(placed(one)), one.severity === "error" ? "error" : "warning", 2)),
    "",
    ...serverTable(state, screen),
    "",
    ...selectionLines(state, screen),
    ...(isProjectTrusted ? [] : screen.wrapped(NO_PROJECT, "dim", 2)),
    ...helpLines(screen, [["↑↓", "choose"], ["enter", "open"], ...keysOf(rows[selected]), ["esc", "close"]]),
    screen.rule(),
  ];
}

function serverTable({ rows, selected, busy }: ListState, screen: Screen): readonly string[] {
  if (rows.length === 0) {
    return screen.wrapped(NO_SERVERS, "muted", 4);
  }
  const { from, to } = windowOf(rows.length, selected, screen.rows);
  const cells = rows.slice(from, to).map((row): readonly Cell[] => {
    const { name, kind, tools, exposure, source, scope } = row;
    const { declared, total } = tokensOf(row);
    const marks = remarksOn(row)
      .map((remark) => `, ${remark}`)
      .join("");
    const going = busy.get(name);
    return [
      { text: terminalLine(name) },
      going === undefined
        ? { text: `${KIND_TEXT[kind]}${marks}`, colour: isOutOfStep(row) ? "warning" : KIND_COLOUR[kind] }
        : { text: terminalLine(going), colour: "accent" },
      { text: tools.length === 0 ? "" : count(tools.length, "tool"), isNumber: true },
      { text: exposure, colour: exposure === "hidden" ? "dim" : "muted" },
      { text: total === 0 ? "" : `${declared}/${total} tokens`, colour: "muted", isNumber: true },
      { text: source === "" ? scope : terminalLine(source), colour: "dim" },
    ];
  });
  return screen.table(cells, selected - from);
}

/** What the row has no room for, and why the server is as it is. */
function selectionLines({ rows, selected, outcomes }: ListState, screen: Screen): readonly string[] {
  const row = rows[selected];
  if (row === undefined) return [];
  const facts = [
    ...costOf(row),
    row.exposure,
    ...(row.override === undefined ? [row.source] : [`${row.source}, overridden at ${row.override}`]),
    ...(row.inPlaceOf === undefined ? [] : [placeTaken(row.inPlaceOf)]),
  ].filter((fact) => fact !== "");
  return [...screen.wrapped(terminalLine(facts.join(" · ")), "muted", 3), ...trouble(row, outcomes, screen)];
}

/** The last outcome, then the reason of the state: errors stand where they arose. */
export function trouble(row: ServerRow, outcomes: ListState["outcomes"], screen: Screen): readonly string[] {
  const outcome = outcomes.get(row.name);
  const said = new Set(outcome?.text.split("\n").map((line) => line.trim()));
  const colour = row.kind === "failed" || row.kind === "invalid" ? "error" : "warning";
  return [
    ...(outcome === undefined
      ? []
      : terminalText(outcome.text)
          .split("\n")
          .slice(0, 6)
          .flatMap((line) => screen.wrapped(line, outcome.ok ? "success" : "error", 3))),
    ...row.reason
      // The outcome may have said it just now.
      .filter((line) => !said.has(line.trim()))
      .slice(0, 6)
      .flatMap((line) => screen.wrapped(terminalLine(line), colour, 3)),
  ];
}
