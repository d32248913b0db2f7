/**
 * codemode.d.ts: the declarations exactly as the model reads them, in the order given. Complete,
 * strict TypeScript by itself, whatever the servers' texts say. Which tools are shown is the budget's
 * business; this module only writes them down.
 */

import { byCodeUnit } from "../../schemas/canonical.ts";
import type { Declaration } from "./declaration.ts";
import { commentText } from "./untrusted-text.ts";

/** Characters counted as one token, here and in budget.json. */
export const CHARS_PER_TOKEN = 4;
/** Characters of a server's summary. */
export const SUMMARY_CHARS = 200;

/** Tokens a text counts for: characters (UTF-16 units) over four, rounded up. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/** Tokens of one tool: its member and the types only it may need, with their line ends. */
export function declarationTokens(declaration: Declaration): number {
  const types = declaration.types.reduce((sum, type) => sum + type.text.length + 1, 0);
  return tokensOf(`${declaration.text}\n`) + Math.ceil(types / CHARS_PER_TOKEN);
}

export interface ServerDeclarations {
  /** `mcp__<server>`. */
  readonly namespace: string;
  /** Key in mcpServers. */
  readonly name: string;
  /** One line on what the server offers. Untrusted. */
  readonly summary?: string | undefined;
  /** Tools eligible for a declaration. */
  readonly total: number;
  readonly shown: readonly { readonly declaration: Declaration }[];
}

/**
 * What every declaration builds on, shown once. A result's fields are not optional here, so that a script
 * reads `content[0].text` without a cast: which of them a block has depends on its `type`.
 */
const PREAMBLE = `// [..]: constraints of a value. object /* n properties */: cut, describeTool(name) shows all.
type int = number;
// Resolves to the tool's whole MCP CallToolResult, also when isError. structuredContent is absent on errors.
type R<T = unknown> = Promise<{content: Content[]; structuredContent: T; isError?: boolean; _meta?: object}>;
// text: of type text. data (base64), mimeType: of image, audio. uri, name: of resource_link. resource: of resource.
type Content = {type: "text"|"image"|"audio"|"resource_link"|"resource"; text: string; data: string; mimeType: string; uri: string; name: string; resource: {uri: string; mimeType?: string; text?: string; blob?: string}};
`;

/** For a check: a result whose type nobody declared is `any`, and what only some servers send may be read. */
const CHECK_PREAMBLE = PREAMBLE.replace("R<T = unknown>", "R<T = any>")
  .replace("structuredContent: T;", "structuredContent: T; structured: T;")
  .replace("_meta?: object", "_meta?: any")
  .replace(
    "name: string; resource:",
    "name: string; title?: string; description?: string; size?: number; annotations?: any; _meta?: any; resource:",
  );

export interface PreambleOptions {
  readonly check?: boolean;
  /** For a check: results without `structured`, which hosts other than pimcp don't add. */
  readonly plainResults?: boolean;
}

/** The fixed head of codemode.d.ts, as a model reads it or as scripts are checked against it. */
export function renderPreamble({ check, plainResults }: PreambleOptions = {}): string {
  if (check !== true) return PREAMBLE;
  return plainResults === true ? CHECK_PREAMBLE.replace(" structured: T;", "") : CHECK_PREAMBLE;
}

export function renderDeclarationsFile(servers: readonly ServerDeclarations[], options: PreambleOptions = {}): string {
  const types = new Map<string, string>();
  const lines: string[] = [];
  for (const server of servers) {
    lines.push(serverLine(server));
    for (const { declaration } of server.shown) lines.push(withTypes(declaration, types));
  }
  const statements = [...types.entries()].sort(([a], [b]) => byCodeUnit(a, b)).map(([, text]) => `${text}\n`);
  const members = lines.map((line) => `${line}\n`).join("");
  return `${renderPreamble(options)}declare const tools: {\n${members}};\n${statements.join("")}`;
}

/** `// mcp__docs: PARTIAL - 2 of 9 shown. Search the manual.` */
export function serverLine(server: ServerDeclarations): string {
  const { namespace, name, total } = server;
  const shown = server.shown.length;
  const own = namespace === `mcp__${name}` ? "" : ` (${commentText(name, SUMMARY_CHARS)})`;
  const count = shown < total ? `PARTIAL - ${shown} of ${total} shown` : `${total} ${total === 1 ? "tool" : "tools"}`;
  const summary = commentText(server.summary?.trim().split("\n", 1)[0], SUMMARY_CHARS);
  return `// ${commentText(namespace, SUMMARY_CHARS)}${own}: ${count}${summary === "" ? "" : `. ${summary}`}`;
}

/**
 * A declaration's member, its types added to those of the file. Names end in a digest of their text, so two
 * types of one name are the same type; should a server have forged a digest, its type gets another name.
 */
function withTypes(declaration: Declaration, types: Map<string, string>): string {
  const names = new Map<string, string>();
  for (const { name, text } of declaration.types) {
    if ((types.get(name) ?? text) !== text) names.set(name, freeName(name, types));
  }
  const renamed = (text: string) =>
    [...names].reduce((changed, [name, free]) => changed.replace(new RegExp(`\\b${name}\\b`, "g"), free), text);
  for (const { name, text } of declaration.types) types.set(names.get(name) ?? name, renamed(text));
  return renamed(declaration.text);
}

function freeName(name: string, types: ReadonlyMap<string, string>): string {
  let free = name;
  for (let round = 2; types.has(free); round++) free = `${name}_${round}`;
  return free;
}
