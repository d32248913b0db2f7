// The floor: the least a JSON-RPC client over a child process can do and still match answers to requests. No errors, no
// time limits, no cancelling, no notifications.
import { spawn } from "node:child_process";

const MODERN = "2026-07-28";
const clientInfo = { name: "raw", version: "1.0.0" };

/** A client of the server that `entry` starts, ready for calls. `era` is `legacy` or `modern`. */
export async function rawClient({ command, args, env }, era) {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  let next = 0;
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const { id, result } = JSON.parse(line);
      waiting.get(id)?.(result);
      waiting.delete(id);
    }
  });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const request = (method, params) =>
    new Promise((resolve) => {
      const id = next++;
      waiting.set(id, resolve);
      send({ id, method, params });
    });
  if (era === "legacy") {
    await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    send({ method: "notifications/initialized" });
  }
  const envelope = era === "modern" && {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": MODERN,
      "io.modelcontextprotocol/clientInfo": clientInfo,
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  };
  return {
    call: (name, args) => request("tools/call", { name, arguments: args, ...envelope }),
    close: () => child.kill(),
  };
}
