/**
 * `exposure` and `toolExposure` of an entry. A malformed rule must never show more than its author
 * meant, so it is an error that counts as `hidden`: a bad `exposure` or a `toolExposure` that is no object hides
 * the server, a bad `toolExposure` value hides the tools of its key. The rest of the entry stays.
 */
import { nearest } from "../nearest.ts";
import { type FieldReader, optional, type Report, suggestion } from "./fields.ts";
import { quoted } from "./quote.ts";
import { EXPOSURES, type Exposure, type ExposureRule } from "./server-config.ts";
import type { ConfigNode } from "./source.ts";

export interface EntryExposure {
  readonly exposure?: Exposure;
  /** In the order of the file. */
  readonly toolExposure?: readonly ExposureRule[];
}

export function readExposure(fields: FieldReader, report: Report): EntryExposure {
  const exposureNode = fields.value("exposure");
  const exposure = exposureNode && exposureOf("exposure", exposureNode, "the server counts", report);
  const rulesNode = fields.value("toolExposure");
  if (rulesNode === undefined) return optional("exposure", exposure);
  if (rulesNode.kind !== "object") {
    report(
      "invalid-exposure",
      "toolExposure must be an object from tool names or patterns to exposures",
      rulesNode.at,
      [consequence("the server counts")],
    );
    return { exposure: "hidden", toolExposure: [] };
  }
  const toolExposure = [...rulesNode.members.values()].map(({ key, value }) => ({
    pattern: key,
    exposure: exposureOf(`toolExposure ${quoted(key)}:`, value, "what it names counts", report),
  }));
  return { ...optional("exposure", exposure), toolExposure };
}

function exposureOf(field: string, node: ConfigNode, counts: string, report: Report): Exposure {
  const value = node.kind === "scalar" ? node.value : undefined;
  const known = EXPOSURES.find((exposure) => exposure === value);
  if (known !== undefined) return known;
  const shown = value === undefined ? `a${node.kind === "array" ? " list" : "n object"}` : quoted(value);
  const close = typeof value === "string" ? suggestion(nearest(value, EXPOSURES)) : undefined;
  const message = `${field} ${shown} is not one of ${EXPOSURES.join(", ")}`;
  report("invalid-exposure", message, node.at, [close, consequence(counts)]);
  return "hidden";
}

function consequence(counts: string): string {
  return `until this is corrected ${counts} as hidden`;
}
