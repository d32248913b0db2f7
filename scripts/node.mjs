// Runs a script of the project with the Node that npm itself runs on. The devDependency `node`, which is there to start
// Pi in tests, puts its own binary first on the PATH of every npm script; everything else has to run on the user's.
import { spawnSync } from "node:child_process";
import { delimiter } from "node:path";

const own = process.env.npm_node_execpath ?? process.execPath;
const path = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((folder) => !/node_modules[\\/](\.bin|node[\\/]bin)$/.test(folder));
const { status, signal } = spawnSync(own, process.argv.slice(2), {
  stdio: "inherit",
  env: { ...process.env, PATH: path.join(delimiter) },
});
process.exit(signal ? 1 : (status ?? 1));
