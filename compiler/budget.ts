/**
 * Shares the declaration budget. Servers take turns, each placing its shortest tool not yet placed; one
 * whose next tool does not fit stops, so that a talkative server can't crowd out the others. What is
 * charged is the text of codemode.d.ts itself: its preamble and a header line for every server come
 * first and are always there, even when they alone exceed the budget.
 */
import type { BudgetFile } from "../schemas/budget.schema.ts";
import { byCodeUnit } from "../schemas/canonical.ts";
import type { ScopePlan, ServerPlan, ToolPlan } from "./plan.ts";
import {
  CHARS_PER_TOKEN,
  declarationTokens,
  renderDeclarationsFile,
  type ServerDeclarations,
  tokensOf,
} from "./render/declarations-file.ts";

export interface Budgeted {
  /** Text of codemode.d.ts. */
  readonly declarations: string;
  readonly budget: BudgetFile;
}

interface Share {
  readonly server: ServerPlan;
  /** Tools eligible for a declaration, shortest first. */
  readonly eligible: readonly ToolPlan[];
  readonly shown: Set<string>;
  stopped: boolean;
}

/** Places declarations within `inlineBudget` tokens. */
export function shareBudget(plan: ScopePlan, inlineBudget: number): Budgeted {
  const shares = plan.servers.filter(hasReachableTools).map((server): Share => {
    const eligible = server.tools
      .filter((tool) => tool.exposure === "codemode")
      .sort((a, b) => tokens(a) - tokens(b) || byCodeUnit(a.tool.name, b.tool.name));
    return { server, eligible, shown: new Set(), stopped: false };
  });
  let room = inlineBudget * CHARS_PER_TOKEN - renderDeclarationsFile(shares.map(fileEntry)).length;
  const types = new Set<string>();
  for (let placed = true; placed; ) {
    placed = false;
    for (const share of shares) {
      const next = share.stopped ? undefined : share.eligible[share.shown.size];
      if (next === undefined) continue;
      const cost = charge(next, types);
      if (cost > room) {
        share.stopped = true;
        continue;
      }
      share.shown.add(next.tool.name);
      for (const type of next.declaration!.types) types.add(type.name);
      room -= cost;
      placed = true;
    }
  }
  const declarations = renderDeclarationsFile(shares.map(fileEntry));
  return { declarations, budget: budgetFile(plan, shares, declarations, inlineBudget) };
}

/** Characters that a declaration adds to the file: with its line end, and the types that no other brought along. */
function charge(tool: ToolPlan, known: ReadonlySet<string>): number {
  const { text, types } = tool.declaration!;
  const added = types.filter((type) => !known.has(type.name));
  return added.reduce((sum, type) => sum + type.text.length + 1, text.length + 1);
}

const tokens = (tool: ToolPlan): number => declarationTokens(tool.declaration!);
const hasReachableTools = (server: ServerPlan): boolean => server.tools.some((tool) => tool.exposure !== "hidden");

function fileEntry(share: Share): ServerDeclarations {
  const { catalog } = share.server;
  const summary = catalog.description ?? catalog.instructions;
  return {
    namespace: catalog.namespace,
    name: catalog.name,
    total: share.eligible.length,
    ...(summary !== undefined && { summary }),
    shown: share.server.tools
      .filter((tool) => share.shown.has(tool.tool.name))
      .map((tool) => ({ declaration: tool.declaration! })),
  };
}

/** The server with every tool that can be called declared: what the file would be without a budget. */
function wholeEntry(share: Share): ServerDeclarations {
  const reachable = share.server.tools.filter((tool) => tool.exposure !== "hidden");
  const shown = reachable.map((tool) => ({ declaration: tool.declaration! }));
  return { ...fileEntry(share), total: reachable.length, shown };
}

function budgetFile(plan: ScopePlan, shares: readonly Share[], declarations: string, inlineBudget: number): BudgetFile {
  const declared = new Set(shares.flatMap((share) => [...share.shown]));
  const reachable = plan.servers.flatMap((server) => server.tools.filter((tool) => tool.exposure !== "hidden"));
  const sum = (tools: readonly ToolPlan[]) => tools.reduce((total, tool) => total + tokens(tool), 0);
  return {
    formatVersion: 1,
    inlineBudget,
    charsPerToken: CHARS_PER_TOKEN,
    declaredTokens: tokensOf(declarations),
    totalTokens: tokensOf(renderDeclarationsFile(shares.map(wholeEntry))),
    servers: shares.map((share) => ({
      name: share.server.catalog.name,
      tools: share.eligible.length,
      shown: share.shown.size,
      partial: share.shown.size < share.eligible.length,
      tokens: sum(share.server.tools.filter((tool) => share.shown.has(tool.tool.name))),
    })),
    tools: Object.fromEntries(
      reachable.map((tool) => [tool.tool.name, { tokens: tokens(tool), declared: declared.has(tool.tool.name) }]),
    ),
  };
}
