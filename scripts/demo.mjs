// What a newcomer sees first: this repository's own mcp.json compiled with real servers, then what came of it.
import { spawnSync } from "node:child_process";

const root = new URL("..", import.meta.url).pathname;
const steps = [
  ["Compile mcp.json: ask three real servers what they offer", ["compile"]],
  ["What an agent can reach, and what it costs", ["list"]],
  ["Find a tool by what it does", ["search", "read a file", "--limit", "3"]],
  ["One tool as the model sees it", ["describe", "filesystem/read_text_file"]],
  ["And called: connected now, for the first time", ["call", "everything", "get-sum", "a=20", "b=22"]],
];
for (const [title, args] of steps) {
  console.log(`\n── ${title}\n$ pimcp ${args.map((arg) => (arg.includes(" ") ? `"${arg}"` : arg)).join(" ")}`);
  const { status } = spawnSync(process.execPath, ["dist/cli/bin.cjs", ...args], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}
