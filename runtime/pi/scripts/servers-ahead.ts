/**
 * Starts the processes of servers whose tools a model is about to call, while it still writes the call: a script of a few lines
 * takes it as long as a server takes to start. Nothing is called, and a server is what the user configured, so no hook is
 * asked; over HTTP nothing is begun before the call itself, since a request there carries credentials.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { CODEMODE } from "../discovery/exposure.ts";
import type { PiSession } from "../session.ts";

/** UTF-16 units of a name's beginning that wait for the rest; names of tools are at most 64. */
const MAX_NAME = 100;

export function startServersAhead(
  pi: Pick<ExtensionAPI, "on">,
  current: () => Pick<PiSession, "table" | "runtime"> | undefined,
): void {
  /** Ends of what was written of scripts, by their place in the message. */
  const written = new Map<number, string>();
  /** Of this message. */
  const started = new Set<string>();

  const start = (name: string) => {
    const session = current();
    const entry = session?.table.byName(name);
    if (session === undefined || entry === undefined || started.has(entry.server)) return;
    if (session.table.server(entry.server)?.compiled.transport !== "stdio") return;
    started.add(entry.server);
    // One that can't be started says so when it is called.
    session.runtime.prepare(entry).catch(() => undefined);
  };

  pi.on("message_start", () => {
    written.clear();
    started.clear();
  });
  pi.on("message_update", ({ assistantMessageEvent: part }) => {
    if (part.type === "toolcall_start") {
      const call = part.partial.content[part.contentIndex];
      if (call?.type !== "toolCall") return;
      if (call.name === CODEMODE) written.set(part.contentIndex, "");
      else start(call.name);
    }
    if (part.type !== "toolcall_delta") return;
    const before = written.get(part.contentIndex);
    if (before === undefined) return;
    const text = before + part.delta;
    // From where a word begins: a long one without its end would be gone through once for each of its letters.
    const unfinished = /(?<!\w)\w*$/.exec(text)![0];
    for (const [name] of text.slice(0, text.length - unfinished.length).matchAll(/mcp__\w+/g)) start(name);
    written.set(part.contentIndex, unfinished.slice(-MAX_NAME));
  });
}
