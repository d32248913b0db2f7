/** `pimcp init`: writes a starter mcp.json, and never over anything that is there. */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Invocation } from "./commands.ts";
import { EXIT, type Io } from "./io.ts";
import { printable } from "./print.ts";

/** `--config FILE` names another file to write. */
export async function run({ flags }: Invocation, io: Io): Promise<number> {
  const name = typeof flags["config"] === "string" ? flags["config"] : "mcp.json";
  const path = resolve(io.cwd, name);
  try {
    await writeFile(path, readFileSync(new URL("../templates/mcp.json", import.meta.url), "utf8"), { flag: "wx" });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const reason = code === "EEXIST" ? "is already there and was left alone" : `can't be written (${code})`;
    const message = `${name} ${reason}`;
    if (flags["json"]) io.out(`${JSON.stringify({ ok: false, path: name, error: { message } })}\n`);
    io.err(`pimcp init: ${printable(message)}\n`);
    return EXIT.reported;
  }
  if (flags["json"]) io.out(`${JSON.stringify({ ok: true, path: name })}\n`);
  else io.out(`wrote ${name}\nEdit its servers, then run \`pimcp compile\`.\n`);
  return EXIT.ok;
}
