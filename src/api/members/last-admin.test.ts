import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { type SignedIn, signInAs } from "../../../test/support/sign-in.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { isActiveAdmin } from "../../people/active-admin.ts";

const api = await startApi();

/** A generator of the same numbers each time, from 0 to below `max` (mulberry32). */
function seeded(seed: number): (max: number) => number {
  let state = seed;
  return (max) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) * max) / 2 ** 32;
  };
}

const random = seeded(20_261_122);
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random(items.length))] as Item; // never empty

interface Team {
  readonly workspace: TestWorkspace;
  /** The members who may administer; deleted ones are replaced. */
  readonly members: SignedIn[];
}

async function newTeam(): Promise<Team> {
  const workspace = await api.newWorkspace();
  const members: SignedIn[] = [];
  for (let made = 0; made < 3; made++) members.push(await signInAs(api, workspace));
  return { workspace, members };
}

/** A random call by the workspace's token or by a member, about a member. Most of them take an administrator away. */
function randomCall({ workspace, members }: Team): Promise<{ readonly status: number }> {
  const rest = random(3) < 1 ? workspace.rest : pick(members).rest;
  const { memberId: id } = random(5) < 1 ? workspace : pick(members);
  const chance = random(100);
  if (chance < 30) return rest("POST", `/v1/members/${id}/revoke`);
  if (chance < 60) return rest("PUT", `/v1/members/${id}`, { role: pick(["ROLE_TECH", "ROLE_VIEWER"]) });
  if (chance < 66) return rest("DELETE", `/v1/members/${id}`);
  if (chance < 80) return rest("POST", `/v1/members/${id}/allow`);
  if (chance < 92) return rest("PUT", `/v1/members/${id}`, { role: "ROLE_ADMIN" });
  return rest("POST", "/v1/members/invite", { email: `${randomUUID()}@example.com` });
}

async function adminsOf({ workspaceId }: TestWorkspace): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from members
    where workspace_id = ${workspaceId} and ${isActiveAdmin}`.execute(api.db);
  return rows[0]?.count ?? 0;
}

/** Makes two members the only active administrators, in place of those who were deleted: those two are fought over. */
async function restore(team: Team): Promise<void> {
  const { workspaceId } = team.workspace;
  const ids = team.members.map(({ memberId }) => memberId);
  const { rows } = await sql<{ id: string }>`
    update members set role = case when id = any(${ids.slice(0, 2)}) then 'ADMIN'::member_role else 'TECH' end,
      access_revoked_at = null
    where workspace_id = ${workspaceId} returning id`.execute(api.db);
  const left = new Set(rows.map(({ id }) => id));
  for (const [index, { memberId }] of team.members.entries())
    if (!left.has(memberId)) team.members[index] = await signInAs(api, team.workspace);
}

test("2,000 concurrent calls that invite, suspend, allow, demote, promote and delete leave each workspace an active administrator", async () => {
  const teams = await Promise.all(Array.from({ length: 5 }, newTeam));
  const statuses = new Map<number, number>();
  for (let round = 0; round < 40; round++) {
    const answers = await Promise.all(
      teams.flatMap((team) => Array.from({ length: 10 }, () => randomCall(team))),
    );
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    for (const team of teams) expect(await adminsOf(team.workspace), `round ${round}`).toBeGreaterThan(0);
    await Promise.all(teams.map(restore));
  }
  // Done, refused to those who lost their role, gone, the last one, and ended sessions: nothing else.
  expect([...statuses.keys()].toSorted()).toEqual([200, 401, 403, 404, 412]);
  expect(statuses.get(200)).toBeGreaterThan(400);
  expect(statuses.get(412)).toBeGreaterThan(50);
  expect(api.faults).toEqual([]);
});
