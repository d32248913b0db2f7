/**
 * Recognises credentials that are written out in a configuration file instead of being referred to as
 * `${VAR}` or `!command`. By name (`API_TOKEN`, `--api-key`, `Authorization`) and by the look of well-known
 * tokens; it can miss some and suspect others, so it only warns. Nothing here returns or prints a value
 * that it suspects: masked copies hold a marker in its place.
 */
import { expandVariables, isCommandValue, variablesOf } from "../expand.ts";
import type { Report } from "./fields.ts";
import { quoted } from "./quote.ts";
import type { ConfigNode, ConfigObject } from "./source.ts";

/** Stands for a literal value in masked copies. */
export const MASK = "<literal>";

const SECRET_NAME =
  /token|secret|passw(?:or)?d|api[-_]?key|access[-_]?key|private[-_]?key|auth[-_]?key|authorization|^cookie$/i;
/** Names that speak about a secret without being one: `TOKEN_FILE`, `MAX_TOKENS`, `SECRET_ID`. */
const HARMLESS_NAME =
  /(?:tokens|[-_](?:file|path|dir|url|uri|limit|count|size|ttl|name|id|type|endpoint|timeout|header|env|var))$/i;
const HARMLESS_VALUE = /^(?:true|false|yes|no|on|off|)$/i;
const TOKEN_SHAPE =
  /^(?:gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|sk-|sk_live_|rk_live_|AKIA|AIza|ya29\.|npm_|ntn_|lin_api_|hf_|eyJ[\w-]{8,}\.)[\w.-]{8,}/;
const SCHEME = /^(?:bearer|basic|token|apikey)\s+/i;

/** `value` without what its `${VAR}` parts refer to; a default (`${VAR:-text}`) is literal text. */
function literalPart(value: string): string {
  const blank: Record<string, string> = Object.create(null);
  for (const name of variablesOf(value)) blank[name] = "";
  const expansion = expandVariables(value, blank);
  return expansion.ok ? expansion.value : value;
}

/** Whether the value of a variable, header or option called `name` looks like a credential written out. */
export function isLiteralSecret(name: string, value: string): boolean {
  if (isCommandValue(value)) return false;
  return isSecretText(name, value) || maskUrl(value) !== value;
}

function isSecretText(name: string, value: string): boolean {
  const literal = literalPart(value).trim().replace(SCHEME, "").trim();
  if (SCHEME.test(`${literal} `) || HARMLESS_VALUE.test(literal)) return false;
  return TOKEN_SHAPE.test(literal) || (SECRET_NAME.test(name) && !HARMLESS_NAME.test(name));
}

/** Arguments with those that hold a literal secret replaced by {@link MASK}. */
export function maskArgs(args: readonly string[]): string[] {
  return args.map((arg, index) => (argHoldsSecret(arg, args[index - 1]) ? MASK : arg));
}

/** `--token abc`, `--token=abc`, `KEY=abc`, `Authorization: Bearer abc`, a connection string, or a bare token. */
function argHoldsSecret(arg: string, before: string | undefined): boolean {
  const option = before !== undefined && /^--?[\w-]+$/.test(before) ? before : "";
  if (option !== "" && !arg.startsWith("-") && isLiteralSecret(option, arg)) return true;
  const assignment = /^([\w.-]+)=(.*)$/s.exec(arg);
  if (assignment && isLiteralSecret(assignment[1]!, assignment[2]!)) return true;
  const header = /^(?:--?[\w-]+=)?([\w-]+):\s+(.*)$/s.exec(arg);
  if (header && isLiteralSecret(header[1]!, header[2]!)) return true;
  return isLiteralSecret("", arg);
}

/** The URL with a literal password and literal values of secret-looking query fields replaced by {@link MASK}. */
export function maskUrl(url: string): string {
  return url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#@:]*:)([^/?#@]*)@/i, (whole, start: string, password: string) =>
      literalPart(password) === "" ? whole : `${start}${MASK}@`,
    )
    .replace(/([?&]([^=&#]*)=)([^&#]*)/g, (whole, start: string, name: string, value: string) =>
      isSecretText(/^(?:key|sig|signature)$/i.test(name) ? "secret" : name, value) ? `${start}${MASK}` : whole,
    );
}

/** Warns about each literal secret of a project's server entry, at its place and without its value. */
export function warnLiteralSecrets(entry: ConfigObject, server: string, report: Report): void {
  const warn = (field: string, node: ConfigNode, variable: string) =>
    report("literal-secret", `${field} looks like a secret written out in a file others may read`, node.at, [
      `write \${${variable}} and set that variable, or keep the server in the user's mcp.json`,
    ]);
  const generic = `${server.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_TOKEN`.replace(/^(?=\d)/, "_");
  for (const field of ["env", "headers"] as const) {
    for (const [name, node] of stringMembers(entry.members.get(field)?.value)) {
      const variable = field === "env" && /^[A-Za-z_]\w*$/.test(name) ? name : generic;
      if (isLiteralSecret(name, node.value)) warn(`${field}.${quoted(name).slice(1, -1)}`, node, variable);
    }
  }
  const args = entry.members.get("args")?.value;
  if (args?.kind === "array") {
    const texts = args.items.map((item) => (item.kind === "scalar" ? String(item.value) : ""));
    maskArgs(texts).forEach((masked, index) => {
      if (masked !== texts[index]) warn(`args[${index}]`, args.items[index]!, generic);
    });
  }
  const url = entry.members.get("url")?.value;
  if (isStringNode(url) && maskUrl(url.value) !== url.value) warn("url", url, generic);
  const oauth = entry.members.get("oauth")?.value;
  const secret = oauth?.kind === "object" ? oauth.members.get("clientSecret")?.value : undefined;
  if (isStringNode(secret) && isLiteralSecret("clientSecret", secret.value))
    warn("oauth.clientSecret", secret, generic);
}

type StringNode = Extract<ConfigNode, { kind: "scalar" }> & { readonly value: string };

function isStringNode(node: ConfigNode | undefined): node is StringNode {
  return node?.kind === "scalar" && typeof node.value === "string";
}

function stringMembers(node: ConfigNode | undefined): [string, StringNode][] {
  if (node?.kind !== "object") return [];
  return [...node.members.values()].flatMap(({ key, value }) =>
    isStringNode(value) ? [[key, value] as [string, StringNode]] : [],
  );
}
