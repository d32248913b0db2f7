/** What `--help` prints, within the width of the terminal. */
import { wrap as wrapLine } from "./columns.ts";
import { COMMANDS, COMMON_OPTIONS, type CommandSpec, type OptionSpec } from "./commands.ts";
import { asText } from "./print.ts";

/** All commands. */
export function overview(width: number): string {
  const rows = COMMANDS.map(({ name, summary }) => [name, summary] as const);
  return asText([
    ...wrap("pimcp: compiles mcp.json into typed, reviewable artifacts", width),
    "",
    "Usage: pimcp <command> [options]",
    "",
    ...columns(rows, width),
    "",
    ...wrap("Every command has --help, --json, --config FILE and --cwd DIR.", width),
  ]);
}

/** One command, its options those of its own first. */
export function commandHelp(command: CommandSpec, width: number): string {
  const options = { ...command.options, ...COMMON_OPTIONS, ...command.options };
  const rows = Object.entries(options).map(([name, spec]) => [optionHead(name, spec), spec.help] as const);
  return asText([
    ...wrap(`pimcp ${command.name}: ${command.summary}`, width),
    "",
    ...wrap(`Usage: pimcp ${[command.name, command.operands].filter(Boolean).join(" ")} [options]`, width),
    "",
    ...columns(rows, width),
    ...(command.details ? ["", ...wrap(command.details, width)] : []),
  ]);
}

function optionHead(name: string, spec: OptionSpec): string {
  return `--${name}${spec.type === "string" ? ` ${spec.value ?? "VALUE"}` : ""}`;
}

/** Two columns; the second moves below the first where there is no room beside it. */
function columns(rows: readonly (readonly [string, string])[], width: number): string[] {
  const first = Math.max(...rows.map(([head]) => head.length));
  const beside = width - first - 4;
  if (beside >= 30) {
    return rows.flatMap(([head, words]) =>
      wrap(words, beside).map((line, index) => `  ${(index === 0 ? head : "").padEnd(first)}  ${line}`),
    );
  }
  return rows.flatMap(([head, words]) => [`  ${head}`, ...wrap(words, width - 6).map((line) => `      ${line}`)]);
}

/** Line ends of the text are kept. */
function wrap(words: string, width: number): string[] {
  return words.split("\n").flatMap((paragraph) => (paragraph === "" ? [""] : wrapLine(paragraph, width)));
}
