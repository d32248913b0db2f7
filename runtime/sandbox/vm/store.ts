/**
 * `store` and `load`: small JSON values that outlive a script, kept here as text so that what is loaded is a copy. Runs inside the
 * VM: taken with `toString`, it refers to nothing outside itself.
 */
import type { Serialiser } from "./serialiser.ts";

export interface VmStore {
  /** `[key, JSON][]` as JSON. */
  fill(entriesJson: string): void;
  store(key: unknown, value: unknown): void;
  load(key: unknown): unknown;
  /** What the script changed: `[key, JSON]`, or `[key]` for a deleted one. */
  writesJson(): string;
}

export function makeStore(
  { toJson }: Serialiser,
  limits: { readonly storeValue: number; readonly storeTotal: number },
): VmStore {
  const { parse, stringify } = JSON;
  const stored = new Map<string, string>();
  const writes = new Map<string, string | undefined>();
  let storedChars = 0;

  function checkSize(key: string, json: string, total: number): void {
    const advice = "the store is for small state; show images with image() and write large data to a file with a tool";
    if (json.length > limits.storeValue) {
      const most = `${json.length} characters of JSON are more than ${limits.storeValue}`;
      throw new RangeError(`store(${stringify(key)}): ${most}; ${advice}`);
    }
    if (total > limits.storeTotal) {
      const most = `all values together may have ${limits.storeTotal} characters of JSON`;
      throw new RangeError(`the store is full: ${most}; store(key, undefined) deletes one; ${advice}`);
    }
  }

  return {
    fill(entriesJson) {
      for (const [key, json] of parse(entriesJson) as [string, string][]) {
        stored.set(key, json);
        storedChars += key.length + json.length;
      }
    },
    store(key, value) {
      if (typeof key !== "string") throw new TypeError("store(key, value): the key is a string");
      const old = stored.get(key);
      const without = storedChars - (old === undefined ? 0 : key.length + old.length);
      if (value === undefined) {
        stored.delete(key);
        writes.set(key, undefined);
        storedChars = without;
        return;
      }
      const json = toJson(value, "strict", `store(${stringify(key)}): value`);
      if (json === undefined) throw new TypeError(`store(${stringify(key)}): value can't be made JSON`);
      checkSize(key, json, without + key.length + json.length);
      stored.set(key, json);
      writes.set(key, json);
      storedChars = without + key.length + json.length;
    },
    load(key) {
      if (typeof key !== "string") throw new TypeError("load(key): the key is a string");
      const json = stored.get(key);
      return json === undefined ? undefined : parse(json);
    },
    writesJson: () => stringify([...writes].map(([key, json]) => (json === undefined ? [key] : [key, json]))),
  };
}
