/**
 * Which model answers a server: one that its hints name, a cheap one where it says that cost matters most, else the session's.
 * It is only proposed; the user sees it and may take another. Pure.
 */
import type { Model } from "@earendil-works/pi-ai";
import { isRecord } from "../../../schemas/record.ts";

type AnyModel = Model<string>;

const MOST_HINTS = 20;

/** Undefined where there is none to propose. `current` need not be among the candidates. */
export function proposeModel(
  preferences: unknown,
  candidates: readonly AnyModel[],
  current: AnyModel | undefined,
): AnyModel | undefined {
  const usable = current && candidates.find((model) => isSame(model, current));
  const hinted = isRecord(preferences) ? byHints(preferences["hints"], candidates, usable) : undefined;
  if (hinted !== undefined) return hinted;
  if (usable !== undefined && isRecord(preferences) && isCostFirst(preferences)) return cheapest(candidates, usable);
  return usable ?? candidates[0];
}

export function modelName({ provider, id }: AnyModel): string {
  return `${provider}/${id}`;
}

export function isSame(a: AnyModel, b: AnyModel): boolean {
  return a.provider === b.provider && a.id === b.id;
}

/** Hints are parts of names, the first that fits counts. The session's model and those of its provider are preferred. */
function byHints(hints: unknown, candidates: readonly AnyModel[], current: AnyModel | undefined): AnyModel | undefined {
  if (!Array.isArray(hints)) return undefined;
  for (const hint of hints.slice(0, MOST_HINTS)) {
    const name = isRecord(hint) && typeof hint["name"] === "string" ? hint["name"].trim().toLowerCase() : "";
    if (name === "") continue;
    const fitting = candidates.filter((model) =>
      [modelName(model), model.name].some((text) => text.toLowerCase().includes(name)),
    );
    const found =
      fitting.find((model) => current && isSame(model, current)) ??
      fitting.find(({ provider }) => provider === current?.provider) ??
      fitting[0];
    if (found !== undefined) return found;
  }
  return undefined;
}

function isCostFirst(preferences: Readonly<Record<string, unknown>>): boolean {
  const priority = (name: string) => (typeof preferences[name] === "number" ? preferences[name] : 0);
  return priority("costPriority") > Math.max(priority("intelligencePriority"), priority("speedPriority"));
}

/** Of the session's provider. A price of nothing may be an unknown one. */
function cheapest(candidates: readonly AnyModel[], current: AnyModel): AnyModel {
  const price = ({ cost }: AnyModel) => cost.input + cost.output;
  let best = current;
  for (const model of candidates) {
    if (model.provider === current.provider && price(model) > 0 && price(model) < price(best)) best = model;
  }
  return best;
}
