/** The stubs of a plan: one file a server and `index.ts`. Hidden tools are in none of them. */
import type { Diagnostic, Outcome } from "../../schemas/diagnostic.ts";
import type { ScopePlan } from "../plan.ts";
import { renderStub } from "../stubs/stub-file.ts";
import { renderIndex, stubPaths } from "../stubs/stub-index.ts";
import { createTypeSource, type TypeCache } from "../stubs/type-source.ts";
import type { GeneratedFile } from "./artifacts.ts";

export type { TypeCache } from "../stubs/type-source.ts";

/** A server whose tools are all hidden has no stub: its name alone would say that it is there. */
export async function emitStubs(plan: ScopePlan, cache: TypeCache): Promise<Outcome<readonly GeneratedFile[]>> {
  const types = createTypeSource(cache);
  const servers = plan.servers
    .map(({ catalog, tools }) => ({
      ...catalog,
      tools: tools.filter((tool) => tool.exposure !== "hidden").map((tool) => tool.tool),
    }))
    .filter((server) => server.tools.length > 0);
  const paths = stubPaths(servers.map((server) => server.name));
  const files: GeneratedFile[] = [{ path: "index.ts", content: renderIndex(servers) }];
  const diagnostics: Diagnostic[] = [];
  for (const server of servers) {
    const stub = await renderStub(server, types);
    files.push({ path: paths.get(server.name)!, content: stub.value });
    diagnostics.push(...stub.diagnostics);
  }
  return { value: files, diagnostics };
}
