import { deriveKey } from "../../src/lib/keys.ts";
import { createAccessTokenSigner } from "../../src/oauth/access-tokens.ts";
import { findGrant, makeGrant } from "../../src/oauth/grants.ts";
import { createHandles } from "../../src/oauth/handles.ts";
import { createTokenIssuer } from "../../src/oauth/issue-tokens.ts";
import { type Resource, resourcesAt } from "../../src/oauth/resources.ts";
import { createSigningKeys } from "../../src/oauth/signing-keys.ts";
import { type Api, masterSecret } from "./start-api.ts";

export interface GrantFacts {
  readonly workspaceId: string;
  /** Absent for a grant of an agent whose workspace nobody has claimed yet. */
  readonly memberId?: string;
  readonly scopes: readonly string[];
  readonly resource?: Resource;
  readonly expiresAt?: Date;
}

const addresses = resourcesAt("http://api.test");

/** Issues tokens as the authorization server does, of the service that `startApi` runs. */
export function issuerOf({ db, now }: Pick<Api, "db" | "now">, issuer = "http://api.test/auth") {
  const keys = createSigningKeys({ db, now, sealingKey: deriveKey(masterSecret, "oauth-signing-keys") });
  const handles = createHandles(deriveKey(masterSecret, "oauth-secrets"));
  return createTokenIssuer({ db, now, handles, signAccessToken: createAccessTokenSigner({ keys, issuer }) });
}

/** Makes a grant and an access token of it. */
export async function granted(api: Pick<Api, "db" | "now">, facts: GrantFacts) {
  const { workspaceId, memberId, scopes, resource = "API", expiresAt } = facts;
  const at = api.now();
  const grantId = await makeGrant(
    api.db,
    {
      ...{ workspaceId, memberId, clientId: "a-client", clientName: "A client", resource },
      ...{ scope: scopes.join(" "), expiresAt: new Date(at.getTime() + 60 * 60 * 1000) },
    },
    at,
  );
  const grant = await findGrant(api.db, { workspaceId, grantId }, at);
  if (grant === undefined) throw new Error("the grant is missing");
  const wanted = { scope: grant.scope, audience: addresses[resource] };
  const { access_token: accessToken } = await issuerOf(api).accessToken(grant, wanted, expiresAt);
  return { grantId, accessToken };
}
