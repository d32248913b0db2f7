/**
 * The steps of a connection as somebody who asks why it is slow, or fails, wants to see them: what was done, how long it
 * took, whether it succeeded and what the server said to it. Watched by `pimcp doctor`; a step nobody watches is just run.
 */
import type { Failure } from "./failure.ts";
import { type ProbeReply, replyText } from "./probe.ts";
import { printableLine, redact } from "./redact.ts";

export type StepName =
  /** Variables, `!command` values and folders of the entry. */
  | "resolve"
  /** The server's process, until it runs. */
  | "start"
  /** `server/discover`: which era it speaks. */
  | "probe"
  /** The GET stream of an SSE server, until it names its endpoint. */
  | "event stream"
  /** `initialize`; a modern server needs none. */
  | "handshake"
  | "tools"
  | "resources"
  | "prompts";

export interface Step {
  readonly name: StepName;
  readonly durationMs: number;
  readonly ok: boolean;
  /** One printable line without secrets, a clause: `refused with error -32601`. */
  readonly detail?: string | undefined;
}

export type OnStep = (step: Step) => void;

type Judgement = Pick<Step, "ok" | "detail">;

/** Of a step that opens something. */
export function openingStep(
  outcome: { readonly ok: true } | { readonly ok: false; readonly failure: Failure },
): Judgement {
  return outcome.ok ? { ok: true } : { ok: false, detail: outcome.failure.message };
}

/** Of a probe: whatever the answer is, it tells the era; only silence tells next to nothing. */
export function probeStep(reply: ProbeReply, limitMs: number, secrets: readonly string[]): Judgement {
  return { ok: reply.kind !== "silence", detail: printableLine(redact(replyText(reply, limitMs), secrets)) };
}

/** Does the work of a step and tells of it; `judge` says what came of it. */
export async function takeStep<T>(
  onStep: OnStep | undefined,
  name: StepName,
  work: () => Promise<T>,
  judge: (value: T) => Judgement,
): Promise<T> {
  if (onStep === undefined) return work();
  const started = performance.now();
  const tell = (judgement: Judgement) =>
    onStep({ name, durationMs: Math.round((performance.now() - started) * 10) / 10, ...judgement });
  try {
    const value = await work();
    tell(judge(value));
    return value;
  } catch (error) {
    // Whoever catches it says what it means.
    tell({ ok: false });
    throw error;
  }
}
