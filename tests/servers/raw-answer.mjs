/**
 * A 2025-era server over stdio with one tool `t`, whose results are the text of the file ANSWER, and whose tool list is
 * that of TOOLS where it exists: JSON that no `JSON.stringify` would write. Files are read anew for each answer.
 */
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const { ANSWER, TOOLS } = process.env;
const listed = () =>
  TOOLS && existsSync(TOOLS) ? readFileSync(TOOLS, "utf8") : '{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}';

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const send = (result) => process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}\n`);
  if (method === "initialize") {
    const serverInfo = { name: "raw-answer", version: "1.0.0" };
    send(JSON.stringify({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo }));
  } else if (method === "tools/list") send(listed());
  else if (method === "tools/call") send(readFileSync(ANSWER, "utf8"));
  else process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"no"}}\n`);
});
