/**
 * Puts in place what a script finds beside the language, and runs it. Runs inside the VM: taken with `toString`, it refers to
 * nothing outside itself. Everything leaves through `bridge`, as text that a C string can hold.
 */
import type { VmOutput } from "./output.ts";
import type { Serialiser } from "./serialiser.ts";
import type { VmStore } from "./store.ts";
import type { VmTools } from "./tools.ts";

/** Out of the VM: strings and numbers only. Throws what a script sees thrown; see vm.ts for the kinds. */
export type Bridge = (kind: string, ...parts: (string | number)[]) => string | undefined;

/** Into the VM. */
export interface VmApi {
  /** Once, before `run`: stored values as JSON by key, and the names of the host's functions. */
  prepare(storeJson: string, globalsJson: string): void;
  run(script: () => unknown): void;
  readonly settle: VmTools["settle"];
  readonly describe: VmOutput["describe"];
}

export interface VmParts {
  readonly output: VmOutput;
  readonly serialiser: Serialiser;
  readonly store: VmStore;
  readonly tools: VmTools;
}

export function installGlobals(bridge: Bridge, { output, serialiser, store, tools }: VmParts): VmApi {
  const { stringify } = JSON;
  const { create, defineProperty } = Object;
  /** Thrown by `exit()` to leave the script, which has ended by then. */
  const EXIT = Object.freeze({});
  const show = (name: string, value: unknown) => {
    if (typeof value === "function") Object.freeze(value);
    defineProperty(globalThis, name, { value, enumerable: true });
  };

  show("tools", tools.tools);
  defineProperty(globalThis, "ALL_TOOLS", { get: tools.allTools, enumerable: true });
  for (const name of ["searchTools", "describeTool", "describeNamespace"]) show(name, tools.globalFunction(name));
  show("text", output.text);
  show("image", output.image);
  show("console", output.console);
  show("store", store.store);
  show("load", store.load);
  show("exit", () => {
    bridge("done", store.writesJson());
    throw EXIT;
  });

  function addGlobals(names: string[]): void {
    const groups = new Map<string, Record<string, unknown>>();
    for (const name of names) {
      const [group, member] = name.split(".") as [string, string | undefined];
      if (member === undefined) {
        show(name, tools.globalFunction(name));
        continue;
      }
      const members = groups.get(group) ?? create(null);
      members[member] = tools.globalFunction(name);
      groups.set(group, members);
    }
    for (const [name, members] of groups) show(name, tools.group(name, members));
  }

  function finish(value: unknown): void {
    if (value === undefined) {
      bridge("done", store.writesJson());
      return;
    }
    const json = serialiser.toJson(value, "output", "the returned value") ?? stringify(String(value));
    bridge("done", store.writesJson(), json);
  }

  return {
    prepare(storeJson, globalsJson) {
      store.fill(storeJson);
      addGlobals(JSON.parse(globalsJson));
    },
    run(script) {
      const run = async () => finish(await script());
      run().catch((error: unknown) => {
        if (error !== EXIT) bridge("fail", output.describe(error));
      });
    },
    settle: tools.settle,
    describe: output.describe,
  };
}
