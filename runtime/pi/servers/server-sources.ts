/** What each configuration file says of one server, in a form that a change of it can be planned with. Reads and writes nothing else. */
import { readFile } from "node:fs/promises";
import { parseConfigSource } from "../../../schemas/config/source.ts";
import type { CandidateFile, ConfigurationFiles } from "../../connect/configuration-files.ts";
import type { ServerSource } from "./server-change.ts";

/** From low to high. A file that can't be read or parsed says nothing here: the change of it is refused when it is made. */
export function serverSources({ candidates }: ConfigurationFiles, server: string): Promise<readonly ServerSource[]> {
  return Promise.all(candidates.map((file) => sourceOf(file, server)));
}

async function sourceOf(file: CandidateFile, server: string): Promise<ServerSource> {
  let text: string;
  try {
    text = await readFile(file.path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { file, exists: code !== "ENOENT" && code !== "ENOTDIR", entry: undefined };
  }
  const { root } = parseConfigSource(text, file.display);
  const servers = root?.kind === "object" ? root.members.get("mcpServers")?.value : undefined;
  const entry = servers?.kind === "object" ? servers.members.get(server)?.value : undefined;
  return { file, exists: true, entry: entry?.kind === "object" ? entry : undefined };
}
