/** Codes and tokens: who got what for which resource and scope, until when, and what became of it. */
import { createHash, randomUUID } from "node:crypto";
import { OAuthError } from "./clients.ts";
import type { AuthorizationOptions } from "./setup.ts";

export interface Grant {
  readonly client: string;
  readonly scope: string;
  readonly resource: string | undefined;
  /** All that comes of one authorization. */
  readonly family: string;
}

interface Code extends Grant {
  readonly redirect: string;
  readonly challenge: string;
}

interface Access extends Grant {
  expiresAt: number;
}

export interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly scope: string;
  readonly expires_in?: number;
  readonly refresh_token?: string;
}

export class Tokens {
  /** How often a spent refresh token was used again. */
  reuses = 0;
  readonly #options: AuthorizationOptions;
  readonly #codes = new Map<string, Code>();
  readonly #access = new Map<string, Access>();
  readonly #refresh = new Map<string, Grant & { spent: boolean }>();
  readonly #revoked = new Set<string>();

  constructor(options: AuthorizationOptions) {
    this.#options = options;
  }

  code(grant: Omit<Code, "family">): string {
    const code = `code-${randomUUID()}`;
    this.#codes.set(code, { ...grant, family: randomUUID() });
    return code;
  }

  /** A code works once, for the client, redirect, resource and verifier it was made with. */
  redeem(client: string, params: Record<string, string>): TokenAnswer {
    const code = this.#codes.get(params["code"] ?? "");
    this.#codes.delete(params["code"] ?? "");
    const challenge = createHash("sha256")
      .update(params["code_verifier"] ?? "")
      .digest("base64url");
    if (code === undefined || code.client !== client) throw new OAuthError("invalid_grant", "no such code");
    if (code.redirect !== params["redirect_uri"]) throw new OAuthError("invalid_grant", "another redirect_uri");
    if (code.challenge !== challenge) throw new OAuthError("invalid_grant", "the code verifier doesn't fit");
    if (this.#options.checksResource !== false && code.resource !== params["resource"]) {
      throw new OAuthError("invalid_target", "another resource");
    }
    return this.#issue(code);
  }

  refresh(client: string, params: Record<string, string>): TokenAnswer {
    const known = this.#refresh.get(params["refresh_token"] ?? "");
    if (known === undefined || known.client !== client) throw new OAuthError("invalid_grant", "no such refresh token");
    if (known.spent) {
      this.reuses++;
      this.#revoked.add(known.family);
    }
    if (this.#revoked.has(known.family)) throw new OAuthError("invalid_grant", "the refresh token was revoked");
    const { singleUse = true } = this.#options;
    known.spent = singleUse;
    const answer = this.#issue(known, singleUse);
    return answer;
  }

  forClient(grant: Omit<Grant, "family">): TokenAnswer {
    return this.#issue({ ...grant, family: randomUUID() }, false);
  }

  /** The grant behind an access token that is still good. */
  check(token: string | undefined): Grant | undefined {
    const known = token === undefined ? undefined : this.#access.get(token);
    return known && known.expiresAt > Date.now() && !this.#revoked.has(known.family) ? known : undefined;
  }

  revoke(token: string): void {
    const known = this.#refresh.get(token) ?? this.#access.get(token);
    if (known) this.#revoked.add(known.family);
  }

  /** Every access token so far is expired from now on. */
  expireAll(): void {
    for (const token of this.#access.values()) token.expiresAt = 0;
  }

  /** Every token so far is worthless from now on. */
  revokeAll(): void {
    for (const { family } of [...this.#access.values(), ...this.#refresh.values()]) this.#revoked.add(family);
  }

  #issue({ client, scope, resource, family }: Grant, withRefresh = true): TokenAnswer {
    const { accessTokenSeconds = 3600, refreshTokens = true } = this.#options;
    const grant = { client, scope, resource, family };
    const access = `access-${randomUUID()}`;
    const seconds = accessTokenSeconds === "unsaid" ? 3600 : accessTokenSeconds;
    this.#access.set(access, { ...grant, expiresAt: Date.now() + seconds * 1000 });
    const refresh = refreshTokens && withRefresh ? `refresh-${randomUUID()}` : undefined;
    if (refresh !== undefined) this.#refresh.set(refresh, { ...grant, spent: false });
    return {
      access_token: access,
      token_type: "Bearer",
      scope,
      ...(accessTokenSeconds !== "unsaid" && { expires_in: seconds }),
      ...(refresh !== undefined && { refresh_token: refresh }),
    };
  }
}
