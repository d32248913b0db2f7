/**
 * Puts a check before Pi's codemode tool, whoever runs its scripts. What checks is loaded when the model begins to write the first
 * script, never at session start, and no failure of its own keeps a script from running. Servers that nobody has connected to
 * while the script was written (see servers-ahead.ts) are connected once it runs: not for one that was refused here, nor for one
 * that another extension's hook has blocked.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { engineOf } from "../codemode/codemode-engine.ts";
import { CODEMODE } from "../discovery/exposure.ts";
import type { PiSession } from "../session.ts";

export function checkScripts(pi: ExtensionAPI, current: () => PiSession | undefined): void {
  /** What is to be told with a script's result, by the call's id. */
  const pending = new Map<string, string>();
  /** Servers that a script names, by the call's id, until it runs. */
  const named = new Map<string, readonly string[]>();
  const load = () => import("./script-gate.ts");

  pi.on("message_update", ({ assistantMessageEvent: part }) => {
    const session = current();
    if (session === undefined || part.type !== "toolcall_start") return;
    const block = part.partial.content[part.contentIndex];
    if (block?.type !== "toolCall" || block.name !== CODEMODE) return;
    const warming = [engineOf(session)?.warm(), load().then(({ gateOf }) => gateOf(session).warm())];
    // What goes wrong here goes wrong again with the call, and is told then.
    void Promise.allSettled(warming);
  });

  pi.on("tool_call", async ({ toolName, toolCallId, input }, ctx) => {
    const session = current();
    if (toolName !== CODEMODE || session === undefined) return undefined;
    const script = input as { code?: unknown };
    if (typeof script.code !== "string" || !isScriptTool(pi)) return undefined;
    try {
      const { gateOf } = await load();
      const engine = engineOf(session);
      const options = { plainResults: engine === undefined, ...(engine && { outputSchemaOf: engine.outputSchemaOf }) };
      const verdict = await gateOf(session).judge(script.code, options, ctx.signal);
      if (!verdict.runs) return { block: true, reason: verdict.reason };
      if (verdict.code !== undefined) script.code = verdict.code;
      named.set(toolCallId, verdict.servers);
      if (verdict.remarks !== undefined) pending.set(toolCallId, verdict.remarks);
    } catch (error) {
      if (ctx.signal?.aborted) return undefined;
      session.tell(`Scripts run without a check of their types: ${String(error)}`, "warning");
    }
    return undefined;
  });

  // Either engine tells its first news before it makes a sandbox, so both get ready at the same time.
  pi.on("tool_execution_update", ({ toolCallId }) => {
    for (const server of named.get(toolCallId) ?? []) {
      // One that can't be reached says so when it is called.
      void current()
        ?.runtime.compareWithServer(server)
        .catch(() => undefined);
    }
    named.delete(toolCallId);
  });

  pi.on("tool_execution_end", ({ toolCallId }) => {
    named.delete(toolCallId);
    pending.delete(toolCallId);
  });

  pi.on("tool_result", ({ toolCallId, content }) => {
    const text = pending.get(toolCallId);
    if (text === undefined) return undefined;
    pending.delete(toolCallId);
    return { content: [...content, { type: "text", text }] };
  });
}

/** Another extension's tool may have this name and take something else. */
function isScriptTool(pi: ExtensionAPI): boolean {
  const info = pi.getAllTools().find(({ name }) => name === CODEMODE);
  return info?.reachesTools !== undefined && info.exposure === "model-only";
}
