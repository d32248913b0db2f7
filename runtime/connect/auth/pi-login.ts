/**
 * Tokens of Pi's own logins, for servers of the user's file with `"auth": { "provider": … }`. In a session Pi itself is
 * asked, which renews them. Outside of one they are read from its `auth.json` as they are: nothing is written or renewed there,
 * since only Pi knows how each of its providers does that. The token is asked for with each request, as Pi does.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { jsonIn } from "../../../schemas/json.ts";
import { isRecord } from "../../../schemas/record.ts";
import type { AccessToken, TokenSource } from "./auth-context.ts";
import { AuthError } from "./auth-error.ts";

/** The token of a login by its provider's id; undefined where there is none that is good. Never rejects. */
export type ProviderToken = (provider: string) => Promise<string | undefined>;

export function storedLogins(agentDir: string, now: () => number = Date.now): ProviderToken {
  return async (provider) => {
    const text = await readFile(join(agentDir, "auth.json"), "utf8").catch(() => "");
    const logins = jsonIn(text.replace(/^\ufeff/, ""));
    const login = isRecord(logins) && Object.hasOwn(logins, provider) ? logins[provider] : undefined;
    if (!isRecord(login)) return undefined;
    const { type, access, expires, key } = login;
    if (type === "oauth") {
      return typeof access === "string" && typeof expires === "number" && expires > now() ? access : undefined;
    }
    // Keys may also be commands and variables, which are Pi's to resolve.
    return type === "api_key" && typeof key === "string" && !/^[!$]/.test(key) ? key : undefined;
  };
}

export class PiLoginSource implements TokenSource {
  readonly #provider: string;
  readonly #token: ProviderToken;
  readonly #learn: (secret: string) => void;

  constructor(provider: string, token: ProviderToken, learn: (secret: string) => void) {
    this.#provider = provider;
    this.#token = token;
    this.#learn = learn;
  }

  async token(): Promise<AccessToken | undefined> {
    const value = await this.#token(this.#provider);
    if (!value) return undefined;
    this.#learn(value);
    return { value };
  }

  /** Pi may have renewed it since. */
  async renew(rejected: AccessToken | undefined): Promise<AccessToken> {
    const token = await this.token();
    if (token !== undefined && token.value !== rejected?.value) return token;
    const why = token === undefined ? "there is none, or it has expired" : "the server rejects its token";
    throw new AuthError("sign-in-needed", `by Pi's login to "${this.#provider}": ${why}`);
  }

  async stepUp(): Promise<undefined> {}

  async settled(): Promise<void> {}
}
