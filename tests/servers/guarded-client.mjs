/**
 * A process that uses a stored sign-in: says `ready` once everything is loaded, waits for a line on stdin, connects, calls
 * `add` and prints what came of it as JSON. One argument: JSON with the build's folder, the server's entry and the agent
 * folder; `slow` makes it wait that many milliseconds for its first request's answer at most.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { dist, config, agentDir, timeoutMs } = JSON.parse(process.argv[2]);
const load = (path) => import(pathToFileURL(join(dist, path)).href);
const [{ createAuth }, { openConnection }] = await Promise.all([
  load("runtime/connect/auth/create-auth.js"),
  load("runtime/connect/open.js"),
  import("@modelcontextprotocol/client"),
  import("proper-lockfile"),
]);
console.log("ready");
await new Promise((resolve) => process.stdin.once("data", resolve));
process.stdin.pause();

const auth = createAuth({ agentDir });
const opened = await openConnection(config, { env: process.env, homedir: homedir(), auth });
if (!opened.ok) console.log(JSON.stringify({ code: opened.diagnostic.code, message: opened.diagnostic.message }));
else {
  const { connection } = opened;
  const params = { name: "add", arguments: { a: 2, b: 3 } };
  const outcome = await connection.request("tools/call", params, { timeoutMs });
  console.log(JSON.stringify(outcome.ok ? { text: outcome.result.content[0].text } : { failure: outcome.failure }));
  await connection.close();
}
await auth.settled();
