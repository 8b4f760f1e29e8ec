import { createClaimTokens } from "../../agents/claim-tokens.ts";
import type { AgentGrants } from "../../agents/grants.ts";
import type { Db } from "../../db/open.ts";
import { createAccessTokenSigner } from "../../oauth/access-tokens.ts";
import { claimGrant, endGrants, findGrant, makeGrant } from "../../oauth/grants.ts";
import { createHandles } from "../../oauth/handles.ts";
import { createTokenIssuer } from "../../oauth/issue-tokens.ts";
import { resourceOf, resourcesAt } from "../../oauth/resources.ts";
import { accessTokenLifeMaxMs, type SigningKeys } from "../../oauth/signing-keys.ts";
import { createFederatedVerifier, type VerifyFederated } from "../../people/federated.ts";
import { createPasswordGate } from "../../people/passwords.ts";
import { createSessionSigner } from "../../people/sessions.ts";
import type { Parts } from "./parts.ts";

export interface AgentGrantsDeps extends Pick<Parts, "now" | "keyFor"> {
  readonly addresses: Pick<Parts["addresses"], "baseUrl" | "authUrl" | "mcpUrl">;
  readonly db: Db;
  readonly keys: SigningKeys;
}

/** What agents need of the authorization server. */
export function openAgentGrants({ db, now, keyFor, addresses, keys }: AgentGrantsDeps): AgentGrants {
  const resources = resourcesAt(addresses.baseUrl, addresses.mcpUrl);
  const audienceOf = (resource: string | undefined) => {
    const named = resource === undefined ? "API" : resourceOf(resource, resources);
    return named && resources[named];
  };
  const issuer = createTokenIssuer({
    ...{ db, now, handles: createHandles(keyFor("oauth-secrets")) },
    signAccessToken: createAccessTokenSigner({ keys, issuer: addresses.authUrl }),
  });
  // Nobody refreshes the first token, so it lives as long as any can, unless its grant ends before.
  const endOf = (at: Date) => new Date(at.getTime() + accessTokenLifeMaxMs);
  return {
    begin: (tx, agent, at) =>
      makeGrant(tx, { ...agent, memberId: undefined, resource: undefined, expiresAt: endOf(at) }, at),
    async firstToken(key, at) {
      const grant = await findGrant(db, key, at);
      if (grant === undefined) throw new Error("the grant that was just made is missing");
      const wanted = { scope: grant.scope, audience: resources.API };
      return (await issuer.accessToken(grant, wanted, endOf(at))).access_token;
    },
    claim: claimGrant,
    isResource: (resource) => audienceOf(resource) !== undefined,
    issue: (key, resource) =>
      issuer.bothTokens({ ...key, number: 0 }, ({ scope }) => ({
        scope,
        audience: audienceOf(resource) ?? resources.API,
      })),
    end: endAgentGrant,
  };
}

/** Ends the grant of an agent. */
export const endAgentGrant: AgentGrants["end"] = async (db, grant, at) => {
  await endGrants(db, grant, at);
};

/** Reads tokens of sign-ins with Google or Microsoft, where the operator has named a project for them. */
export function openFederated({ config, now }: Pick<Parts, "config" | "now">): VerifyFederated | undefined {
  return config.federated && createFederatedVerifier({ config: config.federated, now });
}

/** What the calls with which people claim workspaces are given. */
export function openClaims(parts: Parts) {
  const { keyFor, reader } = parts;
  return {
    claimTokens: createClaimTokens(keyFor("agent-claims")),
    claimGrant,
    passwords: createPasswordGate(),
    signSession: createSessionSigner(keyFor("member-sessions")),
    verifyFederated: openFederated(parts),
    findPlace: async (address: string) => (await reader.open()).geography.placeOf(address),
  };
}
