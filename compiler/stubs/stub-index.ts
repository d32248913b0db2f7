/** The text of `index.ts`, and where each server's stub lies. Pure, and independent of the order of servers. */
import { byCodeUnit, sha256 } from "../../schemas/canonical.ts";

/** Names that Windows keeps for devices, whatever the extension. */
const DEVICE_NAME = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/i;

/**
 * Path of each server's stub, by server name: `servers/weather.ts`. Names that differ only in case would be one file
 * on some disks, and `con` can't be a file on Windows: those get a hash after a dot, which no server's name has.
 */
export function stubPaths(servers: readonly string[]): ReadonlyMap<string, string> {
  const owners = new Map<string, Set<string>>();
  for (const name of servers) {
    const folded = name.toLowerCase();
    owners.set(folded, (owners.get(folded) ?? new Set()).add(name));
  }
  return new Map(
    servers.map((name) => {
      const ambiguous = owners.get(name.toLowerCase())!.size > 1 || DEVICE_NAME.test(name);
      const base = !ambiguous ? name : `${DEVICE_NAME.test(name) ? "_" : ""}${name}.${sha256(name).slice(0, 6)}`;
      return [name, `servers/${base}.ts`];
    }),
  );
}

/** Every client under its name. */
export function renderIndex(servers: readonly { readonly name: string; readonly client: string }[]): string {
  const paths = stubPaths(servers.map(({ name }) => name));
  const lines = [...servers]
    .sort((a, b) => byCodeUnit(a.name, b.name))
    .map(({ name, client }) => `export { ${client} } from "./${paths.get(name)!.replace(/\.ts$/, ".js")}";`);
  // Without an export the file would be a script, not a module.
  const body = lines.length === 0 ? ["export {};"] : lines;
  return `${["// Made by pimcp. Do not edit; run `pimcp compile`.", ...body].join("\n")}\n`;
}
