import { sql } from "kysely";
import { expect, test } from "vitest";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { middleOfMonth, tickingClock } from "../../../test/support/clock.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { createEntitlements, type Entitlements } from "../../db/entitlements.ts";
import { cycleOf } from "../../model/plans/cycle.ts";
import type { SubscriptionType } from "../../model/plans/entitlement.ts";
import { readPlanTable } from "../../model/plans/read-plan-table.ts";

const plans = readPlanTable({ plans: { LIGHT: { limits: { PLATFORM_CREDITS: 100 } } } }, true, []);
// The plan is read again for every call, because these tests change it without waiting.
const entitlements: Entitlements = {
  known: () => undefined,
  of: (id, on) => createEntitlements({ plans, now: () => api.now() }).of(id, on),
};
const api = await startApi({ deps: { plans, entitlements }, clock: tickingClock(middleOfMonth()) });
const { db } = api;
const destination = "https://example.com";

async function workspaceOn(subscription_type: SubscriptionType, more = {}): Promise<TestWorkspace> {
  const workspace = await api.newWorkspace();
  await db
    .updateTable("workspaces")
    .set({ subscription_type, ...more })
    .where("id", "=", workspace.workspaceId)
    .execute();
  return workspace;
}

async function accountOf({ workspaceId }: TestWorkspace) {
  const account = await db
    .selectFrom("credit_accounts")
    .select(["cycle", "used", "topup_bought", "topup_used"])
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  return account ?? { used: 0n, topup_bought: 0n, topup_used: 0n };
}

async function linksOf({ workspaceId }: TestWorkspace): Promise<number> {
  const rows = await db.selectFrom("links").select("id").where("workspace_id", "=", workspaceId).execute();
  return rows.length;
}

async function shortlinksOf({ workspaceId }: TestWorkspace): Promise<number> {
  const rows = await db
    .selectFrom("shortlinks")
    .select("shortlink")
    .where("workspace_id", "=", workspaceId)
    .execute();
  return rows.length;
}

async function buy({ workspaceId }: TestWorkspace, credits: number): Promise<void> {
  const cycle = cycleOf(api.now(), "UTC").month;
  await db
    .insertInto("credit_accounts")
    .values({ workspace_id: workspaceId, cycle, used: 0n, last_charge: 0n, topup_bought: BigInt(credits) })
    .onConflict((conflict) => conflict.column("workspace_id").doUpdateSet({ topup_bought: BigInt(credits) }))
    .execute();
}

test("200 calls at the same time against credits for 50 links make exactly 50", async () => {
  const workspace = await workspaceOn("LIGHT_PLAN");
  const links = workspace.client(LinksService);
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) =>
      index % 2 === 0
        ? (await workspace.rest("POST", "/v1/links", { destination })).status === 200
        : links.create({ destination }).then(
            () => true,
            () => false,
          ),
    ),
  );
  expect(answers.filter(Boolean).length).toBe(50);
  expect([await linksOf(workspace), await shortlinksOf(workspace)]).toEqual([50, 50]);
  expect((await accountOf(workspace)).used).toBe(100n);
});

test("without credits a call is refused until the month ends, and nothing is written", async () => {
  const workspace = await workspaceOn("UNSPECIFIED", { timezone: "Pacific/Auckland" });
  const bulk = (count: number) =>
    workspace.rest("POST", "/v1/links/bulk", {
      links: Array.from({ length: count }, () => ({ destination })),
    });
  expect((await bulk(11)).status).toBe(429);
  expect([await linksOf(workspace), await shortlinksOf(workspace)]).toEqual([0, 0]);
  expect((await bulk(10)).status).toBe(200);
  const at = api.now();
  const refused = await workspace.rest("POST", "/v1/links", { destination });
  expect(refused).toMatchObject({ status: 429, json: { error: { codeType: "INSUFFICIENT_CREDITS" } } });
  const untilReset = (cycleOf(at, "Pacific/Auckland").end.getTime() - at.getTime()) / 1_000;
  expect(Math.abs(Number(refused.headers["retry-after"]) - untilReset)).toBeLessThan(60);
  expect(refused.json.error.details).toContainEqual(
    expect.objectContaining({ metadata: { key: "PLAN_LIMIT_KEY_PLATFORM_CREDITS" } }),
  );
  expect(await linksOf(workspace)).toBe(10);
});

test("every way to make links costs the same, and what makes none costs nothing", async () => {
  const workspace = await workspaceOn("LIGHT_PLAN");
  const { rest } = workspace;
  const key = { "idempotency-key": "once" };
  await rest("POST", "/v1/links", { destination, shortlink: "taken-credits" }, key);
  // A replay, a short link that is taken, one bad link of two, and a wrong request.
  expect((await rest("POST", "/v1/links", { destination, shortlink: "taken-credits" }, key)).status).toBe(
    200,
  );
  expect((await rest("POST", "/v1/links", { destination, shortlink: "taken-credits" })).status).toBe(409);
  const halfTaken = [{ destination }, { destination, shortlink: "taken-credits" }];
  expect((await rest("POST", "/v1/links/bulk", { links: halfTaken })).status).toBe(409);
  expect((await rest("POST", "/v1/links", { destination: "javascript:1" })).status).toBe(400);
  expect((await accountOf(workspace)).used).toBe(2n);
  await rest("POST", "/v1/links/contact", { vcardData: { firstName: "Ada", lastName: "Lovelace" } });
  await rest("POST", "/v1/links/thank-you", { title: "Thank you" });
  await rest("POST", "/v1/links/batch", [{ destination, tags: ["a"] }, { destination }]);
  const { json } = await rest("POST", "/v1/links/bulk", { links: [{ destination }] });
  expect((await accountOf(workspace)).used).toBe(12n);
  await rest("DELETE", `/v1/links/${json.links[0].id}`);
  expect((await accountOf(workspace)).used).toBe(12n);
});

test("bought credits pay when the plan's are used up, to the last one, under concurrent calls too", async () => {
  const workspace = await workspaceOn("UNSPECIFIED");
  await buy(workspace, 15);
  const one = () => workspace.rest("POST", "/v1/links", { destination });
  const answers = await Promise.all(Array.from({ length: 40 }, one));
  // 10 links of the plan's 20 credits and 7 of the bought ones.
  expect(answers.filter(({ status }) => status === 200).length).toBe(17);
  expect(await accountOf(workspace)).toMatchObject({ used: 20n, topup_used: 14n });
  expect(await linksOf(workspace)).toBe(17);
});

test("one call may take more than the plan has, when bought credits pay the rest", async () => {
  const workspace = await workspaceOn("UNSPECIFIED");
  await buy(workspace, 10);
  const links = Array.from({ length: 15 }, () => ({ destination }));
  expect((await workspace.rest("POST", "/v1/links/bulk", { links })).status).toBe(200);
  expect(await accountOf(workspace)).toMatchObject({ used: 20n, topup_used: 10n });
});

test("a new month begins with all credits of the plan, and a changed timezone does not", async () => {
  const workspace = await workspaceOn("UNSPECIFIED");
  const one = async () => (await workspace.rest("POST", "/v1/links", { destination })).status;
  for (let made = 0; made < 10; made++) await one();
  expect(await one()).toBe(429);
  for (const timezone of ["Pacific/Kiritimati", "Pacific/Niue"]) {
    await db.updateTable("workspaces").set({ timezone }).where("id", "=", workspace.workspaceId).execute();
    // Around the turn of a month, a zone may be in the next one; going back never gives credits.
    if (cycleOf(api.now(), timezone).month === cycleOf(api.now(), "UTC").month) expect(await one()).toBe(429);
  }
  await sql`update credit_accounts set cycle = '2000-01' where workspace_id = ${workspace.workspaceId}`.execute(
    db,
  );
  expect(await one()).toBe(200);
  expect((await accountOf(workspace)).used).toBe(2n);
});

test("a higher plan counts at once, and a lower one deletes nothing but stops creating", async () => {
  const workspace = await workspaceOn("UNSPECIFIED");
  const one = async () => (await workspace.rest("POST", "/v1/links", { destination })).status;
  const change = (subscription_type: SubscriptionType) =>
    db.updateTable("workspaces").set({ subscription_type }).where("id", "=", workspace.workspaceId).execute();
  for (let made = 0; made < 10; made++) await one();
  expect(await one()).toBe(429);
  await change("LIGHT_PLAN");
  expect(await one()).toBe(200);
  await change("UNSPECIFIED");
  expect(await one()).toBe(429);
  expect(await linksOf(workspace)).toBe(11);
});

test("a metered plan counts its credits and never refuses", async () => {
  const workspace = await workspaceOn("ENTERPRISE_PLAN");
  const links = Array.from({ length: 250 }, () => ({ destination }));
  expect((await workspace.rest("POST", "/v1/links/bulk", { links })).status).toBe(200);
  expect((await accountOf(workspace)).used).toBe(500n);
});

test("every administrator gets one mail at 80 percent of the credits and one at 100", async () => {
  const workspace = await workspaceOn("UNSPECIFIED");
  for (let made = 0; made < 12; made++) await workspace.rest("POST", "/v1/links", { destination });
  const { rows } = await sql<{ payload: { kind: string; facts: string; to: string; memberId: string } }>`
    select j.payload from graphile_worker._private_jobs j
    join graphile_worker._private_tasks t on t.id = j.task_id
    where t.identifier = 'send-mail' and j.payload->>'workspaceId' = ${workspace.workspaceId}
    order by j.id`.execute(db);
  expect(rows.map(({ payload }) => [payload.kind, payload.memberId, JSON.parse(payload.facts)])).toEqual([
    ["quota", workspace.memberId, { limit: "PLATFORM_CREDITS", percent: 80, used: 16, allowed: 20 }],
    ["quota", workspace.memberId, { limit: "PLATFORM_CREDITS", percent: 100, used: 20, allowed: 20 }],
  ]);
});

test("a sandbox has credits for 50 links, whatever its workspace's plan, until the month ends in UTC", async () => {
  const parent = await workspaceOn("ENTERPRISE_PLAN");
  const sandbox = await workspaceOn("UNSPECIFIED", {
    environment: "test",
    parent_workspace_id: parent.workspaceId,
    timezone: "Pacific/Auckland",
  });
  const links = Array.from({ length: 50 }, () => ({ destination }));
  expect((await sandbox.rest("POST", "/v1/links/bulk", { links })).status).toBe(200);
  const refused = await sandbox.rest("POST", "/v1/links", { destination });
  expect(refused).toMatchObject({ status: 429, json: { error: { codeType: "SANDBOX_CAP_REACHED" } } });
  const at = api.now();
  const untilReset = (cycleOf(at, "UTC").end.getTime() - at.getTime()) / 1_000;
  expect(Math.abs(Number(refused.headers["retry-after"]) - untilReset)).toBeLessThan(60);
});
