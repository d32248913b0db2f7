/**
 * `pimcp read`: the resources of a server, and one of them. Text is printed as it is; binary contents go to a file.
 */
import { createOutputStore } from "../../runtime/limits/output-store.ts";
import type { ResourceContents } from "../../runtime/resources.ts";
import type { Invocation } from "./commands.ts";
import { EXIT, type Io } from "./io.ts";
import { printable } from "./print.ts";
import { withRuntime } from "./with-runtime.ts";

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const [server, uri] = invocation.operands;
  return withRuntime("read", invocation, io, async (runtime) => {
    const resources = await runtime.resources();
    const json = invocation.flags["json"] === true;
    if (uri === undefined) {
      const [list, templates] = await Promise.all([
        resources.list(server!, { signal: io.signal }),
        // Many servers have no templates and say so with an error.
        resources.templates(server!, { signal: io.signal }).catch(() => []),
      ]);
      if (json) io.out(`${JSON.stringify({ resources: list, resourceTemplates: templates })}\n`);
      for (const one of json ? [] : list) io.out(`${printable(one.uri)}  ${printable(one.title ?? one.name)}\n`);
      for (const one of json ? [] : templates)
        io.out(`${printable(one.uriTemplate)}  ${printable(one.name)} (template)\n`);
      return EXIT.ok;
    }
    const contents = await resources.read(server!, uri, { signal: io.signal });
    if (json) io.out(`${JSON.stringify({ server, uri, contents })}\n`);
    else for (const one of contents) await printContents(one, io);
    return EXIT.ok;
  });
}

async function printContents(contents: ResourceContents, io: Io): Promise<void> {
  if (typeof contents.text === "string") {
    io.out(contents.text.endsWith("\n") ? contents.text : `${contents.text}\n`);
    return;
  }
  const saved = await createOutputStore().save(Buffer.from(contents.blob ?? "", "base64"), ".bin");
  const what = `${printable(contents.uri)} (${printable(contents.mimeType ?? "binary")})`;
  io.out(
    saved.ok ? `${what}: ${saved.bytes} bytes in ${saved.path}\n` : `${what}: could not be saved (${saved.reason})\n`,
  );
}
