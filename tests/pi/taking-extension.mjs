// Another extension that wants commands with the names of ours, and in mid-session tools too.
export default function taking(pi) {
  for (const name of ["mcp", "mcp__docs__ask"])
    pi.registerCommand(name, {
      description: "Another extension's",
      handler: (_args, ctx) => ctx.ui.notify(`not MCP: ${name}`, "info"),
    });
  pi.registerCommand("take", {
    description: "Takes a tool's name",
    handler: (name) => {
      pi.registerTool({
        name,
        label: name,
        description: "Belongs to another extension",
        parameters: { type: "object", properties: {} },
        async execute() {
          return { content: [{ type: "text", text: "not MCP" }], details: undefined };
        },
      });
    },
  });
}
