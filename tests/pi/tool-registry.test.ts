/** Registering tools with Pi: one pass over all tools for many of them, names of others left alone, and a Pi that works otherwise. */
import { describe, expect, test } from "vitest";
import { registerTogether } from "../../runtime/pi/tools/register-together.ts";
import { type Registrable, ToolRegistry } from "../../runtime/pi/tools/tool-registry.ts";

type Tool = Registrable["tool"];

const tool = (name: string, more: object = {}): Tool =>
  ({
    name,
    label: name,
    description: name,
    parameters: { type: "object", properties: {} },
    ...more,
  }) as unknown as Tool;
const registrable = (name: string, more: object = {}): Registrable => {
  const made = tool(name, more);
  return { tool: made, digest: () => JSON.stringify(made) };
};

/** What Pi does with registered tools: keeps them, then goes through all of them by name, first come first served. */
class StubPi {
  /** How often all tools were gone through to the end. */
  passes = 0;
  active: string[] = [];
  readonly #kept = new Map<string, Tool>();
  #known = new Map<string, Tool>();
  readonly others: Tool[] = [];
  readonly how: { readonly excludes?: string; readonly forgetful?: boolean; readonly blind?: boolean };

  constructor(how: StubPi["how"] = {}) {
    this.how = how;
  }

  registerTool = (added: unknown): void => {
    const made = added as Tool;
    const before = new Map(this.#kept);
    this.#kept.set(made.name, made);
    try {
      this.refresh();
    } catch (error) {
      if (this.how.forgetful) {
        this.#kept.clear();
        for (const [name, kept] of before) this.#kept.set(name, kept);
      }
      throw error;
    }
  };

  refresh(): void {
    const known = new Map<string, Tool>();
    for (const made of [...this.others, ...this.#kept.values()]) {
      const name = this.how.blind ? ([...this.#kept].find(([, kept]) => kept === made)?.[0] ?? made.name) : made.name;
      if (name !== this.how.excludes && !known.has(name)) known.set(name, made);
    }
    this.#known = known;
    this.passes++;
  }

  getAllTools = () =>
    [...this.#known.values()] as unknown as ReturnType<ConstructorParameters<typeof ToolRegistry>[0]["getAllTools"]>;
  getActiveTools = () => this.active;
  setActiveTools = (names: string[]) => {
    this.active = names;
  };
  names = () => [...this.#known.keys()];
  exposure = (name: string) => this.#known.get(name)?.exposure;
}

const NAMES = Array.from({ length: 50 }, (_, index) => `mcp__s__tool_${index}`);

describe("many tools", () => {
  test.each([0, 1, 2, 3, 50])("%i are all registered, for at most two passes", (count) => {
    const pi = new StubPi();
    registerTogether(
      pi,
      NAMES.slice(0, count).map((name) => tool(name)),
    );
    expect(pi.names()).toEqual(NAMES.slice(0, count));
    expect(pi.passes).toBeLessThanOrEqual(2);
  });

  test.each([
    ["drops a tool whose registration failed", { forgetful: true }],
    ["never asks for the name again", { blind: true }],
  ])("a Pi that %s has them all nevertheless", (_, how) => {
    const pi = new StubPi(how);
    registerTogether(
      pi,
      NAMES.map((name) => tool(name)),
    );
    expect(pi.names().sort()).toEqual(NAMES.toSorted());
  });

  test("one that the user excluded costs one more pass", () => {
    const pi = new StubPi({ excludes: NAMES[7]! });
    registerTogether(
      pi,
      NAMES.map((name) => tool(name)),
    );
    expect(pi.names()).toEqual(NAMES.filter((name) => name !== NAMES[7]));
    expect(pi.passes).toBe(3);
  });

  test("another failure of a registration is not swallowed", () => {
    const pi = new StubPi();
    const broken = {
      ...pi,
      registerTool: (made: unknown) => {
        if ((made as Tool).name === NAMES[3]) throw new Error("stale");
        pi.registerTool(made);
      },
    };
    expect(() =>
      registerTogether(
        broken,
        NAMES.map((name) => tool(name)),
      ),
    ).toThrow("stale");
    // And nothing of it is left behind: Pi can go through its tools again.
    expect(() => pi.refresh()).not.toThrow();
  });
});

describe("the tools there are", () => {
  test("a name that another extension owns is left to it and given back", () => {
    const pi = new StubPi();
    pi.others.push(tool("mcp__s__theirs"));
    pi.refresh();
    const registry = new ToolRegistry(pi);
    expect(registry.replaceAll([registrable("mcp__s__ours"), registrable("mcp__s__theirs")])).toEqual([
      "mcp__s__theirs",
    ]);
    expect(pi.names()).toEqual(["mcp__s__theirs", "mcp__s__ours"]);
  });

  test("what is gone is hidden and no longer active, and comes back", () => {
    const pi = new StubPi();
    const registry = new ToolRegistry(pi);
    const both = [registrable("mcp__s__a", { exposure: "direct" }), registrable("mcp__s__b", { exposure: "direct" })];
    registry.replaceAll(both);
    pi.active = ["read", "mcp__s__a", "mcp__s__b"];
    registry.replaceAll([both[0]!]);
    expect(pi.exposure("mcp__s__b")).toBe("hidden");
    expect(pi.active).toEqual(["read", "mcp__s__a"]);
    registry.replaceAll(both);
    expect(pi.exposure("mcp__s__b")).toBe("direct");
  });

  test("only what changed is registered again", () => {
    const pi = new StubPi();
    const registry = new ToolRegistry(pi);
    registry.replaceAll(NAMES.map((name) => registrable(name)));
    const { passes } = pi;
    registry.replaceAll(NAMES.map((name) => registrable(name)));
    expect(pi.passes).toBe(passes);
    registry.replaceAll(NAMES.map((name) => registrable(name, name === NAMES[3] ? { description: "new" } : {})));
    expect(pi.passes).toBe(passes + 1);
  });
});
