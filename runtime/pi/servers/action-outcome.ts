/** What an action on a server came to, in words for the person who asked for it. Pure. */
import { unknownServer } from "../../../schemas/artifacts/target.ts";
import type { Configuration } from "../../../schemas/config/server-config.ts";
import type { Diagnostic } from "../../../schemas/diagnostic.ts";
import { placed } from "../../../schemas/placed.ts";
import type { PlannedChange, ServerChange } from "./server-change.ts";

/** `text` is for a person: lines that a terminal can show. */
export interface ActionOutcome {
  readonly ok: boolean;
  readonly text: string;
}

export function noSuchServer(
  name: string,
  { servers }: Configuration,
  diagnostics: readonly Diagnostic[],
): ActionOutcome {
  // An entry that could not be used has said why.
  const why =
    diagnostics.find(({ server, severity }) => server === name && severity === "error") ??
    // It may stand in the one that can't be read.
    diagnostics.find(({ code }) => code === "config-syntax" || code === "config-unreadable" || code === "config-shape");
  return failed(
    why ??
      unknownServer(
        servers.map((server) => server.name),
        name,
      ),
  );
}

export function changeText(
  name: string,
  change: ServerChange,
  changes: readonly PlannedChange[],
  isChanged: boolean,
): string {
  const files = changes.map(({ file }) => file.display).join(" and ");
  const where = isChanged ? `saved to ${files}` : `nothing to change in ${files}`;
  switch (change.kind) {
    case "enabled":
      return `"${name}" is ${change.enabled ? "enabled" : "disabled"} (${where})`;
    case "exposure":
      return `the exposure of "${name}" is ${change.exposure} (${where})`;
    case "tool-exposure": {
      const exposure = change.exposure === "inherit" ? "what its server's is" : change.exposure;
      return `the exposure of ${name}/${change.tool} is ${exposure} (${where})`;
    }
  }
}

/** `text` is what had been done before the server was compiled, if anything. */
export function compileOutcome(server: string, text: string | undefined, problems: readonly string[]): ActionOutcome {
  if (problems.length === 0) return { ok: true, text: text ?? `compiled "${server}"` };
  const head = text === undefined ? `"${server}" could not be compiled:` : `${text}, but it could not be compiled:`;
  return failure([head, ...problems].join("\n  "));
}

export function failed(found: Diagnostic): ActionOutcome {
  return failure([placed(found), ...found.notes].join("\n  "));
}

export function failure(text: string): ActionOutcome {
  return { ok: false, text };
}
