/**
 * `pimcp read`: the resources of a server, and one of them. Text is printed as it is; binary contents go to a file.
 */
import { extensionFor } from "../runtime/limits/mime.ts";
import { createOutputStore } from "../runtime/limits/output-store.ts";
import type { ResourceContents } from "../runtime/resources.ts";
import type { Invocation } from "./commands.ts";
import { EXIT, type Io } from "./io.ts";
import { printable, verbatim } from "./print.ts";
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
    const text = verbatim(contents.text, io.outLook);
    io.out(text.endsWith("\n") ? text : `${text}\n`);
    return;
  }
  const bytes = Buffer.from(contents.blob ?? "", "base64");
  const saved = await createOutputStore().save(bytes, extensionFor(contents.mimeType));
  const what = `${printable(contents.uri)} (${printable(contents.mimeType ?? "binary")})`;
  io.out(
    saved.ok ? `${what}: ${saved.bytes} bytes in ${saved.path}\n` : `${what}: could not be saved (${saved.reason})\n`,
  );
}
