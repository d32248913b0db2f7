/**
 * The notation for values that are known only where a configuration is used: `${VAR}`, `${VAR:-default}`,
 * a leading `~/`, and a whole-value `!command`. Pure text work: it reads no environment of its own, runs
 * nothing and knows no field. The compiler uses it to recognise the notation, `runtime/connect` to resolve it.
 *
 * Not part of the notation: other `${…}` texts (they stay as written), escapes, and variables inside a
 * variable's value (a value is never expanded again).
 */

/** Variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

export type Expansion =
  | { readonly ok: true; readonly value: string }
  /** Names of variables that are unset and have no default, each once, in the order met. */
  | { readonly ok: false; readonly missing: readonly string[] };

interface Reference {
  readonly name: string;
  /** Text after `:-`, which may hold references of its own. */
  readonly fallback: string | undefined;
  /** Index just past the closing brace. */
  readonly end: number;
}

/** `text` with its references replaced. As in a shell, `:-` applies to a variable that is unset or empty. */
export function expandVariables(text: string, env: Environment): Expansion {
  const missing = new Set<string>();
  const value = substitute(text, (reference, expandFallback) => {
    const found = Object.hasOwn(env, reference.name) ? env[reference.name] : undefined;
    if (reference.fallback !== undefined) return found || expandFallback(reference.fallback);
    if (found === undefined) missing.add(reference.name);
    return found ?? "";
  });
  return missing.size === 0 ? { ok: true, value } : { ok: false, missing: [...missing] };
}

export function hasVariables(text: string): boolean {
  return variablesOf(text).length > 0;
}

/** Names of the variables that `text` refers to, those in defaults included, each once, in the order met. */
export function variablesOf(text: string): string[] {
  const names = new Set<string>();
  substitute(text, (reference, expandFallback) => {
    names.add(reference.name);
    return reference.fallback === undefined ? "" : expandFallback(reference.fallback);
  });
  return [...names];
}

/** Whether the whole value is a command whose output is meant (`env`, `headers`, `oauth.clientSecret`). */
export function isCommandValue(text: string): boolean {
  return text.startsWith("!") && text.slice(1).trim() !== "";
}

/** `~` and a leading `~/` (on Windows also `~\`) as the home folder; anything else, `~user` too, as it is. */
export function expandHome(text: string, homedir: string): string {
  return text === "~" || text.startsWith("~/") || text.startsWith("~\\") ? homedir + text.slice(1) : text;
}

function substitute(
  text: string,
  resolve: (reference: Reference, expandFallback: (fallback: string) => string) => string,
): string {
  let out = "";
  let from = 0;
  for (let at = text.indexOf("${"); at !== -1; at = text.indexOf("${", at)) {
    const reference = readReference(text, at);
    if (reference === undefined) {
      at += 2;
      continue;
    }
    out += text.slice(from, at) + resolve(reference, (fallback) => substitute(fallback, resolve));
    at = from = reference.end;
  }
  return out + text.slice(from);
}

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;

/** The reference that starts at `at`, or nothing where the text only looks like one. */
function readReference(text: string, at: number): Reference | undefined {
  NAME.lastIndex = at + 2;
  const name = NAME.exec(text)?.[0];
  if (name === undefined) return undefined;
  const afterName = at + 2 + name.length;
  if (text[afterName] === "}") return { name, fallback: undefined, end: afterName + 1 };
  if (!text.startsWith(":-", afterName)) return undefined;
  const close = closingBrace(text, afterName + 2);
  return close === -1 ? undefined : { name, fallback: text.slice(afterName + 2, close), end: close + 1 };
}

/** The brace that ends a default: a `${…}` inside it brings its own. */
function closingBrace(text: string, from: number): number {
  let open = 0;
  for (let at = from; at < text.length; at++) {
    if (text.startsWith("${", at)) open++;
    else if (text[at] === "}" && open-- === 0) return at;
  }
  return -1;
}
