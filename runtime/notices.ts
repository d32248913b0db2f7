/** What a runtime has to say on its way: each thing once, on stderr where nobody else takes it. */
import type { Diagnostic } from "../schemas/diagnostic.ts";
import { placed } from "../schemas/placed.ts";

/** That the configuration is newer can be found in two ways, and is said once. */
export function onlyNew(onNotice: (notice: Diagnostic) => void): (notice: Diagnostic) => void {
  const said = new Set<string>();
  return (notice) => {
    if (notice.code === "config-newer" && said.has(notice.message)) return;
    said.add(notice.message);
    onNotice(notice);
  };
}

/** Warnings and errors, a line each. */
export function printNotice(notice: Diagnostic): void {
  if (notice.severity === "info") return;
  process.stderr.write(`pimcp: ${notice.severity}: ${[placed(notice), ...notice.notes].join("; ")}\n`);
}
