import { authMethods } from "./clients.ts";
import type { OauthDeps } from "./server.ts";

/** What programs learn of the authorization server (RFC 8414). */
export function metadataOf({ issuer, scopes, resources, otherGrants, metadata }: OauthDeps): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth2/auth`,
    token_endpoint: `${issuer}/oauth2/token`,
    registration_endpoint: `${issuer}/oauth2/reg`,
    revocation_endpoint: `${issuer}/oauth2/revoke`,
    jwks_uri: `${issuer}/oauth2/jwks`,
    service_documentation: `${resources.API}/docs`,
    scopes_supported: [...scopes].sort(),
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token", ...otherGrants.keys()],
    token_endpoint_auth_methods_supported: authMethods,
    revocation_endpoint_auth_methods_supported: authMethods,
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    protected_resources: Object.values(resources),
    ...metadata,
  };
}
