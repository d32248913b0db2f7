// Another extension: asks for the tools' `_meta`, and has a tool and a gate of its own.
import { appendFileSync } from "node:fs";

export default function other(pi) {
  pi.on("session_start", () => {
    pi.registerTool({
      name: "mcp__docs__owned",
      label: "owned",
      description: "Belongs to another extension",
      parameters: { type: "object", properties: {} },
      async execute() {
        return { content: [{ type: "text", text: "not MCP" }], details: undefined };
      },
    });
    pi.registerTool({
      name: "ask_meta",
      label: "ask_meta",
      description: "Tells the _meta of tools",
      parameters: { type: "object", properties: {} },
      async execute() {
        let answer;
        pi.events.emit("tool-meta", {
          reply: (meta) => {
            answer = meta;
          },
        });
        return { content: [{ type: "text", text: JSON.stringify(answer) }], details: undefined };
      },
    });
  });
  pi.on("tool_call", (event) => {
    appendFileSync(
      process.env.GATE_LOG,
      `${JSON.stringify({ tool: event.toolName, parent: event.parentToolCallId, input: event.input })}\n`,
    );
    if (event.input?.text === "forbidden") return { block: true, reason: "the gate said no" };
  });
}
