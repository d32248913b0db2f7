// Registers MCP servers with Pi: those of the variable REGISTERED at once, and others with a command of its own.
export default function registering(pi) {
  for (const [name, config] of Object.entries(JSON.parse(process.env.REGISTERED ?? "{}")))
    pi.registerMcpServer(name, config);
  pi.registerCommand("register", {
    description: "Registers servers",
    handler: async (json) => {
      for (const [name, config] of Object.entries(JSON.parse(json))) pi.registerMcpServer(name, config);
    },
  });
  pi.registerCommand("tools", {
    description: "Tells the MCP tools that can be reached",
    handler: async (_, ctx) => {
      const tools = pi.getAllTools().filter(({ name, exposure }) => name.startsWith("mcp__") && exposure !== "hidden");
      ctx.ui.notify(
        `tools: ${tools
          .map(({ name }) => name)
          .sort()
          .join(" ")}`,
        "info",
      );
    },
  });
  pi.registerCommand("unregister", {
    description: "Unregisters a server",
    handler: async (name) => pi.unregisterMcpServer(name),
  });
}
