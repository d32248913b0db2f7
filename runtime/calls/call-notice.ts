/** What is worth knowing of one call and stops nothing. */
import type { ToolEntry } from "../../schemas/artifacts/tool-table.ts";
import { type Diagnostic, diagnostic } from "../../schemas/diagnostic.ts";

export function callNotice(
  { name, server, tool }: Pick<ToolEntry, "name" | "server" | "tool">,
  message: string,
): Diagnostic {
  return diagnostic("call-notice", `${name}: ${message}`, { server, tool });
}
