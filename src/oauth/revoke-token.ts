import type { VerifyAccessToken } from "./access-tokens.ts";
import { checkClient, readProof } from "./clients.ts";
import { clientOfGrant, endGrants, type GrantKey } from "./grants.ts";
import { oauthFault } from "./oauth-fault.ts";
import type { Asker, Form, TokenDeps } from "./token-endpoint.ts";

export interface RevokeDeps extends Pick<TokenDeps, "db" | "now" | "handles" | "secretKey" | "onRevoked"> {
  readonly verifyAccessToken: VerifyAccessToken;
}

/** Ends the grant of a token for the program that holds it (RFC 7009). Unknown tokens are as good as revoked. */
export async function revokeToken(deps: RevokeDeps, form: Form, { authorization }: Asker): Promise<void> {
  const { db, now, handles, onRevoked } = deps;
  const proof = readProof(form, authorization);
  await checkClient(db, proof, deps.secretKey);
  const token = form.get("token");
  if (token === undefined) throw oauthFault("invalid_request", "token: must be given");
  const key: GrantKey | undefined = handles.read(token) ?? (await deps.verifyAccessToken(token));
  const clientId = key && (await clientOfGrant(db, key));
  if (key === undefined || clientId === undefined) return;
  if (clientId !== proof.clientId)
    throw oauthFault("unauthorized_client", "the token belongs to another program");
  for (const grantId of await endGrants(db, { workspaceId: key.workspaceId, grantId: key.grantId }, now()))
    onRevoked(grantId);
}
