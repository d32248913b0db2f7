/**
 * Has servers compiled that are configured and were never compiled, once the session is under way, and says so. Their
 * tools are registered when they are ready. Never throws: a session goes on without them.
 */
import { compileInBackground, mayLackServers, uncompiledServers } from "./background-compile.ts";
import type { PiSession } from "./session.ts";

export async function compileMissing(session: PiSession): Promise<void> {
  const { files, signal, table, notices } = session;
  if (signal.aborted || !mayLackServers(files, table, notices)) return;
  const servers = await uncompiledServers(files, table);
  if (signal.aborted || servers.length === 0) return;
  const names = servers.join(", ");
  session.tell(
    `Compiling MCP servers for the first time: ${names}. Run \`pimcp compile\` to have them ready at once.`,
    "info",
  );
  const { isProjectTrusted, env } = session;
  const report = await compileInBackground({
    servers,
    // Without the project nothing of it may be read: the user's folder has the user's configuration alone.
    cwd: isProjectTrusted ? session.ctx.cwd : files.agentDir,
    scope: isProjectTrusted ? "all" : "user",
    env,
    signal,
  });
  if (signal.aborted) return;
  if (report.compiled.length > 0) {
    await session.reload();
    session.tell(`MCP servers are ready: ${report.compiled.join(", ")}`, "info");
  }
  for (const problem of report.problems)
    session.tell(`${problem}\n  Run \`pimcp compile\` to see all of it.`, "warning");
}
