/**
 * `tools`, `ALL_TOOLS` and every other function that goes to the host and comes back. Names of tools are asked for when a script
 * uses them. Runs inside the VM: taken with `toString`, it refers to nothing outside itself.
 */
import type { Bridge } from "./globals.ts";
import type { Serialiser } from "./serialiser.ts";

export interface VmTools {
  readonly tools: object;
  allTools(): unknown;
  /** A function of the host's under the name a script knows it by. */
  globalFunction(name: string): (...args: unknown[]) => Promise<unknown>;
  /** An object of such functions; a member that isn't there is an error that names those near it. */
  group(name: string, members: Record<string, unknown>): unknown;
  /** Answers a call with JSON of its value, or of its error's text. With `alias`, `structured` is `structuredContent`. */
  settle(id: number, ok: boolean, json: string | undefined, alias: boolean): void;
}

export function makeTools(bridge: Bridge, { toJson }: Serialiser): VmTools {
  const { parse, stringify } = JSON;
  const { create, defineProperty, freeze } = Object;
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void; error: Error }>();
  let nextId = 1;

  /** Answers of the host that a script waits for without `await`. */
  function ask(question: object): unknown {
    const { value, error } = parse(bridge("ask", stringify(question))!) as { value?: unknown; error?: string };
    if (error !== undefined) throw new Error(error);
    return value;
  }

  function call(kind: "tool" | "global", name: string, json: string | undefined): Promise<unknown> {
    // Made here, so that its stack leads to the call and not to where the answer came in.
    const error = new Error();
    return new Promise((resolve, reject) => {
      const id = nextId++;
      const refused = bridge(kind, id, stringify(name), ...(json === undefined ? [] : [json]));
      if (refused !== undefined) throw new RangeError(refused);
      pending.set(id, { resolve, reject, error });
    });
  }

  const globalFunction = (name: string) =>
    freeze(
      async (...args: unknown[]): Promise<unknown> =>
        call("global", name, toJson(args, "strict", `${name}: arguments`)),
    );

  const toolFunction =
    (name: string) =>
    async (...args: unknown[]): Promise<unknown> => {
      if (args.length > 1) {
        throw new TypeError(`tools.${name} takes one object with all arguments, not ${args.length} values`);
      }
      return call("tool", name, toJson(args[0], "strict", `tools.${name}: argument`));
    };

  const found = new Map<string, unknown>();

  /** The tool, or the names near it. */
  function lookUp(name: string): unknown {
    if (found.has(name)) return found.get(name);
    const { exists, near } = ask({ what: "tool", name }) as { exists: boolean; near: string[] };
    if (!exists) return near;
    const tool = freeze(toolFunction(name));
    found.set(name, tool);
    return tool;
  }

  function unknownMember(owner: string, name: string, near: string[], hint: string): TypeError {
    const names = near.map((one) => `${owner}.${one}`).join(", ");
    return new TypeError(`${owner}.${name} does not exist${names ? `; did you mean ${names}?` : ""}${hint}`);
  }

  const refuse = () => {
    throw new TypeError("tools can't be changed");
  };
  const asText = () => "[tools: ALL_TOOLS lists them, searchTools(query) finds them by topic]";

  const tools = new Proxy(create(null), {
    get(_, key) {
      // What printing looks for; `await` looks for `then`, and there never is one.
      if (key === "toJSON" || key === Symbol.toPrimitive) return asText;
      if (typeof key !== "string" || key === "then" || key in Object.prototype) return undefined;
      const tool = lookUp(key);
      if (typeof tool === "function") return tool;
      throw unknownMember("tools", key, tool as string[], "; searchTools(query) finds tools by topic");
    },
    has: (_, key) => typeof key === "string" && typeof lookUp(key) === "function",
    ownKeys: () => ask({ what: "names" }) as string[],
    getOwnPropertyDescriptor(_, key) {
      const value = typeof key === "string" ? lookUp(key) : undefined;
      return typeof value === "function" ? { value, enumerable: true, configurable: true, writable: false } : undefined;
    },
    set: refuse,
    defineProperty: refuse,
    deleteProperty: refuse,
    setPrototypeOf: refuse,
    preventExtensions: refuse,
  });

  let list: unknown;
  return {
    tools,
    allTools: freeze(() => {
      list ??= freeze((ask({ what: "list" }) as object[]).map((entry) => freeze(entry)));
      return list;
    }),
    globalFunction,
    group: (owner, members) =>
      new Proxy(freeze(members), {
        get(_, key) {
          const isKnown = key in members || key in Object.prototype || key === "then" || key === "toJSON";
          if (typeof key !== "string" || isKnown) return members[key as string];
          const near = ask({ what: "near", name: key, names: Object.keys(members) }) as string[];
          throw unknownMember(owner, key, near, "");
        },
      }),
    settle(id, ok, json, alias) {
      const entry = pending.get(id);
      if (entry === undefined) return;
      pending.delete(id);
      try {
        const value = json === undefined ? undefined : (parse(json) as Record<string, unknown>);
        if (alias) value!["structured"] = value!["structuredContent"];
        if (ok) {
          entry.resolve(value);
          return;
        }
        defineProperty(entry.error, "message", { value, writable: true, enumerable: false, configurable: true });
        entry.reject(entry.error);
      } catch (error) {
        entry.reject(error as Error);
      }
    },
  };
}
