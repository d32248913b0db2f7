/** Tools to check scripts against: closed and open schemas, results as objects, unions and nothing, and how findings are told. */
import { openScriptCheck } from "../../compiler/scripts/check-script.ts";
import type { CheckedTool, CheckFinding, CheckRequest } from "../../schemas/script-finding.ts";

/** An object schema, closed unless `open`. */
export const object = (properties: object, required: string[] = [], open = false) => ({
  type: "object",
  properties,
  required,
  ...(open ? {} : { additionalProperties: false }),
});

export const TOOLS: readonly CheckedTool[] = [
  {
    name: "mcp__docs__search",
    inputSchema: object(
      {
        query: { type: "string" },
        limit: { type: "integer", minimum: 1 },
        kind: { enum: ["page", "code"] },
        filter: object({ from: { type: "string" }, tags: { type: "array", items: { type: "string" } } }, ["from"]),
      },
      ["query"],
    ),
    outputSchema: object(
      {
        total: { type: "integer" },
        state: { enum: ["open", "closed"] },
        next: { type: ["string", "null"] },
        items: {
          type: "array",
          items: object({ id: { type: "string" }, title: { type: "string" }, score: { type: "number" } }, ["id"]),
        },
      },
      ["total", "items"],
    ),
  },
  { name: "mcp__docs__ping", inputSchema: object({}) },
  { name: "mcp__docs__raw", inputSchema: { type: "object" } },
  {
    name: "mcp__open__lookup",
    inputSchema: object({ identifier: { type: "string" }, language: { type: "string" } }, ["identifier"], true),
    outputSchema: object({ temperature: { type: "number" }, place: { type: "string" } }, ["temperature"], true),
  },
  {
    name: "mcp__geo__find",
    inputSchema: object({ at: { anyOf: [{ type: "string" }, { type: "array", items: { type: "number" } }] } }, ["at"]),
    outputSchema: {
      anyOf: [
        object({ type: { const: "city" }, people: { type: "number" } }, ["type", "people"]),
        object({ type: { const: "road" }, metres: { type: "number" } }, ["type", "metres"]),
      ],
    },
  },
];

let check: ((request: CheckRequest) => readonly CheckFinding[]) | undefined;

/** Loads TypeScript; before the first test. */
export async function openCheck(): Promise<void> {
  ({ check } = await openScriptCheck());
}

export function findings(source: string, more: Partial<CheckRequest> = {}): readonly CheckFinding[] {
  if (check === undefined) throw new Error("openCheck() first");
  return check({ source, tools: TOOLS, hostTools: "", hostGlobals: "", broken: false, ...more });
}

/** `line:column severity: message`, one a finding. */
export function told(source: string, more?: Partial<CheckRequest>): string[] {
  return findings(source, more).map(
    ({ severity, line, column, message }) => `${line}:${column} ${severity}: ${message}`,
  );
}
