/**
 * The one detector of credentials: by name (`API_TOKEN`, `--api-key`, `Authorization`), by place (the password of a URL)
 * and by the look of well-known tokens. What it finds written out in a project's file is warned about and masked in
 * digests; what it finds in values once they are resolved is taken out of everything that a server says. It can
 * miss some and suspect others, so nothing is refused for it. It prints nothing that it suspects.
 */
import { expandVariables, isCommandValue, variablesOf } from "../expand.ts";
import { jsonIn } from "../json.ts";
import type { Report } from "./fields.ts";
import { quoted } from "./quote.ts";
import { OAUTH_SECRETS } from "./server-config.ts";
import type { ConfigNode, ConfigObject } from "./source.ts";

/** Stands for a literal value in masked copies. */
export const MASK = "<literal>";

/** Whatever has such a name is a secret. */
const SECRET_NAME =
  /token|secret|passw(?:or)?d|passphrase|(?:api|access|private|auth|account|encryption|signing)[-_]?key|authorization|^cookie$|(?:^|[-_])(?:pat|pass)$|[-_]pwd?$/i;
/** What has such a name is one unless it consists of plain words. */
const SUSPECT_NAME = /auth|credential|private|bearer|cookie|session|connection_?string|webhook|(?:^|[-_])(?:key|dsn)$/i;
/** Names that speak about a secret without being one: `TOKEN_FILE`, `MAX_TOKENS`, `SECRET_ID`. */
const HARMLESS_NAME =
  /(?:tokens|[-_](?:file|path|dir|url|uri|limit|count|size|ttl|name|id|type|endpoint|timeout|header|env|var))$/i;
const HARMLESS_VALUE = /^(?:true|false|yes|no|on|off|)$/i;
const TOKEN_SHAPE =
  /^(?:gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|sk-|sk_live_|rk_live_|AKIA|AIza|ya29\.|npm_|ntn_|lin_api_|hf_|eyJ[\w-]{8,}\.)[\w.-]{8,}/;
const SCHEME = /^(?:bearer|basic|token|apikey)\s+/i;
/** Headers that some write as `Name:value`. Elsewhere a colon says little: `token-server:1.2`. */
const SECRET_HEADER = /^(?:(?:proxy-)?authorization|cookie|x-[\w-]*(?:key|token|secret|auth)[\w-]*)$/i;
const QUERY_SECRET = /^(?:key|sig|signature|code)$/i;

const PLAIN_PATH = /^(?:~|\.{1,2}|[A-Za-z]:)?[\\/][\w .@~\\/-]*$/;
const PLAIN_WORD = /^(?:[A-Za-z]{0,20}|\d+|[A-Za-z\d]{1,4}|[A-Za-z]{1,12}\d{1,2})$/;
const ASCII = /^[ -~]*$/;

/** Whether a value reads like words, numbers or a path, as settings and prose do and generated credentials don't. */
export function isPlain(value: string): boolean {
  if (PLAIN_PATH.test(value)) return true;
  if (TOKEN_SHAPE.test(value)) return false;
  return value.split(/[^\p{L}\p{N}]+/u).every((word) => PLAIN_WORD.test(word) || !ASCII.test(word));
}

/** Whether the value of a variable, header or option of this name is a secret, whatever it looks like. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !HARMLESS_NAME.test(name);
}

/** The secrets in the value of a variable, header or option called `name`, without a scheme such as `Bearer`. */
export function secretsIn(name: string, value: string): string[] {
  const found = new Set<string>();
  for (const [part, text] of namedParts(name, value)) {
    if (isSecret(part, text)) found.add(withoutScheme(text));
    replaceInUrl(text, (field, piece) => {
      if (isSecret(field, piece)) found.add(piece).add(decoded(piece));
      return piece;
    });
  }
  return [...found];
}

/** The secrets among arguments: `--token abc`, `--token=abc`, `KEY=abc`, `Authorization: Bearer abc`, a URL's, a bare token. */
export function secretsOfArgs(args: readonly string[]): string[][] {
  return args.map((arg, index) => {
    const before = args[index - 1];
    const option = before !== undefined && /^--?[\w-]+$/.test(before) && !arg.startsWith("-") ? before : "";
    const header = /^(?:--?[\w-]+=)?([\w-]+):(\s*)(.*)$/s.exec(arg);
    const isHeader = header !== null && (header[2] !== "" || SECRET_HEADER.test(header[1]!));
    return [...secretsIn(option, arg), ...(isHeader ? secretsIn(header[1]!, header[3]!) : [])];
  });
}

/** Whether the value of a variable, header or option called `name` looks like a credential written out. */
export function isLiteralSecret(name: string, value: string): boolean {
  return !isCommandValue(value) && secretsIn(name, literalPart(value)).length > 0;
}

/** Arguments with those that hold a literal secret replaced by {@link MASK}. */
export function maskArgs(args: readonly string[]): string[] {
  const secrets = secretsOfArgs(args.map(literalPart));
  return args.map((arg, index) => (secrets[index]!.length > 0 ? MASK : arg));
}

/** The URL with a literal password and literal values of secret-looking query fields replaced by {@link MASK}. */
export function maskUrl(url: string): string {
  return replaceInUrl(url, (name, piece) => (isSecret(name, literalPart(piece)) ? MASK : piece));
}

function isSecret(name: string, value: string): boolean {
  const bare = withoutScheme(value);
  if (HARMLESS_VALUE.test(bare) || SCHEME.test(`${bare} `)) return false;
  if (TOKEN_SHAPE.test(bare) || isSecretName(name)) return true;
  return SUSPECT_NAME.test(name) && !HARMLESS_NAME.test(name) && !isPlain(bare);
}

function withoutScheme(value: string): string {
  return value.trim().replace(SCHEME, "").trim();
}

/** `value` without what its `${VAR}` parts refer to; a default (`${VAR:-text}`) is literal text. */
function literalPart(value: string): string {
  const blank: Record<string, string> = Object.create(null);
  for (const name of variablesOf(value)) blank[name] = "";
  const expansion = expandVariables(value, blank);
  return expansion.ok ? expansion.value : value;
}

/** The value itself, and what it holds under names of its own: `Server=h;Password=p`, `KEY=p`, a JSON object. */
function namedParts(name: string, value: string): [string, string][] {
  const parts: [string, string][] = [[name, value]];
  if (/^\s*[[{]/.test(value)) return [...parts, ...jsonParts(value)];
  // A value may hold spaces, or end at one: whichever is meant, it is found.
  for (const piece of new Set([value, ...value.split(/;\s*/), ...value.split(/[;\s]+/)])) {
    const assignment = /^([\w.-]+)=(.*)$/s.exec(piece);
    if (assignment) parts.push([assignment[1]!, assignment[2]!]);
  }
  return parts;
}

function jsonParts(text: string): [string, string][] {
  const root = jsonIn(text);
  if (root === undefined) return [];
  const parts: [string, string][] = [];
  const left: unknown[] = [root];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const [key, member] of Object.entries(next as object)) {
      if (typeof member === "string") parts.push([key, member]);
      else if (typeof member === "object" && member !== null) left.push(member);
    }
  }
  return parts;
}

/** `url` with the parts that may hold a secret replaced: user and password, and the values of its query. */
function replaceInUrl(url: string, replace: (name: string, piece: string) => string): string {
  return url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i, (_, start: string, userinfo: string) => {
      const colon = userinfo.indexOf(":");
      // Who sends a user alone sends a token in its place.
      if (colon === -1) return `${start}${replace("key", userinfo)}@`;
      return `${start}${userinfo.slice(0, colon + 1)}${replace("password", userinfo.slice(colon + 1))}@`;
    })
    .replace(
      /([?&]([^=&#?]*)=)([^&#]*)/g,
      (_, start: string, name: string, value: string) =>
        start + replace(QUERY_SECRET.test(name) ? "secret" : name, value),
    );
}

function decoded(piece: string): string {
  try {
    return decodeURIComponent(piece);
  } catch (error) {
    if (error instanceof URIError) return piece;
    throw error;
  }
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
  for (const [name, node] of stringMembers(oauth)) {
    const isNamedOne = OAUTH_SECRETS.some((secret) => secret === name);
    // Of these, whatever is written out is one, however it reads.
    if (isNamedOne && isLiteralSecret("clientSecret", node.value)) warn(`oauth.${name}`, node, generic);
  }
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
