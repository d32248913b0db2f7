/**
 * What a session does besides, without holding up its first request: it begins when a model has begun to answer, or when nothing
 * was asked for a second. Once for each session, and never after its end.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { PiSession } from "./session.ts";

const IDLE_MS = 1000;

export class AfterFirstRequest {
  #waiting: (() => void) | undefined;

  constructor(pi: Pick<ExtensionAPI, "on">) {
    pi.on("message_start", ({ message }) => {
      if (message.role === "assistant") this.#waiting?.();
    });
  }

  /** Runs `work` in this session's quiet moment; what was waiting for an earlier session's is dropped. */
  run(session: Pick<PiSession, "signal">, work: () => void): void {
    // It ended before it had begun; another one may be waiting already.
    if (session.signal.aborted) return;
    const begin = () => {
      clearTimeout(timer);
      if (this.#waiting === begin) this.#waiting = undefined;
      if (!session.signal.aborted) work();
    };
    // A process that has nothing else to do ends rather than wait for this.
    const timer = setTimeout(begin, IDLE_MS).unref();
    this.#waiting = begin;
  }
}
