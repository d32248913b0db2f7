/**
 * The calls of one script, as Pi's row for codemode shows them while they run: name, arguments in a line, status, duration, what a
 * model cost. Never a result. The latest hundred have a row each, all before them one row together, so that a script with
 * many thousand calls costs no more to show than one with a hundred.
 */
import type { AgentToolUpdateCallback, CodemodeToolDetails } from "@earendil-works/pi-coding-agent";
import { shortened, shortLine, terminalText } from "../terminal-text.ts";
import { UpdatePace } from "../update-pace.ts";

type Row = CodemodeToolDetails["calls"][number];
export type CallEnd = Pick<Row, "error" | "cost"> & { readonly status: "ok" | "error" | "cancelled" };

/** Characters of arguments and of errors that are shown. */
const ARGUMENTS_CHARS = 200;
const ERROR_CHARS = 500;
const MAX_ROWS = 100;

/** Calls that have no row of their own any more. */
interface Earlier {
  calls: number;
  running: number;
  failed: number;
  cost: number;
}

export class CallRows {
  readonly #callId: string;
  readonly #pace: UpdatePace;
  readonly #rows: Row[] = [];
  readonly #earlier: Earlier = { calls: 0, running: 0, failed: 0, cost: 0 };
  #begun = 0;
  #isOver = false;

  /** `callId` is that of the codemode call. */
  constructor(callId: string, onUpdate: AgentToolUpdateCallback<CodemodeToolDetails> | undefined) {
    this.#callId = callId;
    this.#pace = new UpdatePace(() => onUpdate?.({ content: [], details: this.#details() }));
    this.#pace.changed();
  }

  /** The result ends the row; `id` is the one that Pi gave the call. */
  begin(name: string, args: string): (end: CallEnd, id?: string) => void {
    const startedAt = performance.now();
    const row: Row = {
      id: `${this.#callId}/${name}/${++this.#begun}`,
      name,
      args: shortLine(args, ARGUMENTS_CHARS),
      status: "running",
    };
    this.#rows.push(row);
    if (this.#rows.length > MAX_ROWS) this.#fold(this.#rows.shift()!);
    this.#pace.changed();
    return ({ status, error, cost }, id) => {
      if (this.#isOver) return;
      row.status = status;
      row.durationMs = performance.now() - startedAt;
      if (id !== undefined) row.id = id;
      if (error !== undefined) row.error = shortened(terminalText(error.slice(0, ERROR_CHARS * 4)), ERROR_CHARS);
      if (cost !== undefined) row.cost = cost;
      if (!this.#rows.includes(row)) this.#foldedEnd(row);
      this.#pace.changed();
    };
  }

  /** The script has ended: what still runs was cut off. */
  end(): CodemodeToolDetails {
    this.#isOver = true;
    this.#pace.end();
    this.#earlier.running = 0;
    for (const row of this.#rows) if (row.status === "running") row.status = "cancelled";
    return this.#details();
  }

  #fold(row: Row): void {
    this.#earlier.calls++;
    this.#earlier.running++;
    if (row.status !== "running") this.#foldedEnd(row);
  }

  #foldedEnd({ status, cost = 0 }: Row): void {
    this.#earlier.running--;
    if (status !== "ok") this.#earlier.failed++;
    this.#earlier.cost += cost;
  }

  #details(): CodemodeToolDetails {
    return { calls: [...this.#earlierRow(), ...this.#rows.map((row) => ({ ...row }))] };
  }

  #earlierRow(): readonly Row[] {
    const { calls, running, failed, cost } = this.#earlier;
    if (calls === 0) return [];
    const told = [...(running > 0 ? [`${running} running`] : []), ...(failed > 0 ? [`${failed} failed`] : [])];
    return [
      {
        id: `${this.#callId}/earlier`,
        name: `${calls} earlier ${calls === 1 ? "call" : "calls"}`,
        args: told.join(", "),
        status: running > 0 ? "running" : "ok",
        ...(cost > 0 && { cost }),
      },
    ];
  }
}

/** A line of arguments. */
export function argumentsLine(args: unknown): string {
  return args === undefined ? "" : JSON.stringify(args);
}
