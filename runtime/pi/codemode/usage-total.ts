/** What the models cost that one script used, summed up for its tool's result. */
import type { AgentToolResult } from "@earendil-works/pi-coding-agent";

export type ModelUsage = NonNullable<AgentToolResult<unknown>["usage"]>;

export class UsageTotal {
  #total: ModelUsage | undefined;

  get total(): ModelUsage | undefined {
    return this.#total;
  }

  add(used: ModelUsage): void {
    this.#total = this.#total === undefined ? used : sum(this.#total, used);
  }
}

function sum(a: ModelUsage, b: ModelUsage): ModelUsage {
  const optional = (key: "cacheWrite1h" | "reasoning") =>
    a[key] === undefined && b[key] === undefined ? {} : { [key]: (a[key] ?? 0) + (b[key] ?? 0) };
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    ...optional("cacheWrite1h"),
    ...optional("reasoning"),
    totalTokens: a.totalTokens + b.totalTokens,
    cost: {
      input: a.cost.input + b.cost.input,
      output: a.cost.output + b.cost.output,
      cacheRead: a.cost.cacheRead + b.cost.cacheRead,
      cacheWrite: a.cost.cacheWrite + b.cost.cacheWrite,
      total: a.cost.total + b.cost.total,
      // A sum is the provider's own only where both parts are.
      totalFromProvider: a.cost.totalFromProvider === true && b.cost.totalFromProvider === true,
    },
  };
}
