import { expect, test } from "vitest";
import { tickingClock } from "../../test/support/clock.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { newId } from "../lib/ids.ts";
import { createStandings } from "./standing.ts";

const { db, pool } = await testDatabase();
const clock = tickingClock();
let statements = 0;
const counted = db.withPlugin({
  transformQuery({ node }) {
    statements += 1;
    return node;
  },
  transformResult: async ({ result }) => result,
});

async function newMember() {
  const at = clock.now();
  const member = { workspaceId: newId(at), memberId: newId(at) };
  const ids = {
    workspace_id: member.workspaceId,
    id: member.memberId,
    email: `${member.memberId}@example.com`,
  };
  await db
    .insertInto("members")
    .values({ ...ids, role: "TECH", created_at: at, updated_at: at })
    .execute();
  return member;
}

test("a member's standing is read once in 5 s, however many ask at once or after another", async () => {
  const standings = createStandings({ db: counted, now: clock.now });
  const [member, other] = [await newMember(), await newMember()];
  statements = 0;
  await Promise.all(Array.from({ length: 500 }, () => standings.of(member)));
  for (let asked = 0; asked < 500; asked += 1) await standings.of(member);
  expect(statements).toBe(1);
  expect(await standings.of(other)).toMatchObject({ role: "TECH", isSuspended: false, epoch: 0 });
  expect(statements).toBe(2);
  clock.advance(5_000);
  await Promise.all([standings.of(member), standings.of(member)]);
  expect(statements).toBe(3);
});

test("a change in this process counts at once, even while an older answer is under way", async () => {
  const standings = createStandings({ db, now: clock.now });
  const { workspaceId, memberId } = await newMember();
  const earlier = standings.of({ workspaceId, memberId });
  await pool.query("update members set role = 'ADMIN' where id = $1", [memberId]);
  standings.forget({ workspaceId, memberId });
  await earlier;
  expect(await standings.of({ workspaceId, memberId })).toMatchObject({ role: "ADMIN" });
});

test("the standing of a member of another workspace is unknown, and a failed question is asked anew", async () => {
  const standings = createStandings({ db, now: clock.now });
  const { workspaceId, memberId } = await newMember();
  expect(await standings.of({ workspaceId, memberId })).toBeDefined();
  expect(await standings.of({ workspaceId: newId(clock.now()), memberId })).toBeUndefined();
  const member = await newMember();
  await pool.query("alter table members rename to hidden");
  await expect(standings.of(member)).rejects.toThrow();
  await pool.query("alter table hidden rename to members");
  expect(await standings.of(member)).toBeDefined();
});
