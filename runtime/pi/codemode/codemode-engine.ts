/**
 * Which sessions run scripts in pimcp's own sandbox: those whose mcp.json says `"codemode": { "engine": "pimcp" }`. Pi's tool is replaced
 * before the first request; without the setting nothing is loaded for it.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { PiHost } from "../host.ts";
import { scriptEngine } from "../rare-settings.ts";
import type { OutputSchemaOf } from "../scripts/script-tools.ts";
import type { PiSession } from "../session.ts";

export interface CodemodeEngine {
  /** Starts what runs scripts, while the model still writes. */
  warm(): Promise<void>;
  /** What a script gets from a tool. */
  readonly outputSchemaOf: OutputSchemaOf;
}

const engines = new WeakMap<PiSession, CodemodeEngine>();
const replaced = new WeakSet<ExtensionAPI>();

/** The engine of a session whose scripts Pi doesn't run itself. */
export function engineOf(session: PiSession): CodemodeEngine | undefined {
  return engines.get(session);
}

/** Makes the session's codemode tool the one that its configuration asks for. */
export async function chooseEngine(session: PiSession, host: PiHost): Promise<void> {
  const { pi } = session;
  const isOwn = (await scriptEngine(session.files)) === "pimcp";
  if (!isOwn && !replaced.has(pi)) return;
  const [{ definitionOfPi, engineTool }, codingAgent] = await Promise.all([
    import("./codemode-tool.ts"),
    host.codingAgent(),
  ]);
  const ofPi = definitionOfPi(pi, codingAgent);
  if (ofPi === undefined) {
    session.tell('"engine": "pimcp" has no effect: this version of Pi has another codemode tool.', "warning");
    return;
  }
  if (!isOwn) {
    // Another session of this process had it: give Pi its own back.
    replaced.delete(pi);
    pi.registerTool(ofPi);
    return;
  }
  const { tool, engine } = engineTool(session, ofPi);
  engines.set(session, engine);
  replaced.add(pi);
  pi.registerTool(tool);
}
