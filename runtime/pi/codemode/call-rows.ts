/**
 * The calls of one script, as Pi's row for codemode shows them while they run: name, arguments in a line, status, duration, what a
 * model cost. Never a result. Many changes in one turn are shown together.
 */
import type { AgentToolUpdateCallback, CodemodeToolDetails } from "@earendil-works/pi-coding-agent";
import { shortened, terminalText } from "../terminal-text.ts";

type Row = CodemodeToolDetails["calls"][number];
export type CallEnd = Pick<Row, "error" | "cost"> & { readonly status: "ok" | "error" | "cancelled" };

/** Characters of arguments and of errors that are shown. */
const ARGUMENTS_CHARS = 200;
const ERROR_CHARS = 500;

export class CallRows {
  readonly #callId: string;
  readonly #onUpdate: AgentToolUpdateCallback<CodemodeToolDetails> | undefined;
  readonly #rows: Row[] = [];
  #isDue = false;
  #isOver = false;

  /** `callId` is that of the codemode call. */
  constructor(callId: string, onUpdate: AgentToolUpdateCallback<CodemodeToolDetails> | undefined) {
    this.#callId = callId;
    this.#onUpdate = onUpdate;
    this.#show();
  }

  /** The result ends the row; `id` is the one that Pi gave the call. */
  begin(name: string, args: string): (end: CallEnd, id?: string) => void {
    const startedAt = performance.now();
    const number = this.#rows.length + 1;
    const row: Row = {
      id: `${this.#callId}/${name}/${number}`,
      name,
      args: shortened(terminalText(args), ARGUMENTS_CHARS),
      status: "running",
    };
    this.#rows.push(row);
    this.#change();
    return ({ status, error, cost }, id) => {
      if (this.#isOver) return;
      row.status = status;
      row.durationMs = performance.now() - startedAt;
      if (id !== undefined) row.id = id;
      if (error !== undefined) row.error = shortened(terminalText(error), ERROR_CHARS);
      if (cost !== undefined) row.cost = cost;
      this.#change();
    };
  }

  /** The script has ended: what still runs was cut off. */
  end(): CodemodeToolDetails {
    this.#isOver = true;
    for (const row of this.#rows) if (row.status === "running") row.status = "cancelled";
    return this.#details();
  }

  #change(): void {
    if (this.#isDue || this.#isOver) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      if (!this.#isOver) this.#show();
    });
  }

  #show(): void {
    this.#onUpdate?.({ content: [], details: this.#details() });
  }

  #details(): CodemodeToolDetails {
    return { calls: this.#rows.map((row) => ({ ...row })) };
  }
}

/** A line of arguments. */
export function argumentsLine(args: unknown): string {
  return args === undefined ? "" : JSON.stringify(args);
}
