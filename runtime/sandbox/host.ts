/**
 * What a sandbox's scripts may reach: an interface, so that an embedder can offer whatever it likes and tests need no servers.
 * Nothing of it is called until a script asks, so a host with thousands of tools costs a script nothing.
 */
import { DEFAULT_SEARCH_LIMIT } from "../../schemas/search-query.ts";

export interface HostCallContext {
  /** Aborted when the script ends, however that happens. */
  readonly signal: AbortSignal;
}

export interface ListedTool {
  readonly name: string;
  readonly description: string;
}

export interface DescribedNamespace {
  readonly name: string;
  readonly description?: string;
  readonly instructions?: string;
  readonly tools: readonly string[];
}

export interface SandboxTools {
  has(name: string): boolean;
  /** Of every callable tool. */
  names(): readonly string[];
  /** For `ALL_TOOLS`. */
  list(): readonly ListedTool[];
  /** Its value becomes JSON; a rejection reaches the script as an Error with the same message. */
  call(name: string, args: unknown, context: HostCallContext): unknown;
  /** For `searchTools()`: the best first. */
  search(query: string, options: { readonly limit: number; readonly namespace?: string }): unknown;
  /** For `describeTool()`: text with description and declaration, or undefined. */
  describe(name: string): unknown;
  /** For `describeNamespace()`. */
  namespace(name: string): DescribedNamespace | undefined | Promise<DescribedNamespace | undefined>;
}

/** Gets what the script passed, after a round trip through JSON. */
export type HostFunction = (args: readonly unknown[], context: HostCallContext) => unknown;

export interface SandboxHost {
  readonly tools: SandboxTools;
  /** More globals for scripts, as async functions: `name`, or `group.member` for a member of an object. */
  readonly globals?: Readonly<Record<string, HostFunction>>;
}

const RESERVED =
  "tools text image console exit store load ALL_TOOLS searchTools describeTool describeNamespace globalThis".split(" ");

/** Names of a host's globals. Throws TypeError for one that can't be: that is a mistake of the embedder's. */
export function globalNames({ globals = {} }: SandboxHost): string[] {
  const names = Object.keys(globals);
  const groups = new Set(names.flatMap((name) => (name.includes(".") ? [name.slice(0, name.indexOf("."))] : [])));
  for (const name of names) {
    const isName = /^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)?$/.test(name);
    if (!isName) throw new TypeError(`a global is called name or group.member, not ${JSON.stringify(name)}`);
    if (RESERVED.includes(name.split(".")[0]!))
      throw new TypeError(`the global ${name} would hide one that scripts have`);
    if (groups.has(name)) throw new TypeError(`the global ${name} is a group already`);
  }
  return names;
}

/** The functions that look tools up, by the names they have in scripts. */
export function lookupFunctions(tools: SandboxTools): Readonly<Record<string, HostFunction>> {
  const text = (name: string, what: string, value: unknown) => {
    if (typeof value !== "string") throw new TypeError(`${name}() takes ${what} as a string`);
    return value;
  };
  return {
    searchTools([query, options]) {
      const { limit, namespace } = (options ?? {}) as { limit?: unknown; namespace?: unknown };
      if (limit != null && !(Number.isInteger(limit) && (limit as number) > 0)) {
        throw new TypeError("searchTools(): limit is a positive whole number");
      }
      if (namespace != null && typeof namespace !== "string")
        throw new TypeError("searchTools(): namespace is a string");
      return tools.search(text("searchTools", "a query", query), {
        limit: (limit as number | null | undefined) ?? DEFAULT_SEARCH_LIMIT,
        ...(typeof namespace === "string" && { namespace }),
      });
    },
    describeTool: ([name]) => tools.describe(text("describeTool", "a tool's name", name)),
    describeNamespace: ([name]) => tools.namespace(text("describeNamespace", "a namespace's name", name)),
  };
}
