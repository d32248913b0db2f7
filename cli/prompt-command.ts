/** `pimcp prompt`: the prompts of a server, and one of them filled in. */
import type { PromptResult } from "../runtime/resources.ts";
import type { Invocation } from "./commands.ts";
import { fail } from "./fail.ts";
import { EXIT, type Io } from "./io.ts";
import { entryText, verbatim } from "./print.ts";
import { withRuntime } from "./with-runtime.ts";

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const [server, name, ...words] = invocation.operands;
  const json = invocation.flags["json"] === true;
  const bad = words.find((word) => !/^[^=]+=/.test(word));
  if (bad !== undefined) return fail("prompt", invocation, io, `"${bad}" is not key=value`, EXIT.usage);
  return withRuntime("prompt", invocation, io, async (runtime) => {
    const resources = await runtime.resources();
    if (name === undefined) {
      const prompts = await resources.prompts(server!, { signal: io.signal });
      if (json) io.out(`${JSON.stringify({ prompts })}\n`);
      for (const prompt of json ? [] : prompts) {
        const args = (prompt.arguments ?? [])
          .map((one) => (one.required ? `${one.name}=` : `[${one.name}=]`))
          .join(" ");
        io.out(entryText(`${prompt.name} ${args}`.trim(), prompt.description ?? "", io.outLook));
      }
      return EXIT.ok;
    }
    const args = Object.fromEntries(
      words.map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]),
    );
    const result = await resources.prompt(server!, name, args, { signal: io.signal });
    if (json) io.out(`${JSON.stringify(result)}\n`);
    else io.out(verbatim(promptText(result), io.outLook));
    return EXIT.ok;
  });
}

function promptText({ messages }: PromptResult): string {
  const shown = messages.map(({ role, content }) => {
    const text = typeof content["text"] === "string" ? content["text"] : `[${content.type}]`;
    return `${role}: ${text}\n`;
  });
  return shown.join("\n");
}
