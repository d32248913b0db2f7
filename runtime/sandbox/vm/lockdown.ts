/**
 * Makes everything a script finds in a fresh VM unchangeable, so that nothing it does to a built-in reaches pimcp's own code beside
 * it. This function runs inside the VM: its source is taken with `toString`, so it refers to nothing outside itself.
 *
 * Freezing a prototype has a side effect: a property that can't be written there can't be assigned on an heir either, and
 * `error.message = …` or `Sub.prototype.constructor = Sub` would fail. What scripts do assign to heirs becomes an accessor
 * that gives the heir a property of its own.
 */
export function lockdown(): void {
  const assignable = new Set<PropertyKey>([
    "constructor",
    "name",
    "message",
    "toString",
    "toLocaleString",
    "valueOf",
    "toJSON",
  ]);
  const { getOwnPropertyDescriptor, defineProperty, getPrototypeOf, freeze } = Object;
  const { ownKeys } = Reflect;

  /** A pair of accessors without a `prototype` of their own, which would have to be frozen in turn. */
  function accessorsFor(owner: object, key: PropertyKey, value: unknown): PropertyDescriptor {
    return getOwnPropertyDescriptor(
      {
        get it() {
          return value;
        },
        set it(next) {
          if (this === owner) throw new TypeError(`${String(key)} of a built-in can't be changed`);
          if ((typeof this !== "object" || this === null) && typeof this !== "function") return;
          // What an assignment to an heir makes.
          defineProperty(this, key, { value: next, writable: true, enumerable: true, configurable: true });
        },
      },
      "it",
    )!;
  }

  const seen = new Set<unknown>([globalThis]);
  const queue: object[] = [];
  const visit = (value: unknown) => {
    if (((typeof value === "object" && value !== null) || typeof value === "function") && !seen.has(value)) {
      seen.add(value);
      queue.push(value);
    }
  };

  // Prototypes that no property leads to.
  const iterators = [[].values(), new Map().values(), new Set().values(), ""[Symbol.iterator](), "".matchAll(/a/g)];
  const functions = [function* () {}, async () => {}, async function* () {}];
  const helpers = [
    ([].values() as unknown as NewIterator).map(Number),
    Iterator.from({ next: () => ({ done: true, value: 0 }) }),
    Iterator.concat([]),
  ];
  for (const found of [...iterators, ...functions, ...helpers, Int8Array]) visit(getPrototypeOf(found));

  for (const key of ownKeys(globalThis)) {
    const { value, get, set, configurable } = getOwnPropertyDescriptor(globalThis, key)!;
    for (const part of [value, get, set]) visit(part);
    if (configurable && get === undefined) defineProperty(globalThis, key, { writable: false, configurable: false });
  }
  for (let owner = queue.pop(); owner !== undefined; owner = queue.pop()) {
    visit(getPrototypeOf(owner));
    for (const key of ownKeys(owner)) {
      const { value, get, set, writable, configurable, enumerable } = getOwnPropertyDescriptor(owner, key)!;
      visit(value);
      visit(get);
      visit(set);
      if (!writable || !configurable || !(owner === Object.prototype || assignable.has(key))) continue;
      const accessors = accessorsFor(owner, key, value);
      visit(accessors.get);
      visit(accessors.set);
      defineProperty(owner, key, {
        get: accessors.get!,
        set: accessors.set!,
        enumerable: enumerable === true,
        configurable: false,
      });
    }
    freeze(owner);
  }
}

/** What the VM has and this project's language level doesn't. */
type NewIterator = { map(convert: (value: unknown) => unknown): object };
declare const Iterator: { from(iterator: object): object; concat(list: object): object };
