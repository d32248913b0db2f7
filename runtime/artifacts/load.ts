/**
 * Loads compiled artifacts: the one step between a process start and knowing every tool. Reads two
 * or three small files per scope, starts nothing, connects to nothing and imports nothing but node's own
 * modules. Definitions, tokens and the search index are read when they are asked for. What can't be used is
 * a diagnostic that names `pimcp compile`.
 */
import { layerArtifacts } from "../../schemas/artifacts/layer.ts";
import { type ArtifactFolder, type Loaded, openArtifacts } from "../../schemas/artifacts/read.ts";
import type { ToolTable } from "../../schemas/artifacts/tool-table.ts";
import type { Scope } from "../../schemas/config/server-config.ts";
import type { Outcome } from "../../schemas/diagnostic.ts";
import { type FolderReader, folderReader } from "./folder.ts";

export interface ArtifactLocations {
  /** Absolute output folder of the project. */
  readonly projectOut?: string;
  /** Absolute output folder of the user's own servers. */
  readonly userOut?: string;
  /** Absolute output folder of each server that a program brings itself. */
  readonly own?: readonly { readonly server: string; readonly out: string }[];
}

export interface LoadedArtifacts extends Outcome<ToolTable> {
  /** Lets go of files held open for later; the table goes on to work. */
  readonly close: () => void;
}

/** Loads and layers what there is. The value is a table in any case, an empty one where nothing can be used. */
export function loadArtifacts(locations: ArtifactLocations): LoadedArtifacts {
  const readers: FolderReader[] = [];
  const open = (folder: string | undefined) => (folder === undefined ? undefined : openFolder(folder, readers));
  const folders: { [S in Scope]: Loaded<ArtifactFolder> | undefined } = {
    project: open(locations.projectOut),
    user: open(locations.userOut),
  };
  const own = (locations.own ?? []).map(({ server, out }) => ({ server, folder: openFolder(out, readers) }));
  return {
    ...layerArtifacts(folders, own),
    close: () => {
      for (const reader of readers) reader.close();
    },
  };
}

/**
 * Opens a folder. A compile may be replacing the files in this very moment, its manifest last: what looks torn is looked at
 * once more before it is called so.
 */
function openFolder(folder: string, readers: FolderReader[]): Loaded<ArtifactFolder> {
  const first = tryFolder(folder, readers);
  const second = first.ok || first.diagnostic.code !== "artifacts-torn" ? first : tryFolder(folder, readers);
  return second;
}

/** Opens a folder and reads what every session needs at once, so that a torn one is found here. */
function tryFolder(folder: string, readers: FolderReader[]): Loaded<ArtifactFolder> {
  const reader = folderReader(folder, { pin: true });
  const opened = openArtifacts(folder, reader.readFile);
  const failed = !opened.ok
    ? opened
    : [opened.value.json("exposure.json"), opened.value.json("limits.json")].find((file) => !file.ok);
  if (failed && !failed.ok) {
    reader.close();
    return failed;
  }
  readers.push(reader);
  return opened;
}
