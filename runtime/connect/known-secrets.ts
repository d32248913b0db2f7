/**
 * The values of one server's entry that it must not repeat to others. What is a credential is decided by the detector in
 * `schemas/config/secrets.ts`; here is added what only the place of a value tells. Values live in memory only, and
 * famous ones (`password`) are not kept: everybody knows them, and texts without them would be unreadable.
 */
import { isPlain } from "../../schemas/config/secrets.ts";

export class KnownSecrets {
  readonly #secrets = new Set<string>();
  readonly #credentials = new Set<string>();

  /**
   * `secrets` are taken out of messages, where too much is no harm: credentials, every value of a variable or a header,
   * and what else of the entry's `env` is telling. `credentials` are taken out of what a server declares, where it
   * would be: certain ones, and of the others those that don't read like words. A region or a mode that is given to
   * a server stays in the schema that lists it.
   */
  values(): { readonly secrets: readonly string[]; readonly credentials: readonly string[] } {
    return { secrets: [...this.#secrets], credentials: [...this.#credentials] };
  }

  keepAll(credentials: readonly string[]): void {
    for (const credential of credentials) this.keep(credential, true);
  }

  /** `isCertain`: a credential, even if it reads like a word. */
  keep(value: string | undefined, isCertain: boolean): void {
    if (!value || FAMOUS_VALUES.has(value.toLowerCase())) return;
    this.#secrets.add(value);
    if (isCertain || !isPlain(value)) this.#credentials.add(value);
    // `Bearer …`: servers echo the token alone, or the name and password of a basic one.
    const [, scheme, token] = /^([A-Za-z]+) +(\S+)$/.exec(value) ?? [];
    if (scheme === undefined || token === undefined) return;
    this.keep(token, isCertain);
    if (scheme.toLowerCase() !== "basic") return;
    const pair = Buffer.from(token, "base64").toString("utf8");
    this.keep(pair, isCertain);
    this.keep(pair.slice(pair.indexOf(":") + 1), isCertain);
  }
}

const FAMOUS_VALUES = new Set(
  `password passwd secret secrets token tokens default changeme change-me example sample testing postgres public private
  readonly read-only enabled disabled enable disable undefined production development staging localhost bearer apikey
  api-key string number integer boolean object properties required description additionalproperties inputschema
  outputschema application application/json text/plain text/event-stream no-cache keep-alive anonymous optional
  unknown`.split(/\s+/),
);

/** Variables that say where and as whom something runs: taking them out of messages would only hide the cause. */
export const PLAIN_VARIABLE =
  /^(?:HOME|USER|USERNAME|USERPROFILE|LOGNAME|PWD|PATH|SHELL|LANG|TERM|TMPDIR|TEMP|TMP|HOSTNAME|XDG_.*|LC_.*)$/;
const SHORT_VALUE_LENGTH = 24;
const PLACE = /^(?:https?:\/\/|[~.]*[\\/]|[A-Za-z]:\\)/;

/** Whether a value of the entry's `env` could give something away: all but what says where, how much or which. */
export function isTelling(name: string, value: string): boolean {
  if (PLAIN_VARIABLE.test(name)) return false;
  const isShort = value.length <= SHORT_VALUE_LENGTH && !/\s/.test(value);
  return !isPlain(value) || !(isShort || PLACE.test(value));
}

/** Parts of a URL's path that don't read like words: some servers tell who asks by their address. */
export function opaqueSegments(url: string): string[] {
  const path = URL.canParse(url) ? new URL(url).pathname : "";
  return path.split("/").filter((segment) => segment.length >= 16 && !isPlain(segment));
}

/** A credential that was got after the entry's values were resolved, such as a token: kept out of both from now on. */
export function learnSecret(
  known: { readonly secrets: readonly string[]; readonly credentials: readonly string[] },
  secret: string,
): void {
  // The lists are handed around as they are, so that everything made of the entry knows at once.
  for (const list of [known.secrets, known.credentials] as string[][]) if (!list.includes(secret)) list.push(secret);
}
