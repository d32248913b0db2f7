/** The version of this package, read where it is written: package.json. */
import { readFileSync } from "node:fs";

function read(): string {
  // From the build this file is two folders below package.json, from source one.
  for (const up of ["../../package.json", "../package.json"]) {
    try {
      const found = JSON.parse(readFileSync(new URL(up, import.meta.url), "utf8")) as {
        name?: string;
        version?: string;
      };
      if (found.name === "pimcp" && found.version) return found.version;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  throw new Error("package.json of pimcp not found");
}

export const version: string = read();
