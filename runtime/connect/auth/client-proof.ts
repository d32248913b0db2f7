/**
 * How a client with a secret proves itself to an authorization server. In a Basic header, id and secret are form-encoded
 * first (RFC 6749, section 2.3.1), which the SDK leaves out. Servers that don't decode them are many, so where both forms
 * differ and the first is refused as an unknown client, the plain one is tried: nothing is spent by that refusal.
 */
import type * as Sdk from "@modelcontextprotocol/client";
import { clientInformation } from "./client.ts";
import type { AuthorizationServer } from "./discover.ts";
import type { StoredClient } from "./store-file.ts";

/** As the SDK's functions take it. */
export type ClientProof = NonNullable<Sdk.OAuthClientProvider["addClientAuthentication"]>;

interface Asking {
  readonly sdk: typeof Sdk;
  readonly client: StoredClient;
  /** Its metadata says which forms it takes, where it says anything. */
  readonly as: Pick<AuthorizationServer, "metadata">;
}

/** Asks with one form of proof, and where the client isn't known by that, with the other. `ask` rejects with the SDK's errors. */
export async function provingClient<T>(
  { sdk, client, as }: Asking,
  ask: (proof: ClientProof) => Promise<T>,
): Promise<T> {
  const methods = as.metadata?.token_endpoint_auth_methods_supported ?? [];
  const method = sdk.selectClientAuthMethod(clientInformation(client), methods);
  try {
    return await ask(proofOf(client, method, formEncoded));
  } catch (error) {
    const unknown = sdk.OAuthError.isInstance(error) && error.code === sdk.OAuthErrorCode.InvalidClient;
    if (!unknown || method !== "client_secret_basic" || !hasTwoForms(client)) throw error;
    return ask(proofOf(client, method, (text) => text));
  }
}

function proofOf(
  { client_id: id, client_secret: secret }: StoredClient,
  method: string,
  form: (text: string) => string,
): ClientProof {
  return (headers, params) => {
    if (method === "client_secret_basic" && secret !== undefined) {
      const proof = Buffer.from(`${form(id)}:${form(secret)}`, "utf8").toString("base64");
      headers.set("authorization", `Basic ${proof}`);
      return;
    }
    params.set("client_id", id);
    if (method === "client_secret_post" && secret !== undefined) params.set("client_secret", secret);
  };
}

function hasTwoForms({ client_id: id, client_secret: secret = "" }: StoredClient): boolean {
  return formEncoded(id) !== id || formEncoded(secret) !== secret;
}

function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}
