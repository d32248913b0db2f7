/**
 * An examination as a person reads it: a line with name and outcome, and below it what was found, label by label, wrapped
 * to the terminal's width. Everything from a server is made printable here.
 */
import { widthOf, wrap } from "../columns.ts";
import { type Look, paint, printable } from "../print.ts";
import type { Examination, ExaminedStep, Freshness } from "./examination.ts";

const LABEL_WIDTH = 10;
const STYLE = { ok: "green", failed: "red", disabled: "dim" } as const;
/** Lines of a process's output that are shown. */
const MAX_OUTPUT = 8;
const MAX_TEXT = 600;

/** Lines for one server, none wider than `look.width` where words allow. */
export function pageLines(found: Examination, look: Look): string[] {
  const { line, isPlaced } = head(found, look);
  const rows = isPlaced ? rowsOf(found) : [["entry", found.place] as const, ...rowsOf(found)];
  return [line, ...rows.flatMap(([label, text]) => row(label, text, look))];
}

/** `3 servers: 2 ok, 1 failed`. */
export function countLine(found: readonly Examination[], look: Look): string {
  const counts = (["ok", "failed", "disabled"] as const).flatMap((status) => {
    const count = found.filter((one) => one.status === status).length;
    return count > 0 ? [paint(look, STYLE[status], `${count} ${status}`)] : [];
  });
  return `${found.length} server${found.length === 1 ? "" : "s"}: ${counts.join(", ")}`;
}

/** The place stands at the right where it fits. */
function head({ name, status, durationMs, place }: Examination, look: Look): { line: string; isPlaced: boolean } {
  const shownName = printable(name);
  const duration = status === "disabled" ? "" : `  ${durationText(durationMs)}`;
  const left = `${shownName}  ${status}${duration}`;
  const where = printable(place);
  const gap = look.width - widthOf(left) - widthOf(where);
  const isPlaced = gap >= 2;
  const right = isPlaced ? `${" ".repeat(gap)}${paint(look, "dim", where)}` : "";
  const outcome = `${paint(look, STYLE[status], status)}${paint(look, "dim", duration)}`;
  return { line: `${paint(look, "bold", shownName)}  ${outcome}${right}`, isPlaced };
}

type Row = readonly [label: string, text: string];

function rowsOf(found: Examination): Row[] {
  const { target, transport, problem, output = [], steps, diagnostics, serverInfo } = found;
  const rows: (Row | undefined)[] = [
    ["reached by", [transport && transportText(transport), target].filter(Boolean).join(": ")],
    found.era && ["speaks", `${found.era} ${found.protocolVersion}: ${found.why}`],
    serverInfo && ["server", [serverInfo.title ?? serverInfo.name, serverInfo.version].filter(Boolean).join(" ")],
    found.capabilities && ["offers", offersText(found)],
    found.freshness && ["tool list", freshnessText(found.freshness)],
    found.freshness && ["compiled", compiledText(found.freshness)],
    transport === "sse"
      ? ["advice", "SSE is the transport of 2024: ask for the server's Streamable HTTP address"]
      : undefined,
    steps.length > 0 ? ["steps", stepsText(steps)] : undefined,
    problem && ["problem", `${problem.message} [${problem.code}]`],
    ...(problem?.remedy ?? []).map((text): Row => ["try", text]),
    ...output.slice(-MAX_OUTPUT).map((line): Row => ["", line]),
    ...diagnostics
      .filter(({ severity }) => severity !== "info")
      .flatMap(({ severity, message, code, notes }): Row[] => [
        [severity, `${message} [${code}]`],
        ...notes.map((note): Row => ["", note]),
      ]),
  ];
  return rows.filter((one): one is Row => one !== undefined && one[1] !== "");
}

function row(label: string, text: string, look: Look): string[] {
  const indent = 2 + LABEL_WIDTH + 2;
  const cleaned = printable(text);
  const bounded = cleaned.length > MAX_TEXT ? `${cleaned.slice(0, MAX_TEXT - 1)}…` : cleaned;
  const [first = "", ...rest] = wrap(bounded, look.width - indent);
  const style =
    label === "problem" || label === "error"
      ? "red"
      : label === "try"
        ? "green"
        : label === "warning"
          ? "yellow"
          : "dim";
  return [
    `  ${paint(look, style, label.padEnd(LABEL_WIDTH))}  ${first}`,
    ...rest.map((line) => `${" ".repeat(indent)}${line}`),
  ];
}

function transportText(transport: NonNullable<Examination["transport"]>): string {
  if (transport === "streamable-http") return "Streamable HTTP";
  return { stdio: "stdio", http: "HTTP", sse: "HTTP with SSE" }[transport];
}

function offersText({ tools, capabilities = {}, extensions = [] }: Examination): string {
  const others = Object.keys(capabilities).filter((name) => name !== "tools" && name !== "extensions");
  const counted = tools === undefined ? [] : [`${tools} tool${tools === 1 ? "" : "s"}`];
  const list = [...counted, ...others].join(", ") || "nothing";
  return extensions.length > 0 ? `${list}; extensions: ${extensions.join(", ")}` : list;
}

function freshnessText({ ttlMs, cacheScope, cached }: Freshness): string {
  const fresh =
    ttlMs === undefined
      ? "doesn't say how long it is fresh"
      : ttlMs === 0
        ? "never fresh"
        : `fresh for ${durationText(ttlMs)}`;
  const remembered =
    cached === undefined
      ? "not cached"
      : `cached ${durationText(cached.ageMs)} ago${cached.fresh ? ", still fresh" : ", no longer fresh"}`;
  return `${fresh}, ${cacheScope}; ${remembered}`;
}

function compiledText({ compiled: { status, changes } }: Freshness): string {
  if (status === "same") return "the same era and tools";
  if (status === "never") return "not yet: run `pimcp compile`";
  if (status === "other-entry") return "from another entry of this name: run `pimcp compile`";
  return `differs: ${changes}; run \`pimcp compile\``;
}

/** In their order; attempts that failed one after the other are counted. */
function stepsText(steps: readonly ExaminedStep[]): string {
  const texts: string[] = [];
  for (let at = 0; at < steps.length; ) {
    const { name, ok } = steps[at]!;
    const rest = steps.slice(at);
    const end = ok ? 1 : rest.findIndex((one) => one.name !== name || one.ok);
    const run = end === -1 ? rest : rest.slice(0, end);
    const took = durationText(run.reduce((sum, { durationMs }) => sum + durationMs, 0));
    const failed = run.length > 1 ? ` (failed ${run.length} times)` : ok ? "" : " (failed)";
    texts.push(`${name} ${took}${failed}`);
    at += run.length;
  }
  return texts.join(", ");
}

/** `3 ms`, `1.2 s`, `5 min`, `2 h`, `3 days`. */
function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${Math.round(ms / 100) / 10} s`;
  if (ms < 2 * 3_600_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 48 * 3_600_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} days`;
}
