// The entry of `mcp.json` for the suite's server: what a person would write who was handed what the suite hands its client.
// Credentials stand in variables, as they would.

/** The suite's own Client ID Metadata Document, as if it were ours. */
const CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json";

/** An entry and the variables that it names. `context` is what the suite gives for the scenario. */
export function entryFor(url, revision, context) {
  const { oauth, env } = signIn(context);
  // Revisions before 2026-07-28 have the handshake of 2025; the suite names the one that is meant.
  return { entry: { url, protocolVersion: revision < "2026-07-28" ? "legacy" : revision, oauth }, env };
}

function signIn(context) {
  if (context.client_id === undefined) return { oauth: { clientMetadataUrl: CLIENT_METADATA_URL }, env: {} };
  const client = { clientId: context.client_id, ...(context.issuer && { issuer: context.issuer }) };
  const secret = context.client_secret && { clientSecret: "${SUITE_CLIENT_SECRET}" };
  const env = { SUITE_CLIENT_SECRET: context.client_secret };
  if (context.valid_jwt !== undefined) {
    const oauth = { ...client, grant: "workload-identity", assertion: "${SUITE_JWT}" };
    return { oauth, env: { SUITE_JWT: context.valid_jwt } };
  }
  if (context.idp_id_token !== undefined) {
    const idp = {
      idpIssuer: context.idp_issuer,
      idpTokenEndpoint: context.idp_token_endpoint,
      idpClientId: context.idp_client_id,
      idToken: "${SUITE_ID_TOKEN}",
    };
    const oauth = { ...client, ...secret, ...idp, grant: "enterprise-managed" };
    return { oauth, env: { ...env, SUITE_ID_TOKEN: context.idp_id_token } };
  }
  if (context.private_key_pem !== undefined) {
    const key = { privateKey: "${SUITE_PRIVATE_KEY}", privateKeyAlgorithm: context.signing_algorithm };
    return {
      oauth: { ...client, ...key, grant: "client-credentials" },
      env: { SUITE_PRIVATE_KEY: context.private_key_pem },
    };
  }
  // A client registered beforehand signs a person in unless it stands for itself.
  const grant = context.issuer === undefined && { grant: "client-credentials" };
  return { oauth: { ...client, ...secret, ...grant }, env };
}
