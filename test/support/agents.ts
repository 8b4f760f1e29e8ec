import { randomUUID } from "node:crypto";
import { createClaimTokens } from "../../src/agents/claim-tokens.ts";
import { registerAgent } from "../../src/agents/register.ts";
import { defaultPostClaimScope } from "../../src/agents/scopes.ts";
import { createUnclaimedWorkspace } from "../../src/api/workspaces/create-workspace.ts";
import type { AgentsDeps } from "../../src/auth/agent-endpoints.ts";
import { deriveKey } from "../../src/lib/keys.ts";
import { createSigningKeys } from "../../src/oauth/signing-keys.ts";
import { apiScopes } from "../../src/rpc/access.ts";
import { openAgentGrants } from "../../src/service/roles/open-agents.ts";
import { type Api, masterSecret } from "./start-api.ts";

/** What agents are given by the service that `startApi` and `startSignIn` run. */
export function testAgents({ db, now }: Pick<Api, "db" | "now">): AgentsDeps {
  const keyFor: Parameters<typeof openAgentGrants>[0]["keyFor"] = (purpose) =>
    deriveKey(masterSecret, purpose);
  const keys = createSigningKeys({ db, now, sealingKey: keyFor("oauth-signing-keys") });
  const addresses = {
    baseUrl: "http://api.test",
    authUrl: "http://api.test/auth",
    mcpUrl: "http://api.test/mcp",
  };
  return {
    mayRegister: true,
    tokens: createClaimTokens(keyFor("agent-claims")),
    grants: openAgentGrants({ db, now, keyFor, addresses, keys }),
    createWorkspace: (tx, name, at) => createUnclaimedWorkspace(tx, name, at),
    scopes: apiScopes,
  };
}

let made = 0;

/** An agent that has registered, from an address of its own. */
export async function newAgent(
  api: Pick<Api, "db" | "now">,
  change: { readonly email?: string; readonly scope?: string; readonly clientName?: string } = {},
) {
  made += 1;
  const { tokens, grants, createWorkspace, scopes } = testAgents(api);
  const order = {
    email: `person-${randomUUID()}@example.com`,
    clientName: "Test agent",
    scope: defaultPostClaimScope(scopes),
    address: `198.51.${100 + (made >> 8)}.${made & 255}`,
    ...change,
  };
  const registered = await registerAgent({ ...api, tokens, grants, createWorkspace }, order);
  if ("waitSeconds" in registered) throw new Error("the registration was refused");
  const { workspaceId } = tokens.readClaimToken(registered.claimToken) ?? { workspaceId: "" };
  return { ...registered, workspaceId, email: order.email };
}
