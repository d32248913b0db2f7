/** Says which tools, or prompts, of a catalog fold to one name, and what they are called instead. Pure. */
import type { ServerConfig } from "../schemas/config/server-config.ts";
import { type Diagnostic, diagnostic } from "../schemas/diagnostic.ts";
import { plainToolName, type ToolRef } from "../schemas/names.ts";

/** One warning for every set of them. `names` are the final ones of `refs`; `servers` say where they stand. */
export function nameCollisions(
  noun: "tool" | "prompt",
  refs: readonly ToolRef[],
  names: readonly string[],
  servers: readonly { readonly config: ServerConfig }[],
): Diagnostic[] {
  const groups = new Map<string, number[]>();
  for (const [index, ref] of refs.entries()) {
    const plain = plainToolName(ref);
    const group = groups.get(plain);
    if (group === undefined) groups.set(plain, [index]);
    else group.push(index);
  }
  return [...groups]
    .filter(([, members]) => members.length > 1)
    .map(([plain, members]) => {
      const owners = members.map((index) => refs[index]!);
      const { server } = owners[0]!;
      const sameServer = owners.every((ref) => ref.server === server);
      const listed = owners.map((ref) => `"${sameServer ? ref.tool : `${ref.server}/${ref.tool}`}"`).join(" and ");
      const config = servers.find((one) => one.config.name === server)?.config;
      return diagnostic(
        `${noun}-name-collision`,
        `${noun}s ${listed}${sameServer ? ` of "${server}"` : ""} fold to ${plain}; each gets a hash suffix`,
        {
          server,
          ...config?.location,
          notes: members.map((index) => `"${refs[index]!.tool}" is ${names[index]}`),
        },
      );
    });
}
