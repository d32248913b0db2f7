/**
 * One byte form for a JSON value: keys sorted by code unit, so equal values digest and print equally
 * whatever order a server or a JSON parser gave them. Used for every artifact and every digest.
 */
import { createHash } from "node:crypto";

/** Orders strings by UTF-16 code unit: the same on every machine, unlike `localeCompare`. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** `value` with the keys of every object sorted; `undefined` members are dropped, `__proto__` is kept. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const sorted: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value).sort(byCodeUnit)) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) sorted[key] = sortKeys(member);
  }
  return sorted;
}

/** Canonical JSON on one line, for digests. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sortKeys(value));
}

/** Lower-case hex sha256. */
export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** Digest of a JSON value, independent of key order. */
export function digestOf(value: unknown): string {
  return sha256(canonicalJson(value));
}
