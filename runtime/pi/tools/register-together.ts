/**
 * Registers many tools at once. Pi has no call for that, and goes through all its tools after each registration: 600 one by
 * one hold a session up by 200 ms. It asks every tool for its name when it does; so the first of ours declines to be asked
 * while others follow it, which ends that pass at once, and the last lets one whole pass run. Where Pi doesn't behave like
 * this, tools are registered one by one, and nothing but the time is lost.
 */
import type { ExtensionAPI, ToolDefinition } from "@earendil-works/pi-coding-agent";

/** Thrown to Pi and caught right behind it: there are more tools to come. */
const MORE_TO_COME = Symbol("more tools are to come");

export function registerTogether(
  pi: Pick<ExtensionAPI, "registerTool" | "getAllTools">,
  tools: readonly ToolDefinition[],
): void {
  const [first, ...others] = tools;
  const last = others.pop();
  if (first === undefined) return;
  const gate = { isShut: false };
  pi.registerTool(others.length === 0 ? first : gated(first, gate));
  gate.isShut = true;
  try {
    for (const tool of others) {
      // Pi took this one without asking for the first one's name: then there is nothing to be gained.
      if (!declined(() => pi.registerTool(tool))) gate.isShut = false;
    }
  } finally {
    gate.isShut = false;
  }
  if (last !== undefined) pi.registerTool(last);
  if (others.length > 0) registerMissing(pi, tools);
}

function gated(tool: ToolDefinition, gate: { readonly isShut: boolean }): ToolDefinition {
  const { name } = tool;
  const get = () => {
    if (gate.isShut) throw MORE_TO_COME;
    return name;
  };
  return Object.defineProperty({ ...tool }, "name", { get, enumerable: true, configurable: true });
}

function declined(register: () => void): boolean {
  try {
    register();
    return false;
  } catch (thrown) {
    if (thrown === MORE_TO_COME) return true;
    throw thrown;
  }
}

/** Should Pi drop a tool whose registration was cut short, it is registered again. One that the user excluded stays away. */
function registerMissing(
  pi: Pick<ExtensionAPI, "registerTool" | "getAllTools">,
  tools: readonly ToolDefinition[],
): void {
  const known = () => new Set(pi.getAllTools().map(({ name }) => name));
  const before = known();
  const missing = tools.filter(({ name }) => !before.has(name));
  const [probe, ...rest] = missing;
  if (probe === undefined) return;
  pi.registerTool(probe);
  if (known().has(probe.name)) for (const tool of rest) pi.registerTool(tool);
}
