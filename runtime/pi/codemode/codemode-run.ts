/**
 * One call of the codemode tool in pimcp's own sandbox: the script's calls go through Pi, what it prints comes back within its limit,
 * and what it stored stays with the session. Loaded with a session's first script. A call ends as a result, whatever the script
 * does; aborting it ends the script and its calls.
 */
import type {
  AgentToolResult,
  AgentToolUpdateCallback,
  CodemodeToolDetails,
  ExtensionToolContext,
} from "@earendil-works/pi-coding-agent";
import { resultBlocks, showRun } from "../../sandbox/output.ts";
import { createSandbox, type Sandbox } from "../../sandbox/sandbox.ts";
import { gateOf } from "../scripts/script-gate.ts";
import type { PiSession } from "../session.ts";
import { CallRows } from "./call-rows.ts";
import { codemodeHost } from "./codemode-host.ts";
import { modelFunctions } from "./models.ts";
import { keepValues, storedValues } from "./session-store.ts";
import { UsageTotal } from "./usage-total.ts";

export interface CodemodeCall {
  readonly session: PiSession;
  readonly toolCallId: string;
  readonly code: string;
  readonly signal: AbortSignal | undefined;
  readonly onUpdate: AgentToolUpdateCallback<CodemodeToolDetails> | undefined;
  readonly ctx: ExtensionToolContext;
}

const sandboxes = new WeakMap<PiSession, Sandbox>();

/** Starts a thread for the script that is being written. */
export function warmSandbox(session: PiSession): void {
  if (!session.signal.aborted) sandboxOf(session).warm();
}

export async function runCodemode(call: CodemodeCall): Promise<AgentToolResult<CodemodeToolDetails>> {
  const { session, toolCallId, code, signal, onUpdate, ctx } = call;
  const rows = new CallRows(toolCallId, onUpdate);
  const usage = new UsageTotal();
  let images = 0;
  const onImages = (count: number) => {
    images += count;
  };
  const globals = modelFunctions({ registry: ctx.modelRegistry, rows, usage, onImages });
  const host = codemodeHost({ session, ctx, rows, gate: gateOf(session), globals });
  const store = storedValues(ctx.sessionManager.getBranch());
  const result = await sandboxOf(session).run(code, { host, store, ...(signal && { signal }) });
  const details = rows.end();
  if (result.ok) keepValues(session.pi, result.storeWrites);
  const shown = await showRun(result, { store: session.store });
  const content = resultBlocks(result, shown).map((block) => ({ ...block }));
  if (images > 0 && !content.some(({ type }) => type === "image")) {
    const made = images === 1 ? "an image that was" : `${images} images that were`;
    content.push({
      type: "text",
      text: `Note: models.generateImages() made ${made} not shown: show each with image(block).`,
    });
  }
  const path = shown.items.find((item) => item.type === "text" && item.path !== undefined)?.path;
  return {
    content,
    details: path === undefined ? details : { ...details, fullOutputPath: path },
    ...(usage.total && { usage: usage.total }),
    ...(!result.ok && { isError: true }),
  };
}

/** The threads of a session's scripts, which end with it. */
function sandboxOf(session: PiSession): Sandbox {
  const known = sandboxes.get(session);
  if (known) return known;
  const sandbox = createSandbox(NOTHING, { workers: workers(session.env) });
  sandboxes.set(session, sandbox);
  session.signal.addEventListener("abort", () => void sandbox.close(), { once: true });
  return sandbox;
}

/** Each run brings a host of its own. */
const NOTHING = {
  tools: {
    has: () => false,
    names: () => [],
    list: () => [],
    call: () => undefined,
    search: () => [],
    describe: () => undefined,
    namespace: () => undefined,
  },
};

/** As for Pi's own sandbox. */
function workers(env: NodeJS.ProcessEnv): number {
  const value = Number(env["PI_CODEMODE_MAX_WORKERS"]);
  return Number.isInteger(value) && value > 0 ? value : 2;
}
