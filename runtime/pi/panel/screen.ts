/**
 * What the panel's views draw with: columns, wrapping and scrolling to the width and height there are, down to very narrow ones,
 * and colours. Texts from servers go through `terminal-text.ts` before they get here. Pure but for Pi's own measuring.
 */
import type { Theme } from "@earendil-works/pi-coding-agent";
import type * as PiTui from "@earendil-works/pi-tui";

export type Colour = Parameters<Theme["fg"]>[0];

/** Of Pi's package: texts may hold colours, and characters of two columns. */
export type Measure = Pick<typeof PiTui, "truncateToWidth" | "visibleWidth" | "wrapTextWithAnsi">;

export interface ScreenOptions {
  readonly theme: Pick<Theme, "fg" | "bold">;
  readonly measure: Measure;
  /** Columns. */
  readonly width: number;
  /** Lines for a list. */
  readonly rows: number;
}

/** A cell of a row. The first two share what room there is; of the others those are left out that have none, the last first. */
export interface Cell {
  readonly text: string;
  readonly colour?: Colour;
  /** A number: to the right of its column. */
  readonly isNumber?: boolean;
}

const GAP = 2;
const MARK = "→ ";
const SHARED = 2;
/** Of a first column that gives way to the second. */
const NARROWEST = 6;

export class Screen {
  readonly width: number;
  readonly rows: number;
  readonly #options: ScreenOptions;

  constructor(options: ScreenOptions) {
    this.#options = options;
    this.width = Math.max(options.width, 1);
    this.rows = options.rows;
  }

  paint(colour: Colour, text: string): string {
    return this.#options.theme.fg(colour, text);
  }

  bold(text: string): string {
    return this.#options.theme.bold(text);
  }

  /** No wider than the screen. */
  cut(text: string, width = this.width): string {
    const { visibleWidth, truncateToWidth } = this.#options.measure;
    return visibleWidth(text) <= width ? text : truncateToWidth(text, width, "…");
  }

  /** At most `most` lines, the last one cut where there is more; indented by a blank. */
  wrapped(text: string, colour: Colour, most: number): readonly string[] {
    if (text === "") return [];
    const width = Math.max(this.width - 2, 1);
    const lines = this.#options.measure.wrapTextWithAnsi(text, width);
    const shown = lines.slice(0, most);
    if (lines.length > most) shown[most - 1] = this.cut(`${shown[most - 1]} …`, width);
    return shown.map((line) => this.cut(` ${this.paint(colour, this.cut(line, width))}`));
  }

  rule(): string {
    return this.paint("accent", "─".repeat(this.width));
  }

  /** Rows in columns as wide as their widest cell. */
  table(rows: readonly (readonly Cell[])[], selected: number): readonly string[] {
    const columns = Math.max(...rows.map((row) => row.length), 0);
    const widths = Array.from({ length: columns }, (_, column) =>
      Math.max(...rows.map((row) => this.#widthOf(row[column]?.text ?? ""))),
    );
    const [first = 0, second = 0] = widths;
    widths[0] = Math.min(first, Math.max(this.width - MARK.length - GAP - second, NARROWEST));
    return rows.map((row, index) => this.#row(row, widths, index === selected));
  }

  #row(row: readonly Cell[], widths: readonly number[], isSelected: boolean): string {
    const mark = isSelected ? MARK : " ".repeat(MARK.length);
    let line = isSelected ? this.paint("accent", mark) : mark;
    let left = this.width - mark.length;
    for (const [column, { text, colour, isNumber }] of row.entries()) {
      const width = widths[column]!;
      if (width === 0) continue;
      if (left <= 0 || (column >= SHARED && width > left)) break;
      const shown = this.cut(text, Math.min(width, left));
      const painted = isSelected && column === 0 ? this.paint("accent", this.bold(shown)) : shown;
      const blanks = " ".repeat(Math.max(Math.min(width, left) - this.#widthOf(shown), 0));
      const cell = colour && !(isSelected && column === 0) ? this.paint(colour, painted) : painted;
      line += `${isNumber ? blanks + cell : cell + blanks}${" ".repeat(GAP)}`;
      left -= Math.min(width, left) + GAP;
    }
    return this.cut(line.replace(/ +$/, ""));
  }

  #widthOf(text: string): number {
    return this.#options.measure.visibleWidth(text);
  }
}

/** The part of a list that is shown so that `selected` is in it, and how many are above and below. */
export function windowOf(
  length: number,
  selected: number,
  rows: number,
): { readonly from: number; readonly to: number } {
  if (length <= rows) return { from: 0, to: length };
  const from = Math.min(Math.max(selected - Math.floor(rows / 2), 0), length - rows);
  return { from, to: from + rows };
}

/** `(3 of 12)` where not all are shown. */
export function positionText(length: number, selected: number, rows: number): string {
  return length > rows ? ` (${selected + 1} of ${length})` : "";
}
