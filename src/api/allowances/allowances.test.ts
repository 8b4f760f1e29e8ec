import { beforeAll, describe, expect, test } from "vitest";
import { AllowancesService } from "../../../gen/signpost/v1/allowances_service_pb.js";
import { PlanLimitKey, PlanLimitKind } from "../../../gen/signpost/v1/plan_limit_pb.js";
import { PricingPlanId } from "../../../gen/signpost/v1/pricing_plan_pb.js";
import { tickingClock } from "../../../test/support/clock.ts";
import { signInAs } from "../../../test/support/sign-in.ts";
import { type Api, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { createEntitlements } from "../../db/entitlements.ts";
import { readPlanTable } from "../../model/plans/read-plan-table.ts";

const clock = tickingClock(new Date("2026-10-20T12:00:00Z"));
const plans = readPlanTable({ plans: { FREE: { limits: { TEAM_MEMBERS: 3 } } } }, true, []);
const api = await startApi({
  clock,
  deps: { plans, entitlements: createEntitlements({ plans, now: clock.now }) },
});

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape.
type Json = any;

async function workspaceWith(more = {}, on: Api = api): Promise<TestWorkspace> {
  const workspace = await on.newWorkspace();
  const set = { subscription_type: "UNSPECIFIED", timezone: "Europe/Berlin", ...more } as const;
  await on.db.updateTable("workspaces").set(set).where("id", "=", workspace.workspaceId).execute();
  return workspace;
}

async function listed({ rest }: Pick<TestWorkspace, "rest">): Promise<Record<string, Json>> {
  const { status, json } = await rest("GET", "/v1/allowances");
  expect(status).toBe(200);
  const keys = json.allowances.map(({ key }: Json) => key.replace("PLAN_LIMIT_KEY_", ""));
  expect(keys).toEqual([
    "CUSTOM_DOMAINS",
    "TEAM_MEMBERS",
    "PLATFORM_CREDITS",
    "TRACKED_VISITS",
    "PUBLIC_API_CALLS",
  ]);
  return Object.fromEntries(json.allowances.map((one: Json, index: number) => [keys[index], one]));
}

async function use(workspace: TestWorkspace, limit_key: string, used: number, locked = 0): Promise<void> {
  await api.db
    .insertInto("allowance_cycles")
    .values({
      workspace_id: workspace.workspaceId,
      limit_key,
      cycle: "2026-10",
      used: BigInt(used),
      locked: BigInt(locked),
    })
    .execute();
}

async function link({ rest }: TestWorkspace): Promise<void> {
  expect((await rest("POST", "/v1/links", { destination: "https://example.com" })).status).toBe(200);
}

describe("the list", () => {
  test("says what is used of each counted limit, and all limits of the plan", async () => {
    const workspace = await workspaceWith();
    await link(workspace);
    await link(workspace);
    await use(workspace, "TRACKED_VISITS", 1_200, 200);
    const { rest } = workspace;
    await api.flush();
    const { allowances, limits, plan } = (await rest("GET", "/v1/allowances")).json;
    expect(plan).toBe("PRICING_PLAN_ID_FREE");
    const cycle = {
      cycleStartAt: "2026-09-30T22:00:00Z",
      // Daylight saving ends within the cycle.
      cycleEndAt: "2026-10-31T22:59:59Z",
      resetsOn: { year: 2026, month: 11, day: 1 },
    };
    const base = { reached: false, noticeDismissed: false };
    const key = (name: string) => `PLAN_LIMIT_KEY_${name}`;
    const kind = (name: string) => `PLAN_LIMIT_KIND_${name}`;
    expect(allowances).toEqual([
      {
        ...base,
        key: key("CUSTOM_DOMAINS"),
        kind: kind("TOTAL"),
        used: 0,
        limit: 0,
        remaining: 0,
        reached: true,
      },
      { ...base, key: key("TEAM_MEMBERS"), kind: kind("TOTAL"), used: 1, limit: 3, remaining: 2 },
      {
        ...{ ...base, ...cycle, key: key("PLATFORM_CREDITS"), kind: kind("MONTHLY"), used: 4, limit: 20 },
        ...{ remaining: 16, cheapestActionCost: 1 },
      },
      {
        ...{
          ...base,
          ...cycle,
          key: key("TRACKED_VISITS"),
          kind: kind("MONTHLY"),
          used: 1_000,
          limit: 1_000,
        },
        ...{ remaining: 0, reached: true, lockedCount: 200, lockedTotalCount: 200, recordedCount: 1_200 },
      },
      {
        ...{ ...base, ...cycle, key: key("PUBLIC_API_CALLS"), kind: kind("MONTHLY"), used: 2, limit: 1_000 },
        remaining: 998,
      },
    ]);
    expect(limits).toEqual([
      { key: key("CUSTOM_DOMAINS"), kind: kind("TOTAL"), value: 0 },
      { key: key("TEAM_MEMBERS"), kind: kind("TOTAL"), value: 3 },
      { key: key("PLATFORM_CREDITS"), kind: kind("MONTHLY"), value: 20 },
      { key: key("TRACKED_VISITS"), kind: kind("MONTHLY"), value: 1_000 },
      { key: key("PUBLIC_API_CALLS"), kind: kind("MONTHLY"), value: 1_000 },
      { key: key("WEBHOOKS"), kind: kind("TOTAL"), value: 20 },
      { key: key("ASSISTANT_MESSAGES_PER_MINUTE"), kind: kind("PER_MINUTE"), value: 3 },
      { key: key("LINKS_INCLUDED"), kind: kind("MONTHLY"), value: 10 },
    ]);
  });

  test("has no cycle while nothing was counted", async () => {
    const workspace = await workspaceWith();
    const { PLATFORM_CREDITS, TRACKED_VISITS } = await listed(workspace);
    expect(PLATFORM_CREDITS).not.toHaveProperty("cycleStartAt");
    expect(TRACKED_VISITS).not.toHaveProperty("resetsOn");
    expect(TRACKED_VISITS).toMatchObject({ used: 0, recordedCount: 0, lockedCount: 0, lockedTotalCount: 0 });
  });

  test("counts bought credits as remaining, and says that credits are reached when none are left", async () => {
    const workspace = await workspaceWith();
    for (let made = 0; made < 10; made++) await link(workspace);
    expect((await listed(workspace)).PLATFORM_CREDITS).toMatchObject({
      used: 20,
      remaining: 0,
      reached: true,
    });
    await api.db
      .updateTable("credit_accounts")
      .set({ topup_bought: 7n })
      .where("workspace_id", "=", workspace.workspaceId)
      .execute();
    await link(workspace);
    expect((await listed(workspace)).PLATFORM_CREDITS).toMatchObject({
      used: 20,
      remaining: 5,
      reached: false,
    });
  });

  test("leaves out limits that do not exist, and counts all the same", async () => {
    const free = await startApi({ clock });
    const workspace = await workspaceWith({}, free);
    const { json } = await workspace.rest("POST", "/v1/links", { destination: "https://example.com" });
    await link(workspace);
    await workspace.rest("DELETE", `/v1/links/${json.link.id}`);
    await free.flush();
    const { PLATFORM_CREDITS, TEAM_MEMBERS, PUBLIC_API_CALLS } = await listed(workspace);
    for (const allowance of [PLATFORM_CREDITS, TEAM_MEMBERS, PUBLIC_API_CALLS]) {
      expect(allowance.kind).toBe("PLAN_LIMIT_KIND_UNLIMITED");
      expect(allowance).not.toHaveProperty("limit");
      expect(allowance).not.toHaveProperty("remaining");
    }
    expect(PLATFORM_CREDITS).toMatchObject({ used: 4, reached: false, resetsOn: { month: 11 } });
    expect([TEAM_MEMBERS.used, PUBLIC_API_CALLS.used]).toEqual([1, 3]);
    expect((await workspace.rest("GET", "/v1/allowances")).json.plan).toBe("PRICING_PLAN_ID_ENTERPRISE");
  });

  test("shows a sandbox its caps and months in UTC", async () => {
    const parent = await workspaceWith({ subscription_type: "PRO_PLAN" });
    const sandbox = await workspaceWith({ environment: "test", parent_workspace_id: parent.workspaceId });
    await api.db.deleteFrom("members").where("workspace_id", "=", sandbox.workspaceId).execute();
    await link(sandbox);
    const { json } = await sandbox.rest("GET", "/v1/allowances");
    expect(json.plan).toBe("PRICING_PLAN_ID_PRO");
    expect(json.allowances.map(({ used, limit }: Json) => [used, limit])).toEqual([
      [0, 5],
      [0, 10],
      [2, 100],
      [0, 500],
      [0, 1_000],
    ]);
    expect(json.allowances[2]).toMatchObject({
      cycleStartAt: "2026-10-01T00:00:00Z",
      cycleEndAt: "2026-10-31T23:59:59Z",
    });
  });

  test("says the same over gRPC", async () => {
    const workspace = await workspaceWith({ subscription_type: "ENTERPRISE_PLAN" });
    await link(workspace);
    const { allowances, limits, plan } = await workspace.client(AllowancesService).list({});
    expect(plan).toBe(PricingPlanId.ENTERPRISE);
    expect(allowances[2]).toMatchObject({
      key: PlanLimitKey.PLATFORM_CREDITS,
      kind: PlanLimitKind.METERED,
      used: 2,
      reached: false,
    });
    expect(allowances[2]?.limit).toBeUndefined();
    expect(limits.map(({ key }) => key)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

describe("a notice", () => {
  let workspace: TestWorkspace;
  let ada: Awaited<ReturnType<typeof signInAs>>;
  let bob: Awaited<ReturnType<typeof signInAs>>;
  beforeAll(async () => {
    workspace = await workspaceWith({ timezone: "America/New_York" });
    ada = await signInAs(api, workspace);
    bob = await signInAs(api, workspace);
  });

  async function dismissedOf(member: Pick<TestWorkspace, "rest">): Promise<string[]> {
    return Object.entries(await listed(member)).flatMap(([key, one]) => (one.noticeDismissed ? [key] : []));
  }

  const dismiss = (rest: TestWorkspace["rest"], key: unknown) =>
    rest("POST", "/v1/allowances/dismiss", { key });

  test("is dismissed for the member who does so, until the next cycle, and twice changes nothing", async () => {
    for (let time = 0; time < 2; time++)
      expect(await dismiss(ada.rest, "PLAN_LIMIT_KEY_TRACKED_VISITS")).toMatchObject({
        status: 200,
        json: {},
      });
    await ada.client(AllowancesService).dismiss({ key: PlanLimitKey.PUBLIC_API_CALLS });
    expect(await dismissedOf(ada)).toEqual(["TRACKED_VISITS", "PUBLIC_API_CALLS"]);
    expect([await dismissedOf(bob), await dismissedOf(workspace)]).toEqual([[], []]);
  });

  test("of a total stays away until the total is no longer reached", async () => {
    await dismiss(ada.rest, "PLAN_LIMIT_KEY_TEAM_MEMBERS");
    expect(await dismissedOf(ada)).toContain("TEAM_MEMBERS");
    await api.db
      .deleteFrom("members")
      .where("workspace_id", "=", workspace.workspaceId)
      .where("id", "=", workspace.memberId)
      .execute();
    expect(await dismissedOf(ada)).not.toContain("TEAM_MEMBERS");
    await signInAs(api, workspace);
    expect((await listed(ada)).TEAM_MEMBERS).toMatchObject({ reached: true, noticeDismissed: false });
  });

  test.each([
    ["a key of which nothing is counted", "PLAN_LIMIT_KEY_WEBHOOKS"],
    ["the links that are included", "PLAN_LIMIT_KEY_LINKS_INCLUDED"],
    ["no key", "PLAN_LIMIT_KEY_UNSPECIFIED"],
    ["an unknown key", "PLAN_LIMIT_KEY_NAPS"],
    ["a number beyond the enum", 99],
    ["nothing", undefined],
  ])("of %s is refused by its field, and nothing is kept", async (_, key) => {
    const before = await dismissedOf(bob);
    const refused = await dismiss(bob.rest, key);
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.json)).toContain('"key"');
    if (typeof key !== "string")
      await expect(
        bob.client(AllowancesService).dismiss(key === undefined ? {} : { key: key as PlanLimitKey }),
      ).rejects.toThrow("key");
    expect(await dismissedOf(bob)).toEqual(before);
  });

  test("cannot be dismissed by a token", async () => {
    const refused = await dismiss(workspace.rest, "PLAN_LIMIT_KEY_TRACKED_VISITS");
    expect(refused).toMatchObject({ status: 403, json: { error: { codeType: "MEMBER_SESSION_REQUIRED" } } });
    const overGrpc = workspace.client(AllowancesService).dismiss({ key: PlanLimitKey.TRACKED_VISITS });
    await expect(overGrpc).rejects.toThrow("sign in as a member");
  });

  // The last, because it lets the clock of this file go on.
  test("comes back in the next month of the workspace's own timezone", async () => {
    const left = Date.parse("2026-11-01T04:00:00Z") - clock.now().getTime();
    clock.advance(left - 60_000);
    expect(await dismissedOf(ada)).toContain("TRACKED_VISITS");
    clock.advance(120_000);
    expect(await dismissedOf(ada)).toEqual([]);
  });
});
