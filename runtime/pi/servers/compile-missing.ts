/**
 * Has servers compiled that are configured and were never compiled, once the session is under way, and says so. Their
 * tools are registered when they are ready. What can't be compiled is one notice; the session goes on without it, and the next one
 * tries again.
 */
import { compileInBackground, mayLackServers, uncompiledServers } from "../background-compile.ts";
import type { PiSession } from "../session.ts";
import { noteCompile } from "./compile-findings.ts";

export async function compileMissing(session: PiSession): Promise<void> {
  const { files, signal, table, notices, env, ctx } = session;
  if (signal.aborted || !mayLackServers(files, table, notices)) return;
  const missing = await uncompiledServers(files, table);
  const [first] = missing;
  if (signal.aborted || first === undefined) return;
  const servers = missing.map(({ name }) => name);
  session.tell(
    `Compiling MCP servers for the first time: ${servers.join(", ")}. Run \`pimcp compile\` to have them ready at once.`,
    "info",
  );
  // The files of an untrusted project are not among the session's, so its servers aren't either: the scope is the user's
  // then, and the compile looks at nothing else.
  const scope = missing.every((server) => server.scope === first.scope) ? first.scope : "all";
  const report = await compileInBackground({ servers, cwd: ctx.cwd, scope, env, signal });
  if (signal.aborted) return;
  noteCompile(session, servers, report.errors);
  if (report.compiled.length > 0) {
    await session.reload();
    session.tell(`MCP servers are ready: ${report.compiled.join(", ")}`, "info");
  }
  if (report.problems.length === 0) return;
  const remedy = "Run `pimcp compile` when that is put right, or start another session.";
  session.tell(["MCP servers could not be compiled:", ...report.problems, remedy].join("\n  "), "warning");
}
