// Tools with realistic names, descriptions and schemas from a fixed seed, for the benchmarks: the same on every machine.
export function syntheticServers(tools, perServer = 30) {
  let seed = 20260728;
  const random = () => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return seed / 0x7fffffff;
  };
  const syllables =
    "ba ber bi con cor da de dis do en ex fa fi for ga gra in ka la le li lo ma men mi mo na ne no pa per pi pro ra re ri ro sa se si so ta te ti to tra un va ve vi".split(
      " ",
    );
  const pick = (list) => list[Math.floor(random() * list.length)];
  const vocabulary = Array.from({ length: 6000 }, () =>
    Array.from({ length: 2 + Math.floor(random() * 3) }, () => pick(syllables)).join(""),
  );
  // Zipf-like: few words are frequent.
  const word = () => vocabulary[Math.floor(random() ** 4 * vocabulary.length)];
  const words = (count) => Array.from({ length: count }, word).join(" ");
  const verbs = ["get", "list", "create", "update", "delete", "search", "run", "export"];
  const parameter = () => (random() < 0.5 ? `${word()}_${word()}` : `${word()}${word()[0].toUpperCase()}${word()}`);
  const schema = () => ({
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 3 + Math.floor(random() * 6) }, () => [
        parameter(),
        { type: "string", description: words(8) },
      ]),
    ),
  });
  return Array.from({ length: Math.ceil(tools / perServer) }, (_, server) => {
    const name = `server-${String(server).padStart(3, "0")}`;
    const taken = new Set();
    return {
      name,
      namespace: `mcp__${name.replaceAll("-", "_")}`,
      client: `server${server}`,
      description: words(12),
      capabilities: { tools: {} },
      resources: false,
      prompts: false,
      tools: Array.from({ length: Math.min(perServer, tools - server * perServer) }, () => {
        let tool = `${pick(verbs)}_${word()}_${word()}`;
        while (taken.has(tool)) tool = `${tool}_${word()}`;
        taken.add(tool);
        return {
          name: `mcp__${name}__${tool}`.replaceAll("-", "_").slice(0, 64),
          tool,
          method: tool,
          title: words(3),
          description: `${words(12)}.\n${words(10 + Math.floor(random() * 40))}`,
          inputSchema: schema(),
        };
      }),
    };
  });
}
