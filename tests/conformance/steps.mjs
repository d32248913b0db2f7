// What somebody does with a server that has been compiled: call every tool, read every resource, fill in every prompt, look at
// its skills. A few scenarios are about doing one thing in particular, and have steps of their own.
import { argumentsFor } from "./sample.mjs";

/** Steps in order, each a name and what it does; a step says what came of it or throws. */
export function stepsFor(scenario, at) {
  const own = OWN_STEPS[scenario];
  if (own) return own(at);
  return [...calls(at), ...resources(at), ...prompts(at), ...skills(at)];
}

/** The calls that the suite asks for, else one of every tool there is. */
function calls({ runtime, server, context }) {
  const tools = runtime.table.tools({ server });
  const wanted =
    context.toolCalls ??
    tools.map((tool) => ({ name: tool.tool, arguments: argumentsFor(schemaOf(runtime, server, tool.tool)) }));
  return wanted.map(({ name, arguments: args }) => [
    `call ${name}`,
    async () => outcomeOf(() => runtime.call(server, name, args)),
  ]);
}

function resources({ runtime, server }) {
  if (!offers(runtime, server, "resources")) return [];
  return [
    [
      "read resources",
      async () => {
        const found = await (await runtime.resources()).list(server);
        for (const { uri } of found) await (await runtime.resources()).read(server, uri);
        return `${found.length} read`;
      },
    ],
  ];
}

function prompts({ runtime, server }) {
  if (!offers(runtime, server, "prompts")) return [];
  return [
    [
      "fill in prompts",
      async () => {
        const found = await (await runtime.resources()).prompts(server);
        for (const prompt of found) {
          const required = (prompt.arguments ?? []).filter((one) => one.required);
          const args = Object.fromEntries(required.map((one) => [one.name, "text"]));
          await (await runtime.resources()).prompt(server, prompt.name, args);
        }
        return `${found.length} filled in`;
      },
    ],
  ];
}

function skills({ runtime, server }) {
  if (!hasSkills(runtime, server)) return [];
  return [
    [
      "list skills",
      async () => (await listSkills(runtime, server)).map(({ frontmatter }) => frontmatter.name).join(", "),
    ],
  ];
}

/** Reads a skill as an agent does that wants to use it: `SKILL.md`, and what belongs to it only once that is accepted. */
function useSkills({ runtime, server }) {
  const step = async () => {
    const read = await runtime.skills();
    for (const skill of await listSkills(runtime, server)) {
      await read.read(server, skill);
      for (const { uri } of skill.resources) await read.read(server, skill, uri);
    }
  };
  return [["use every skill", step]];
}

async function listSkills(runtime, server) {
  const { skills, invalid } = await (await runtime.skills()).list(server);
  if (invalid.length > 0) throw new Error(invalid.map(({ uri, reason }) => `${uri}: ${reason}`).join("; "));
  return skills;
}

const OWN_STEPS = {
  "sep-2640-client-verify-digest": useSkills,
  "sep-2640-client-verify-size": useSkills,
  "sep-2640-client-verify-frontmatter": useSkills,
  /** One tool's schema is an argument of the other: what was compiled of it is shown to the server. */
  "json-schema-2020-12-preservation": ({ runtime, server }) => [
    [
      "send a tool's schema back",
      async () => {
        const schema = schemaOf(runtime, server, "json_schema_2020_12_tool");
        return textOf(await runtime.call(server, "json_schema_echo", { schema }));
      },
    ],
  ],
};

function schemaOf(runtime, server, tool) {
  const entry = runtime.table.byTool(server, tool);
  const definition = entry === undefined ? undefined : runtime.table.definition(entry.name);
  if (!definition?.ok) throw new Error(`no tool ${tool} was compiled`);
  return definition.value.inputSchema;
}

function offers(runtime, server, what) {
  const definition = runtime.table.serverDefinition(server);
  return definition.ok && definition.value?.[what] === true;
}

function hasSkills(runtime, server) {
  const definition = runtime.table.serverDefinition(server);
  const extensions = definition.ok ? definition.value?.capabilities?.extensions : undefined;
  return extensions?.["io.modelcontextprotocol/skills"] !== undefined;
}

/** A server that answers a call with an error has answered it; that is no failure of the client's. */
async function outcomeOf(call) {
  try {
    return textOf(await call());
  } catch (error) {
    if (error.name !== "ToolError" && error.cause?.kind !== "rpc-error") throw error;
    return `the server answers: ${error.message}`;
  }
}

const textOf = ({ text }) => text;
