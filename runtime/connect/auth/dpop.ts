/**
 * Tokens bound to a key (DPoP, RFC 9449): whoever copies one can't use it. The key is made when a person signs in and
 * stored with the tokens, since other processes go on using them.
 */
import { createHash, webcrypto } from "node:crypto";
import type * as Sdk from "@modelcontextprotocol/client";
import type { AuthContext, Challenge } from "./auth-context.ts";
import { AuthError } from "./auth-error.ts";
import type { AuthorizationServer } from "./discover.ts";
import type { Credentials } from "./store-file.ts";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" };

/** Whether tokens are to be bound: wished for by the configuration or the server, and possible with the authorization server. */
export function wantsDpop({ oauth }: AuthContext, as: AuthorizationServer, challenge: Challenge): boolean {
  const algorithms = (as.metadata as Readonly<Record<string, unknown>> | undefined)?.[
    "dpop_signing_alg_values_supported"
  ];
  const offered = Array.isArray(algorithms) && algorithms.includes("ES256");
  const asked = challenge.dpop || as.resourceMetadata?.["dpop_bound_access_tokens_required"] === true;
  if (oauth.dpop === true && !offered && as.metadata !== undefined) {
    throw new AuthError(
      "sign-in-failed",
      "oauth.dpop is set, but the authorization server binds no tokens to ES256 keys",
      {
        notes: ["remove oauth.dpop"],
      },
    );
  }
  return oauth.dpop === true || (asked && offered);
}

/** The key that stored tokens are bound to, where they are. */
export function boundKey({ tokens, dpopKey }: Credentials): webcrypto.JsonWebKey | undefined {
  return tokens?.token_type?.toLowerCase() === "dpop" ? dpopKey : undefined;
}

export interface DpopKey {
  readonly session: Sdk.DpopSession;
  readonly jwk: webcrypto.JsonWebKey;
}

export async function newDpopKey(sdk: typeof Sdk): Promise<DpopKey> {
  const { privateKey } = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const jwk = await webcrypto.subtle.exportKey("jwk", privateKey);
  return { session: await dpopSession(sdk, jwk), jwk };
}

/** A session with a stored key. */
export async function dpopSession(sdk: typeof Sdk, jwk: webcrypto.JsonWebKey): Promise<Sdk.DpopSession> {
  const { crv, kty, x, y } = jwk;
  const publicJwk = { crv, kty, x, y } as { crv: string; kty: string; x: string; y: string };
  try {
    const [privateKey, publicKey] = await Promise.all([
      webcrypto.subtle.importKey("jwk", jwk, ALGORITHM, false, ["sign"]),
      webcrypto.subtle.importKey("jwk", publicJwk, ALGORITHM, true, ["verify"]),
    ]);
    // RFC 7638: these members, in this order.
    const thumbprint = createHash("sha256").update(JSON.stringify(publicJwk)).digest("base64url");
    const keyPair = { privateKey, publicKey, publicJwk, thumbprint, alg: "ES256" } as Sdk.DpopKeyPair;
    return await sdk.DpopSession.create({ keyPair });
  } catch (cause) {
    throw new AuthError("credentials-unusable", "the key that the stored tokens are bound to can't be read", { cause });
  }
}
