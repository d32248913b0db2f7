/**
 * Tokens of a person who signed in: those that are stored, renewed when they are about to expire or the server rejects
 * them. The store is read for each request, so that a sign-in or a refresh of any other process counts at once. The
 * clock is only a hint; what decides is the server's 401. A person is asked only where `interactive` says how.
 */
import {
  type AccessToken,
  type AuthContext,
  type Challenge,
  renewalMarginMs,
  type TokenSource,
} from "./auth-context.ts";
import { AuthError } from "./auth-error.ts";
import { boundKey, dpopSession } from "./dpop.ts";
import type { Interactive } from "./interactive.ts";
import { refresh, signInNeeded } from "./refresh.ts";
import { signIn } from "./sign-in.ts";
import type { CredentialStore } from "./store.ts";
import type { CredentialKey, Credentials } from "./store-file.ts";

export interface StoredSourceOptions {
  readonly key: CredentialKey;
  readonly store: CredentialStore;
  readonly now: () => number;
  readonly learn: (secret: string) => void;
  readonly interactive?: Interactive | undefined;
  /** Loads the MCP client: not before it is needed. */
  readonly context: () => Promise<AuthContext>;
}

export class StoredSource implements TokenSource {
  readonly #options: StoredSourceOptions;
  /** Under way, by the access token that is to be replaced. */
  readonly #renewals = new Map<string, Promise<AccessToken>>();
  asking: Promise<void> | undefined;
  /** How the sign-in ended that was there before: for requests that come after the one that found out. */
  #ended: AuthError | undefined;
  #dpop: { readonly key: string; readonly session: NonNullable<AccessToken["dpop"]> } | undefined;

  constructor(options: StoredSourceOptions) {
    this.#options = options;
  }

  async token(): Promise<AccessToken | undefined> {
    const stored = await this.#stored();
    const token = stored?.tokens?.access_token;
    if (stored === undefined || token === undefined) return undefined;
    if (!this.#isExpiring(stored) || stored.tokens?.refresh_token === undefined) return this.#tokenOf(stored);
    try {
      return await this.#once(token, async () => this.#tokenOf(await refresh(await this.#options.context(), token)));
    } catch (error) {
      if (!(error instanceof AuthError)) throw error;
      // The token may still be good, or the clock wrong: the server says.
      if (error.code === "server-unavailable") return this.#tokenOf(stored);
      if (error.code === "sign-in-needed") this.#ended = error;
      // There is somebody to ask, who will be once the server has said what it wants.
      if (error.code === "sign-in-needed" && this.#options.interactive !== undefined) return undefined;
      throw error;
    }
  }

  async renew(rejected: AccessToken | undefined, challenge: Challenge): Promise<AccessToken> {
    const stored = await this.#stored();
    const token = stored?.tokens?.access_token;
    if (stored !== undefined && token !== undefined && token !== rejected?.value) return this.#tokenOf(stored);
    return this.#once(token ?? "", async () => {
      if (token === undefined) return this.#signIn(challenge, this.#ended ?? signInNeeded("nobody is signed in"));
      try {
        return await this.#tokenOf(await refresh(await this.#options.context(), token));
      } catch (error) {
        if (!(error instanceof AuthError) || error.code !== "sign-in-needed") throw error;
        this.#ended = error;
        return this.#signIn(challenge, error);
      }
    });
  }

  async stepUp(current: AccessToken | undefined, challenge: Challenge): Promise<AccessToken | undefined> {
    const { key, store, interactive } = this.#options;
    const { sdk } = await this.#options.context();
    const wanted = sdk.computeScopeUnion(current?.scope, challenge.scope);
    // What it asks for has been granted: asking again would lead nowhere.
    if (wanted === undefined || !sdk.isStrictScopeSuperset(wanted, current?.scope)) return undefined;
    if (interactive === undefined) {
      await remember(store, key, wanted);
      throw signInNeeded(`the server asks for more permissions: ${wanted}`);
    }
    const needed = signInNeeded("the server asks for more permissions");
    return this.#once(`${current?.value ?? ""} ${wanted}`, () => this.#signIn(challenge, needed, wanted));
  }

  get busy(): boolean {
    return this.#renewals.size > 0;
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#renewals.values());
  }

  async #signIn(challenge: Challenge, needed: AuthError, scope?: string): Promise<AccessToken> {
    const { interactive, context } = this.#options;
    if (interactive === undefined) throw needed;
    // A request that comes meanwhile meets other tokens, or none, and must not send the person there again.
    const signing = this.#once(`sign in ${scope ?? ""}`, async () =>
      this.#tokenOf(await signIn(await context(), { challenge, interactive, scope })),
    );
    const over = signing.then(ignore, ignore).then(() => {
      if (this.asking === over) this.asking = undefined;
    });
    this.asking = over;
    return signing;
  }

  /** Requests that meet the same dead token share what replaces it. */
  #once(token: string, renew: () => Promise<AccessToken>): Promise<AccessToken> {
    const running = this.#renewals.get(token);
    if (running !== undefined) return running;
    const renewal = renew().finally(() => this.#renewals.delete(token));
    this.#renewals.set(token, renewal);
    return renewal;
  }

  async #stored(): Promise<Credentials | undefined> {
    const stored = await this.#options.store.read(this.#options.key);
    for (const secret of secretsOf(stored)) this.#options.learn(secret);
    return stored;
  }

  #isExpiring({ tokens, tokensExpireAt }: Credentials): boolean {
    if (tokensExpireAt === undefined) return false;
    const lifetimeMs = (tokens?.expires_in ?? Number.POSITIVE_INFINITY) * 1000;
    return tokensExpireAt - renewalMarginMs(lifetimeMs) <= this.#options.now();
  }

  async #tokenOf(stored: Credentials): Promise<AccessToken> {
    const { access_token: value, scope } = stored.tokens!;
    const dpopKey = boundKey(stored);
    if (dpopKey === undefined) return { value, scope };
    const key = String(dpopKey.x);
    // One session a key: it remembers the server's nonces.
    if (this.#dpop?.key !== key) {
      this.#dpop = { key, session: await dpopSession((await this.#options.context()).sdk, dpopKey) };
    }
    return { value, scope, dpop: this.#dpop.session };
  }
}

function secretsOf(stored: Credentials | undefined): string[] {
  const { tokens, clientInformation, dpopKey } = stored ?? {};
  const found = [tokens?.access_token, tokens?.refresh_token, clientInformation?.client_secret, dpopKey?.d];
  return found.filter((secret) => secret !== undefined);
}

/** So that the next sign-in asks for it; where nothing can be stored, the message alone says what to ask for. */
async function remember(store: CredentialStore, key: CredentialKey, wantedScope: string): Promise<void> {
  try {
    await store.update(key, (stored) => ({ ...(stored ?? { serverUrl: key.url }), wantedScope }));
  } catch (error) {
    if (!(error instanceof AuthError)) throw error;
  }
}

const ignore = () => undefined;
