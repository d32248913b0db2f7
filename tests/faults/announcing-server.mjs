/**
 * A legacy server over stdio that announces changes of its tools too often. The file TOOLS holds its tools; the file LOG gets
 * a line `ready` for each client and `list` for each list, of all its processes. As `burst` it sends 50 `list_changed` when TOOLS changes,
 * and only then has the new tools; as `endless` it announces whenever any of its processes was asked for a list.
 *
 * node announcing-server.mjs burst|endless TOOLS LOG
 */
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [manner, toolsFile, log] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const announce = () => send({ method: "notifications/tools/list_changed" });
const lists = () => readFileSync(log, "utf8").split("list").length;
let tools = readFileSync(toolsFile, "utf8");
let announced = lists();

const manners = {
  burst() {
    const text = readFileSync(toolsFile, "utf8");
    // Empty while it is being written.
    if (text === tools || text === "") return;
    for (let n = 0; n < 50; n++) announce();
    tools = text;
    announce();
  },
  endless() {
    if (lists() === announced) return;
    announced = lists();
    announce();
  },
};
const watching = setInterval(manners[manner], 5);

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "announcing", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => {
    appendFileSync(log, "list\n");
    return { tools: JSON.parse(tools) };
  },
};

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "notifications/initialized") appendFileSync(log, "ready\n");
  if (id === undefined) return;
  const answer = results[method];
  send(answer ? { id, result: answer(params) } : { id, error: { code: -32601, message: "Method not found" } });
});
lines.on("close", () => clearInterval(watching));
