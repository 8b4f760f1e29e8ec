import assert from "node:assert/strict";
import { type Client, createClient } from "signpost-client";
import { AgentClaimStatus } from "signpost-client/v1/agent_claim_link";
import { given } from "./journey-support.ts";

const { SIGNPOST_URL = "", SIGNPOST_AUTH_URL } = process.env;

/** Registers as an agent, and claims the workspace as its person. */
export async function claimAsPerson({ agentIdentity }: Client, name: string): Promise<void> {
  const email = `${name}-agent@example.com`;
  const answer = await fetch(`${SIGNPOST_AUTH_URL}/agent/identity`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ type: "service_auth", login_hint: email, client_name: "Journey" }),
  });
  assert.equal(answer.status, 200);
  const { claim } = await answer.json();
  const claimAttemptToken = given(
    new URL(claim.verification_uri).searchParams.get("claim_attempt_token") ?? undefined,
  );
  const { claimLink } = await agentIdentity.lookupClaim({ claimAttemptToken });
  assert.deepEqual([claimLink?.email, claimLink?.status], [email, AgentClaimStatus.PENDING]);
  const password = "correct horse battery";
  const { member } = await agentIdentity.completeClaim({
    claimAttemptToken,
    userCode: claim.user_code,
    password,
  });
  const own = createClient(SIGNPOST_URL, given(member?.accessToken));
  assert.equal((await own.members.getMyself({})).member?.email, email);
  await own.workspaces.delete({});
}
