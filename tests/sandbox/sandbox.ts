/** The built sandbox (its threads run built files) over tools of one's own. */
import { join } from "node:path";
import { afterAll } from "vitest";
import type { HostFunction, SandboxHost } from "../../runtime/sandbox/host.ts";
import type { RunResult, Sandbox, SandboxOptions } from "../../runtime/sandbox/sandbox.ts";

const dist = process.env["PIMCP_DIST"] ?? join(import.meta.dirname, "../../dist");
const built = (await import(
  join(dist, "runtime/sandbox/sandbox.js")
)) as typeof import("../../runtime/sandbox/sandbox.ts");

export type Tool = (args: unknown, signal: AbortSignal) => unknown;

export function hostOf(
  tools: Readonly<Record<string, Tool>>,
  globals?: Readonly<Record<string, HostFunction>>,
): SandboxHost {
  const names = Object.keys(tools);
  return {
    ...(globals && { globals }),
    tools: {
      has: (name) => Object.hasOwn(tools, name),
      names: () => names,
      list: () => names.map((name) => ({ name, description: `does ${name}` })),
      call: (name, args, { signal }) => tools[name]!(args, signal),
      search: (query, { limit, namespace }) =>
        names.slice(0, limit).map((name) => ({ name, description: `${query} ${namespace}` })),
      describe: (name) => (Object.hasOwn(tools, name) ? `declare ${name}` : undefined),
      namespace: (name) => (name === "mcp__docs" ? { name, instructions: "read first", tools: names } : undefined),
    },
  };
}

/** Ended with the test file. */
export function sandboxOf(
  tools: Readonly<Record<string, Tool>> = {},
  options: SandboxOptions & { globals?: Readonly<Record<string, HostFunction>>; has?: (name: string) => boolean } = {},
): Sandbox {
  const { globals, has, ...rest } = options;
  const host = hostOf(tools, globals);
  const sandbox = built.createSandbox(has ? { ...host, tools: { ...host.tools, has } } : host, rest);
  afterAll(() => sandbox.close());
  return sandbox;
}

export function texts(result: RunResult): string[] {
  return result.output.map((item) => (item.type === "text" ? item.text : item.mimeType));
}

/** Resolves after so many milliseconds, rejects when the script ends before. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
