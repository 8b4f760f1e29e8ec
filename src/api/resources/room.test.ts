import { expect, test } from "vitest";
import { insertWorkspace } from "../../../test/support/start-scan.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { createEntitlements } from "../../db/entitlements.ts";
import { newId } from "../../lib/ids.ts";
import { defaultPlans } from "../../model/plans/plan-table.ts";
import { readPlanTable } from "../../model/plans/read-plan-table.ts";
import { checkPlanRoom } from "./room-queries.ts";

const { db } = await testDatabase();
const now = () => new Date();

function addMember(plans: typeof defaultPlans, workspaceId: string): Promise<unknown> {
  const entitlements = createEntitlements({ plans, now });
  return db.transaction().execute(async (tx) => {
    await checkPlanRoom(tx, { now, entitlements }, workspaceId, "TEAM_MEMBERS");
    const id = newId(now());
    const own = { workspace_id: workspaceId, id, created_at: now(), updated_at: now() };
    await tx
      .insertInto("members")
      .values({ ...own, email: `${id}@example.com`, role: "VIEWER" })
      .execute();
  });
}

test("30 members who are added at the same time stop at exactly the plan's number", async () => {
  const plans = readPlanTable({ plans: { FREE: { limits: { TEAM_MEMBERS: 7 } } } }, true, []);
  const workspaceId = await insertWorkspace(db);
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => addMember(plans, workspaceId)));
  expect(outcomes.filter(({ status }) => status === "fulfilled").length).toBe(7);
  const refused = outcomes.find((outcome) => outcome.status === "rejected");
  // A total has no time at which to try again.
  expect(refused?.reason).toMatchObject({
    reason: "PLAN_LIMIT_REACHED",
    refusal: { metadata: { key: "PLAN_LIMIT_KEY_TEAM_MEMBERS" } },
  });
  expect(refused?.reason.refusal).not.toHaveProperty("retryAfterSeconds");
});

test("without plans in force there is always room", async () => {
  const workspaceId = await insertWorkspace(db);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 12 }, () => addMember(defaultPlans, workspaceId)),
  );
  expect(outcomes.every(({ status }) => status === "fulfilled")).toBe(true);
});
