/** What authorization servers and the SDK's own checks refuse, as `AuthError`s: told apart by class and code. */
import type * as Sdk from "@modelcontextprotocol/client";
import { printableLine } from "../redact.ts";
import { AuthError, OVERRIDE_HINT } from "./auth-error.ts";

/** `doing` follows "while ". An `AuthError` stays what it is. */
export function oauthFailure(sdk: typeof Sdk, error: unknown, doing: string): AuthError {
  if (error instanceof AuthError) return error;
  const failed = (message: string, ...notes: string[]) =>
    new AuthError("sign-in-failed", message, { cause: error, notes });
  if (sdk.OAuthError.isInstance(error)) {
    if (isTemporary(sdk, error)) {
      return new AuthError("server-unavailable", `the authorization server failed while ${doing}`, { cause: error });
    }
    const code = printableLine(error.code, 60);
    const said = printableLine(error.message, 200);
    return failed(`the authorization server refused while ${doing} (${said === code ? code : `${code}: ${said}`})`);
  }
  if (sdk.IssuerMismatchError.isInstance(error)) {
    const where =
      error.kind === "metadata" ? "the authorization server's metadata names" : "the answer to the sign-in came from";
    const received = error.received === undefined ? "no issuer" : `the issuer ${printableLine(error.received)}`;
    return failed(`${where} ${received}, not ${printableLine(error.expected ?? "")}`, OVERRIDE_HINT);
  }
  if (sdk.RegistrationRejectedError.isInstance(error)) {
    return failed(
      `the authorization server refused to register a client (HTTP ${error.status}: ${printableLine(error.body, 200)})`,
      "register one with it and set oauth.clientId",
      "or, where it takes known names only, set oauth.clientName",
    );
  }
  if (sdk.InsecureTokenEndpointError.isInstance(error)) {
    return failed("the authorization server's token endpoint is not https", OVERRIDE_HINT);
  }
  // What is left: documents and answers that aren't what they must be.
  return failed(`the answer of the authorization server can't be used while ${doing}`, OVERRIDE_HINT);
}

/** Says nothing about what was sent, only that it can't be dealt with now. */
function isTemporary(sdk: typeof Sdk, { code }: Sdk.OAuthError): boolean {
  const { ServerError, TemporarilyUnavailable, TooManyRequests } = sdk.OAuthErrorCode;
  return [ServerError, TemporarilyUnavailable, TooManyRequests].some((one) => one === code);
}
