/**
 * A legacy server over stdio that announces: whenever the file named by its argument changes, it sends
 * `notifications/tools/list_changed`. The file holds its tools. CHANGE_LOG, if set, gets a line for each start and list.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [file] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const log = (event) => process.env.CHANGE_LOG && appendFileSync(process.env.CHANGE_LOG, `${event}\n`);
let known = readFileSync(file, "utf8");
log("start");

const watching = setInterval(() => {
  const text = readFileSync(file, "utf8");
  // Empty while it is being written.
  if (text === known || text === "") return;
  known = text;
  send({ method: "notifications/tools/list_changed" });
}, 50);

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "changing", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => {
    log("list");
    return { tools: JSON.parse(readFileSync(file, "utf8")) };
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
