/** What was found in a script, as a model reads it: each finding with its place, the line, and the right spelling. */
import type { ScriptFinding } from "../../../schemas/script-finding.ts";
import { codeFrame } from "../../sandbox/place.ts";

/** Findings that are told; who has more starts with these. */
const MAX_TOLD = 12;

/** Why a script was not run. */
export function refusal(findings: readonly ScriptFinding[], code: string): string {
  const errors = findings.filter(({ severity }) => severity === "error");
  const isSyntax = errors.some(({ kind }) => kind === "syntax");
  const count = errors.length === 1 ? "1 error" : `${errors.length} errors`;
  const head = isSyntax
    ? "Script not run: it can't be parsed."
    : `Script not run: checked against the declarations of the tools it calls, it has ${count}.`;
  return [head, findingLines(findings, code), "", "No tool calls were made."].join("\n");
}

/** What was found in a script that was run all the same. */
export function remarks(findings: readonly ScriptFinding[], code: string): string {
  return ["Type check of the script, which was run:", findingLines(findings, code)].join("\n");
}

function findingLines(findings: readonly ScriptFinding[], code: string): string {
  const told = findings.slice(0, MAX_TOLD).map((finding) => {
    const { severity, message, line, column } = finding;
    return `${line}:${column}: ${severity}: ${message}\n${codeFrame(code, finding)}`;
  });
  const left = findings.length - told.length;
  return [...told, ...(left > 0 ? [`… and ${left} more`] : [])].join("\n");
}
