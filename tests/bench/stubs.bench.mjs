// Stub generation against json-schema-to-typescript called once per schema, for 30, 300 and 3,000 tools, and from a full cache.
// Run: npm run bench -- stubs
import { performance } from "node:perf_hooks";
import converter from "json-schema-to-typescript";
import { renderStub } from "../../dist/compiler/stubs/stub-file.js";
import { createTypeSource } from "../../dist/compiler/stubs/type-source.js";

const TOOLS_PER_SERVER = 30;

/** A tool of ordinary size: eight properties, an enum, a nested object, a list of a shared definition; one in nine has an output. */
function syntheticTool(index) {
  const text = (description) => ({ type: "string", description: `${description} of case ${index}` });
  const inputSchema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: {
      [`id${index}`]: text("Identifier of the thing to work on"),
      mode: {
        type: "string",
        enum: ["read", "write", `mode-${index}`],
        default: "read",
        description: "How to open it",
      },
      limit: { type: "integer", minimum: 1, maximum: 100 + index, description: "Most results to return" },
      cursor: { type: ["string", "null"], description: "Where the last page ended" },
      filter: {
        type: "object",
        properties: {
          field: text("Field"),
          value: { anyOf: [{ type: "string" }, { type: "number" }] },
          negate: { type: "boolean" },
        },
        required: ["field"],
        additionalProperties: false,
      },
      tags: { type: "array", items: { type: "string" }, maxItems: 20 },
      edits: { type: "array", items: { $ref: "#/definitions/Edit" }, description: "Changes, in order" },
      headers: { type: "object", additionalProperties: { type: "string" } },
    },
    required: [`id${index}`, "mode"],
    additionalProperties: false,
    definitions: {
      Edit: {
        type: "object",
        properties: { oldText: text("Old text"), newText: text("New text") },
        required: ["oldText", "newText"],
      },
    },
  };
  const outputSchema = {
    type: "object",
    properties: {
      items: { type: "array", items: { type: "object", properties: { [`name${index}`]: { type: "string" } } } },
    },
    required: ["items"],
  };
  return {
    name: `t${index}`,
    tool: `tool_${index}`,
    method: `tool${index}`,
    description: `Does thing ${index}.`,
    inputSchema,
    ...(index % 9 === 0 ? { outputSchema } : {}),
  };
}

function syntheticServers(count) {
  const tools = Array.from({ length: count }, (_, index) => syntheticTool(index));
  return Array.from({ length: Math.ceil(count / TOOLS_PER_SERVER) }, (_, index) => ({
    name: `server${index}`,
    client: `server${index}`,
    tools: tools.slice(index * TOOLS_PER_SERVER, (index + 1) * TOOLS_PER_SERVER),
  }));
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function ours(servers, cache) {
  const types = createTypeSource(cache);
  for (const server of servers) await renderStub(server, types);
}

async function baseline(servers) {
  for (const { tools } of servers)
    for (const { method, inputSchema, outputSchema } of tools) {
      await converter.compile(inputSchema, method, { format: false });
      if (outputSchema) await converter.compile(outputSchema, `${method}Output`, { format: false });
    }
}

// The best of several runs: what other processes of the machine take is not ours.
const best = (values) => Math.min(...values);

// What a process pays once: loading the converter and, for us, TypeScript for the last check.
const first = await timed(() => ours(syntheticServers(1), new Map()));
console.log(`first stub of a process, imports included: ${first.toFixed(0)} ms`);
await ours(syntheticServers(300), new Map());
await baseline(syntheticServers(300));

const rows = [];
for (const count of [30, 300, 3000]) {
  const runs = { 30: 20, 300: 6, 3000: 3 }[count];
  const results = { ours: [], cached: [], baseline: [] };
  for (let run = 0; run < runs; run++) {
    const servers = syntheticServers(count);
    const cache = new Map();
    results.ours.push((await timed(() => ours(servers, cache))) / count);
    results.cached.push((await timed(() => ours(servers, cache))) / count);
    results.baseline.push((await timed(() => baseline(servers))) / count);
  }
  rows.push({
    tools: count,
    ours: best(results.ours),
    cached: best(results.cached),
    json2ts: best(results.baseline),
  });
}
console.log("ms per tool (best run)");
console.table(
  rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, Number(value.toFixed(3))]))),
);
console.log(`3,000 against 300 tools, per tool: ${(rows[2].ours / rows[1].ours).toFixed(2)}x`);
