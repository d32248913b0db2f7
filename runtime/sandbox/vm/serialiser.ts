/**
 * Values on their way out of the VM as JSON. What JSON has no form for is never dropped without a word: it is converted as
 * written below or refused with its path. Runs inside the VM: taken with `toString`, it refers to nothing outside itself, and it
 * must run before `lockdown`, since it teaches the built-ins their `toJSON`.
 *
 * | value                    | arguments, store          | text, return                  | console         |
 * |--------------------------|---------------------------|-------------------------------|-----------------|
 * | BigInt                   | refused                   | its digits, as a string       | same            |
 * | NaN, Infinity            | refused                   | `"NaN"`, `"Infinity"`         | same            |
 * | function                 | refused                   | `"[function name]"`           | same            |
 * | Map, Set                 | refused                   | arrays of entries, of values  | same            |
 * | promise                  | refused                   | refused: an `await` is missing | `"[Promise]"`  |
 * | refers back to itself    | refused                   | refused                       | `"[Circular]"`  |
 * | Error                    | `{ name, message, … }` with its own members | same        | its text        |
 * | RegExp                   | its source                | same                          | same            |
 * | undefined, symbol        | left out of objects, `null` in arrays, as JSON has it | same | same           |
 */
export type Manner = "strict" | "output" | "console";

export interface Serialiser {
  /** JSON of a value, or undefined for one that JSON leaves out. `what` names it in errors: `tools.x: argument`. Throws TypeError. */
  toJson(value: unknown, manner: Manner, what: string): string | undefined;
}

export function makeSerialiser(): Serialiser {
  const { stringify } = JSON;
  const { isFinite: isFiniteNumber } = Number;
  const plainToString = Object.prototype.toString;
  let current: Manner | undefined;

  /** What is wrong with a value, for arguments and the store; or for output. */
  function problemOf(value: unknown, manner: Manner): string | undefined {
    if (value instanceof Promise) return "a promise; an `await` is missing";
    if (manner !== "strict") return undefined;
    if (typeof value === "bigint") return "a BigInt, which JSON doesn't have; use Number(x) or String(x)";
    if (typeof value === "number" && !isFiniteNumber(value)) return `${value}, which JSON doesn't have`;
    if (typeof value === "function") return "a function, which JSON doesn't have";
    if (value instanceof Map) return "a Map, which JSON doesn't have; use Object.fromEntries(map)";
    if (value instanceof Set) return "a Set, which JSON doesn't have; use [...set]";
    return undefined;
  }

  function converted(value: unknown): unknown {
    if (typeof value === "bigint") return String(value);
    if (typeof value === "function") return `[function ${value.name || "without a name"}]`;
    if (value instanceof Map || value instanceof Set) return [...value];
    if (value instanceof RegExp) return String(value);
    if (value instanceof Promise) return "[Promise]";
    if (value instanceof Error) return Object.assign({ name: value.name, message: value.message }, value);
    return value;
  }

  const owners = [BigInt, Function, Map, Set, RegExp, Promise, Error];
  for (const { prototype } of owners) {
    Object.defineProperty(prototype, "toJSON", {
      value: {
        toJSON(this: unknown) {
          if (current === undefined) return this;
          if (current !== "console" && problemOf(this, current) !== undefined) throw new TypeError("refused");
          return converted(this);
        },
      }.toJSON,
      writable: true,
      configurable: true,
    });
  }

  function withNumbers(this: unknown, _key: string, value: unknown): unknown {
    if (typeof value !== "number" || isFiniteNumber(value)) return value;
    if (current === "strict") throw new TypeError("refused");
    return String(value);
  }

  function withoutCycles() {
    const ancestors: unknown[] = [];
    return function (this: unknown, key: string, value: unknown): unknown {
      while (ancestors.length > 0 && ancestors[ancestors.length - 1] !== this) ancestors.pop();
      if (typeof value !== "object" || value === null) return withNumbers.call(this, key, value);
      if (ancestors.includes(value)) return "[Circular]";
      ancestors.push(value);
      return value;
    };
  }

  function memberPath(key: string | number): string {
    if (typeof key === "number") return `[${key}]`;
    return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${stringify(key)}]`;
  }

  /** The first member that can't be serialised, as `.a[0].b is …`. */
  function findProblem(top: unknown, manner: Manner): string | undefined {
    let left = 100_000;
    const ancestors: unknown[] = [];
    const look = (value: unknown, path: string): string | undefined => {
      const problem = problemOf(value, manner);
      if (problem !== undefined) return `${path} is ${problem}`;
      if (typeof value !== "object" || value === null || left-- <= 0 || ancestors.length > 200) return undefined;
      if (ancestors.includes(value)) return `${path} refers back to an object it is in`;
      ancestors.push(value);
      const members = Array.isArray(value) ? value.entries() : Object.entries(value);
      for (const [key, member] of members) {
        const found = look(member, path + memberPath(key as string | number));
        if (found !== undefined) return found;
      }
      ancestors.pop();
      return undefined;
    };
    return look(top, "");
  }

  function stringifyAs(value: unknown, manner: Manner): string | undefined {
    const outer = current;
    current = manner;
    try {
      const json = stringify(value);
      // Only a number that is none, or something left out of an array, reads `null`; looking for it costs next to nothing.
      return json?.includes("null") ? stringify(value, withNumbers) : json;
    } catch (error) {
      if (manner !== "console") throw error;
      return stringify(value, withoutCycles());
    } finally {
      current = outer;
    }
  }

  return {
    toJson(value, manner, what) {
      try {
        return stringifyAs(value, manner);
      } catch (error) {
        if (manner === "console") return stringify(plainToString.call(value));
        let problem: string | undefined;
        try {
          problem = findProblem(value, manner);
        } catch {
          // A getter or a proxy of the script's threw; the first error says more.
        }
        if (problem !== undefined) throw new TypeError(`${what}${problem}`);
        if (error instanceof SyntaxError || error instanceof InternalError) throw error;
        throw new TypeError(`${what} can't be made JSON: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
  };
}

/** QuickJS: out of memory, stack overflow. */
declare const InternalError: ErrorConstructor;
