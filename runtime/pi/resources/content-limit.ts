/** How much text of a server's own contents (resources, prompts) a model reads at once. Pure. */
import type { ToolTable } from "../../../schemas/artifacts/tool-table.ts";
import { DEFAULT_MAX_OUTPUT_BYTES } from "../../../schemas/config/server-config.ts";

/** Bytes: what holds for the server's tools, those with a limit of their own left out. */
export function contentLimit(table: ToolTable, server: string): number {
  const limits = table.tools({ server }).filter((entry) => entry.limitSource !== "tool");
  return limits[0]?.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES;
}
