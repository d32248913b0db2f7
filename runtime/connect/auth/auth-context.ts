/** What every step of signing in or refreshing works with: one server, its resolved settings, and where credentials are. */
import type * as Sdk from "@modelcontextprotocol/client";
import type { OAuthSettings } from "../../../schemas/config/server-config.ts";
import type { Fetch } from "../http-fetch.ts";
import type { CredentialStore } from "./store.ts";
import type { CredentialKey } from "./store-file.ts";

export interface AuthContext {
  readonly sdk: typeof Sdk;
  readonly key: CredentialKey;
  /** The MCP server. */
  readonly server: URL;
  readonly oauth: OAuthSettings;
  readonly store: CredentialStore;
  /** An {@link authFetch}. */
  readonly fetch: Fetch;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What a server says with a 401 or 403 (RFC 6750, RFC 9449). */
export interface Challenge {
  readonly scope?: string | undefined;
  readonly error?: string | undefined;
  readonly resourceMetadataUrl?: URL | undefined;
  /** It asked for proofs of possession. */
  readonly dpop: boolean;
}

/** What goes with a request. */
export interface AccessToken {
  readonly value: string;
  /** Scopes granted, separated by blanks; unknown where the server didn't say and none were asked for. */
  readonly scope?: string | undefined;
  /** The key it is bound to. */
  readonly dpop?: Sdk.DpopSession | undefined;
}

/** Milliseconds before their end at which tokens are renewed: short-lived ones in the last tenth of their life. */
export function renewalMarginMs(lifetimeMs: number): number {
  return Math.min(30_000, lifetimeMs / 10);
}

/** Where a connection's access tokens come from. Rejects with `AuthError` alone. */
export interface TokenSource {
  /** What is at hand, or can be had without anybody; undefined where nobody has signed in. */
  token(): Promise<AccessToken | undefined>;
  /** Another token, in place of the one that the server rejected (none where it was asked without). */
  renew(rejected: AccessToken | undefined, challenge: Challenge): Promise<AccessToken>;
  /** A token that may do more; undefined where it would not. */
  stepUp(current: AccessToken | undefined, challenge: Challenge): Promise<AccessToken | undefined>;
  /** A token is being got just now, which may take longer than a request. */
  readonly busy?: boolean;
  /** A person is being asked: resolves when that is over. */
  readonly asking?: Promise<void> | undefined;
  /** Resolves when nothing is under way whose outcome must be saved. */
  settled(): Promise<void>;
}
