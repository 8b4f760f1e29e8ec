import assert from "node:assert/strict";
import { type Client, createClient, items } from "signpost-client";
import { Member_Role } from "signpost-client/v1/member";
import { PlanLimitKey } from "signpost-client/v1/plan_limit";
import { all, given, refusalOf } from "./journey-support.ts";

const { SIGNPOST_URL = "", SIGNPOST_AUTH_URL, SIGNPOST_EMAIL, SIGNPOST_PASSWORD } = process.env;

/** Signs in, and changes what only a member may. */
export async function signIn({ members }: Client): Promise<void> {
  const answer = await fetch(`${SIGNPOST_AUTH_URL}/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: SIGNPOST_EMAIL, password: SIGNPOST_PASSWORD }),
  });
  assert.equal(answer.status, 200);
  const { accessToken } = await answer.json();
  const own = createClient(SIGNPOST_URL, accessToken);
  assert.equal((await own.members.getMyself({})).member?.email, SIGNPOST_EMAIL);
  const { member } = await own.members.updateMyself({ firstName: "Ada", lastName: "Lovelace" });
  assert.deepEqual([member?.firstName, member?.lastName], ["Ada", "Lovelace"]);
  await own.allowances.dismiss({ key: PlanLimitKey.TRACKED_VISITS });
  assert.deepEqual((await own.grants.list({})).grants, []);
  const missing = await refusalOf(own.grants.revoke({ id: crypto.randomUUID() }));
  assert.equal(missing.reason, "NOT_FOUND");
  const refused = await refusalOf(members.getMyself({}));
  assert.equal(refused.reason, "MEMBER_SESSION_REQUIRED");
}

/** Invites a person, gives the person a role, takes all access away and gives it back; then deletes the person. */
export async function invite({ members }: Client, name: string): Promise<void> {
  const email = `${name}@example.com`;
  const { id, role } = given((await members.invite({ email, firstName: "Grace" })).member);
  assert.equal(role, Member_Role.VIEWER);
  const listed = await all(items(members.list, { pageSize: 1n }, (page) => page.members));
  assert.deepEqual([listed.length, listed[0]?.id], [2, id]);
  await members.update({
    id,
    role: Member_Role.TECH,
    firstName: "ignored",
    updateMask: { paths: ["role"] },
  });
  const { member } = await members.get({ id });
  assert.deepEqual([member?.role, member?.firstName, member?.email], [Member_Role.TECH, "Grace", email]);
  assert.notEqual((await members.revokeAccess({ id })).member?.accessRevokedAt, undefined);
  assert.equal((await members.allowAccess({ id })).member?.accessRevokedAt, undefined);
  await members.forceSignout({ id });
  await members.delete({ id });
  const gone = await refusalOf(members.get({ id }));
  assert.equal(gone.reason, "NOT_FOUND");
}
