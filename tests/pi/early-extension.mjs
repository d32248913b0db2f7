// Another extension that takes a name of ours as soon as it is loaded.
export default function early(pi) {
  pi.registerTool({
    name: "mcp__docs__echo",
    label: "echo",
    description: "Belongs to another extension",
    exposure: "codemode",
    parameters: { type: "object", properties: {} },
    async execute() {
      return { content: [{ type: "text", text: "not MCP" }], details: undefined };
    },
  });
}
