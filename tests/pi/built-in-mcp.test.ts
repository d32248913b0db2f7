/** When a session says how Pi's own MCP support is switched off. */
import { expect, test } from "vitest";
import { builtInNotice } from "../../runtime/pi/built-in-mcp.ts";

const rows: [says: boolean, extensions: string[] | undefined, title: string, argv: string[]][] = [
  [true, undefined, "pi", []],
  [true, ["/some/extension.ts"], "pi", ["-p", "go"]],
  [true, ["-builtin:mcp", "+builtin:mcp"], "pi-rpc", []],
  [false, ["-builtin:mcp"], "pi", []],
  [false, ["+builtin:mcp", "-builtin:mcp"], "pi", []],
  [false, [], "pi", ["--no-mcp"]],
  // An application with Pi in it has no built-in extensions.
  [false, undefined, "node", []],
];
test.each(rows)("%s: extensions %j of %s %j", (says, extensions, title, argv) => {
  const notice = builtInNotice(extensions, { title, argv });
  if (says) expect(notice).toContain('add "-builtin:mcp" to "extensions"');
  else expect(notice).toBeUndefined();
});
