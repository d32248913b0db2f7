/**
 * Who a server takes us for, as far as stored sign-ins tell: for keys of caches, which must not serve one account what
 * another was shown. Never to be stored or shown as it is.
 */
import type { ResolvedHttp } from "../resolve.ts";
import { AuthError } from "./auth-error.ts";
import { storedLogins } from "./pi-login.ts";
import { credentialKey } from "./store-file.ts";
import { credentialStore } from "./store-keyring.ts";

/** The same for as long as a sign-in of ours lasts; changes with each refresh of another's. Undefined where nobody is signed in. */
export async function accountOf(
  agentDir: string,
  server: string,
  { url, authProvider }: Pick<ResolvedHttp, "url" | "authProvider">,
): Promise<string | undefined> {
  if (authProvider !== undefined) return storedLogins(agentDir)(authProvider);
  try {
    const stored = await credentialStore(agentDir).read(credentialKey(server, url));
    return stored?.tokens?.grant ?? stored?.tokens?.access_token;
  } catch (error) {
    // Credentials that can't be read are found and said by the connection that needs them.
    if (error instanceof AuthError) return undefined;
    throw error;
  }
}
