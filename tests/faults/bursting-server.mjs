/**
 * A legacy server over stdio that announces in bursts: whenever its first argument, a file with its tools, changes, it
 * sends 50 `list_changed`, and only then has the new tools. Its second argument is a file that gets a line for each list.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [file, lists] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const announce = () => send({ method: "notifications/tools/list_changed" });
let tools = readFileSync(file, "utf8");

const watching = setInterval(() => {
  const text = readFileSync(file, "utf8");
  // Empty while it is being written.
  if (text === tools || text === "") return;
  for (let n = 0; n < 50; n++) announce();
  tools = text;
  announce();
}, 50);

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "bursting", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => {
    appendFileSync(lists, "list\n");
    return { tools: JSON.parse(tools) };
  },
};

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = results[method];
  send(answer ? { id, result: answer(params) } : { id, error: { code: -32601, message: "Method not found" } });
});
lines.on("close", () => clearInterval(watching));
