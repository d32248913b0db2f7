/**
 * Pi's own MCP support gives way to this extension, because it has `/mcp`, and Pi warns of that at every start as if something
 * were wrong. Says what to set so that it doesn't. Pure.
 */
import { isPi } from "./trust/pi-trust.ts";

const SWITCHED_OFF = "-builtin:mcp";

/** `extensions` are those of Pi's settings; undefined where there is nothing to say. */
export function builtInNotice(
  extensions: readonly string[] | undefined,
  { title, argv }: { readonly title: string; readonly argv: readonly string[] },
): string | undefined {
  const last = extensions?.findLast((entry) => /^[+-]builtin:mcp$/.test(entry));
  if (!isPi(title) || last === SWITCHED_OFF || argv.includes("--no-mcp")) return undefined;
  return (
    "pimcp stands in for Pi's built-in MCP support, which is why Pi warns that `mcp` was not loaded. " +
    `To have it switched off for good, add "${SWITCHED_OFF}" to "extensions" in Pi's settings.json.`
  );
}
