/**
 * `pimcp login`: signs in to one server anew, whatever is stored, and proves it by a request that the server takes. What is
 * stored stays until the new tokens are there. A server that asks for no token is found out, not signed in to.
 */
import type { ServerConfig } from "../../../schemas/config/server-config.ts";
import type { Diagnostic } from "../../../schemas/diagnostic.ts";
import { failureDiagnostic, failureOf, RefusedPostError } from "../failure.ts";
import type { Fetch } from "../http-fetch.ts";
import { originFetch } from "../origin-fetch.ts";
import { isRedirectStatus } from "../redirect.ts";
import type { ResolvedHttp } from "../resolve.ts";
import type { AccessToken, AuthContext, Challenge, TokenSource } from "./auth-context.ts";
import { authorizedFetch } from "./authorized-fetch.ts";
import { type AuthOptions, authContext } from "./create-auth.ts";
import { discover } from "./discover.ts";
import { boundKey, dpopSession } from "./dpop.ts";
import type { Interactive } from "./interactive.ts";
import { knock } from "./knock.ts";
import { signIn } from "./sign-in.ts";
import type { Credentials } from "./store-file.ts";

export interface LogInOptions extends Omit<AuthOptions, "interactive"> {
  readonly interactive: Interactive;
  /** The `fetch` that reaches the server and its authorization server. */
  readonly fetch: Fetch;
  /** Scopes to ask for besides those that server and configuration name, separated by blanks. */
  readonly scope?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type LogInOutcome =
  | {
      readonly kind: "signed-in";
      readonly scope?: string | undefined;
      /** Milliseconds since the epoch. */
      readonly expiresAt?: number | undefined;
      /** It can be renewed without a person. */
      readonly isRenewable: boolean;
      readonly store: "file" | "keyring";
      /** Tokens of an earlier sign-in, which nobody uses any more, could not be deleted from the system's keyring. */
      readonly isLeftInKeyring: boolean;
    }
  /** The server takes requests without a token, and names no authorization server. */
  | { readonly kind: "not-needed" }
  | { readonly kind: "failed"; readonly diagnostic: Diagnostic };

const TIMEOUT_MS = 30_000;

export async function logIn(
  config: ServerConfig,
  resolved: ResolvedHttp,
  options: LogInOptions,
): Promise<LogInOutcome> {
  const context = await authContext(config, resolved, options, options.fetch);
  const source = new FreshSignIn(context, options);
  const plain = originFetch(timed(options.fetch), resolved.url, resolved.headers);
  const signed = authorizedFetch(plain, source, { server: resolved.url, sdk: context.sdk });
  try {
    const { status, text } = await knock(signed, resolved.url, options.signal);
    const isSignedIn = source.credentials !== undefined;
    if (isRedirectStatus(status)) throw new RefusedPostError(status, text);
    // A server may show its tools to everybody and ask for a token when one is called.
    if (!isSignedIn && (await namesAuthorizationServer(context))) await source.signIn({ dpop: false });
    else if (isSignedIn ? status === 403 : status >= 400) throw new RefusedPostError(status, text);
  } catch (error) {
    const aborted = options.signal?.aborted === true;
    const failure = failureOf(error, { sdk: context.sdk, secrets: resolved.secrets, aborted });
    return { kind: "failed", diagnostic: failureDiagnostic(config, failure, { doing: "signing in" }) };
  }
  const { credentials } = source;
  if (credentials === undefined) return { kind: "not-needed" };
  return {
    kind: "signed-in",
    scope: credentials.tokens?.scope,
    expiresAt: credentials.tokensExpireAt,
    isRenewable: credentials.tokens?.refresh_token !== undefined,
    ...(await context.store.whereabouts(context.key)),
  };
}

/** Has no token until a person has signed in, and asks one when the server wants it. */
class FreshSignIn implements TokenSource {
  credentials: Credentials | undefined;
  /** Nobody's clock is running. */
  readonly busy = false;
  readonly #context: AuthContext;
  readonly #options: LogInOptions;

  constructor(context: AuthContext, options: LogInOptions) {
    this.#context = context;
    this.#options = options;
  }

  async token(): Promise<AccessToken | undefined> {
    const { tokens } = this.credentials ?? {};
    if (tokens === undefined) return undefined;
    const dpopKey = this.credentials && boundKey(this.credentials);
    return {
      value: tokens.access_token,
      scope: tokens.scope,
      ...(dpopKey && { dpop: await dpopSession(this.#context.sdk, dpopKey) }),
    };
  }

  async signIn(challenge: Challenge, scope = this.#options.scope): Promise<AccessToken> {
    const { interactive, signal } = this.#options;
    this.credentials = await signIn(this.#context, { challenge, interactive, scope, signal });
    return (await this.token())!;
  }

  renew(_: AccessToken | undefined, challenge: Challenge): Promise<AccessToken> {
    return this.signIn(challenge);
  }

  stepUp(current: AccessToken | undefined, challenge: Challenge): Promise<AccessToken | undefined> {
    return this.signIn(
      challenge,
      this.#context.sdk.computeScopeUnion(this.#options.scope, current?.scope, challenge.scope),
    );
  }

  async settled(): Promise<void> {}
}

async function namesAuthorizationServer(context: AuthContext): Promise<boolean> {
  const { metadata, resourceMetadata } = await discover(context);
  return metadata !== undefined || resourceMetadata !== undefined;
}

/** Each request has its own time; the person in between has theirs. */
function timed(fetch: Fetch): Fetch {
  return (url, init) => {
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    return fetch(url, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, limit]) : limit });
  };
}
