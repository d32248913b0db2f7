/**
 * How calls of MCP tools and their results are drawn: a line for the call and five for the result until it is
 * expanded. Text of servers never reaches the terminal as it is. The components are Pi's own and are handed in, because only
 * Pi has the copy that its screen uses.
 */
import type { AgentToolResult, ToolDefinition } from "@earendil-works/pi-coding-agent";
import { shortLine, terminalLine, terminalText } from "../terminal-text.ts";
import type { CallDetails } from "./call-tool.ts";

export type PiTui = Pick<typeof import("@earendil-works/pi-tui"), "Text">;
type Renderers = Required<Pick<ToolDefinition, "renderCall" | "renderResult">>;
type Component = ReturnType<Renderers["renderCall"]>;

/** Lines of a result that are shown before it is expanded. */
const PREVIEW_LINES = 5;
/** Characters of the arguments in the one line of a call. */
const MAX_ARGUMENTS_LENGTH = 160;

/** `label` is `server/tool`, printable. */
export function callRenderers(tui: PiTui, label: string): Renderers {
  return {
    renderCall: (args, theme, { expanded }) => {
      const title = theme.fg("toolTitle", theme.bold(label));
      const shown = expanded ? expandedArguments(args) : argumentsLine(args);
      return new tui.Text(shown === "" ? title : `${title} ${theme.fg("muted", shown)}`, 0, 0);
    },
    renderResult: (result, { expanded }, theme, context) => {
      const colour = context.isError ? "error" : "toolOutput";
      const lines = terminalText(shownText(result)).split("\n");
      const body = new tui.Text(lines.map((line) => theme.fg(colour, line)).join("\n"), 0, 0);
      const path = (result.details as Partial<CallDetails> | undefined)?.fullOutputPath;
      const foot = path === undefined ? [] : [theme.fg("muted", `Full output: ${terminalLine(path)}`)];
      if (expanded) return stacked(body, foot);
      const more = (hidden: number) =>
        `${theme.fg("muted", `… ${hidden} more lines,`)} ${context.keyHint("app.tools.expand", "to expand")}`;
      return preview(body, more, foot);
    },
  };
}

function stacked(body: Component, foot: readonly string[]): Component {
  return { render: (width) => [...body.render(width), ...foot], invalidate: () => body.invalidate() };
}

/** The first lines as the terminal wraps them: a result is often one very long line. */
function preview(body: Component, more: (hidden: number) => string, foot: readonly string[]): Component {
  return {
    render(width) {
      const lines = body.render(width);
      const hidden = lines.length - PREVIEW_LINES;
      return hidden > 0 ? [...lines.slice(0, PREVIEW_LINES), more(hidden), ...foot] : [...lines, ...foot];
    },
    invalidate: () => body.invalidate(),
  };
}

function shownText({ content }: AgentToolResult<unknown>): string {
  return content
    .map((block) => (block.type === "text" ? block.text : `[${block.mimeType} image]`))
    .join("\n")
    .trim();
}

function argumentsLine(args: unknown): string {
  return shortLine(jsonOf(args, 0), MAX_ARGUMENTS_LENGTH);
}

function expandedArguments(args: unknown): string {
  const text = jsonOf(args, 2);
  return text === "" ? "" : `\n${terminalText(text)}`;
}

/** Empty for a call without arguments, and while they are still being written. */
function jsonOf(args: unknown, indent: number): string {
  if (typeof args !== "object" || args === null || Object.keys(args).length === 0) return "";
  return JSON.stringify(args, undefined, indent);
}
