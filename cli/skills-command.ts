/**
 * `pimcp skills`: the skills of a server, and a file of one of them, verified. What doesn't fit the server's own list is an
 * error and is not printed.
 */
import type { Skill, SkillFile, Skills } from "../runtime/skills.ts";
import { nearest } from "../schemas/nearest.ts";
import { shellWord } from "../schemas/shell-word.ts";
import type { Invocation } from "./commands.ts";
import { fail } from "./fail.ts";
import { EXIT, type Io } from "./io.ts";
import { entryText, printable, verbatim } from "./print.ts";
import { withRuntime } from "./with-runtime.ts";

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const [server, name, file] = invocation.operands;
  const json = invocation.flags["json"] === true;
  return withRuntime("skills", invocation, io, async (runtime) => {
    const skills = await runtime.skills();
    const { skills: listed, invalid } = await skills.list(server!, { signal: io.signal });
    for (const { uri, reason } of invalid) {
      io.err(`pimcp skills: ${printable(uri ?? "an entry")} can't be used: ${printable(reason)}\n`);
    }
    if (name === undefined) {
      printList(listed, json, io);
      return EXIT.ok;
    }
    const skill = listed.find((one) => one.frontmatter.name === name || one.uri === name);
    if (!skill) return fail("skills", invocation, io, unknown(server!, name, listed), EXIT.reported);
    return printFile(await skills.read(server!, skill, file, { signal: io.signal }), json, io);
  });
}

function printList(listed: Awaited<ReturnType<Skills["list"]>>["skills"], json: boolean, io: Io): void {
  if (json) io.out(`${JSON.stringify({ skills: listed })}\n`);
  for (const { frontmatter, resources } of json ? [] : listed) {
    const files = resources === "dynamic" ? "" : resources.length === 1 ? " (1 file)" : ` (${resources.length} files)`;
    io.out(entryText(`${frontmatter.name}${files}`, frontmatter.description, io.outLook));
  }
}

function printFile({ bytes, text, ...file }: SkillFile, json: boolean, io: Io): number {
  const content = text === undefined ? { blob: Buffer.from(bytes).toString("base64") } : { text };
  if (json) io.out(`${JSON.stringify({ ...file, ...content })}\n`);
  else if (text !== undefined) io.out(verbatim(text.endsWith("\n") ? text : `${text}\n`, io.outLook));
  else io.out(`${printable(file.uri)}: ${bytes.length} bytes that are no text; --json prints them in base64\n`);
  return EXIT.ok;
}

function unknown(server: string, name: string, listed: readonly Skill[]): string {
  const names = listed.map(({ frontmatter }) => frontmatter.name);
  const close = nearest(name, names);
  const remedy = close ? `did you mean ${shellWord(close)}?` : `it has: ${names.join(", ") || "none"}`;
  return `server "${server}" has no skill "${name}"; ${remedy}`;
}
