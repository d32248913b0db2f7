// An extension of Pi for the benchmark of scripts: a tool that answers at once, so that what is measured is the way there.
export default function extension(pi) {
  pi.registerTool({
    name: "instant",
    label: "instant",
    description: "Answers at once",
    parameters: { type: "object", properties: { n: { type: "number" } } },
    outputSchema: { type: "object", properties: { n: { type: "number" } } },
    exposure: "codemode",
    execute: async (_id, { n }) => ({
      content: [{ type: "text", text: String(n) }],
      details: undefined,
      structuredContent: { n },
    }),
  });
}
