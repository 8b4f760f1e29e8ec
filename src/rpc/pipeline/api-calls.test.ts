import { create } from "@bufbuild/protobuf";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { PricingService } from "../../../gen/signpost/v1/pricing_service_pb.js";
import { tickingClock } from "../../../test/support/clock.ts";
import { newCall } from "../../../test/support/new-call.ts";
import { type Api, type ApiOptions, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { createEntitlements } from "../../db/entitlements.ts";
import type { Db } from "../../db/open.ts";
import { newId } from "../../lib/ids.ts";
import { cycleOf } from "../../model/plans/cycle.ts";
import { readPlanTable } from "../../model/plans/read-plan-table.ts";
import { createApiCalls } from "./api-calls.ts";
import { createCallWriter, findCalls } from "./write-api-calls.ts";

const limits = { PUBLIC_API_CALLS: 20, PLATFORM_CREDITS: 1_000_000 };
const plans = readPlanTable({ plans: { FREE: { limits } } }, true, []);

/** The middle of a month, so that no test meets a month's end unless it wants to. */
const clock = tickingClock(new Date(`${new Date().toISOString().slice(0, 7)}-15T12:00:00Z`));

function startLimited(options: ApiOptions = {}): Promise<Api> {
  return startApi({
    clock,
    ...options,
    deps: { plans, entitlements: createEntitlements({ plans, now: clock.now }) },
  });
}

const api = await startLimited();

async function limitedWorkspace(more = {}): Promise<TestWorkspace> {
  const workspace = await api.newWorkspace();
  await api.db
    .updateTable("workspaces")
    .set({ subscription_type: "UNSPECIFIED", ...more })
    .where("id", "=", workspace.workspaceId)
    .execute();
  return workspace;
}

async function countedOf({ workspaceId }: TestWorkspace): Promise<number> {
  await api.flush();
  const rows = await api.db
    .selectFrom("allowance_cycles")
    .select("used")
    .where("workspace_id", "=", workspaceId)
    .where("limit_key", "=", "PUBLIC_API_CALLS")
    .execute();
  return rows.reduce((sum, { used }) => sum + Number(used), 0);
}

const read = ({ rest }: Pick<TestWorkspace, "rest">) => rest("GET", "/v1/links");

test("60 calls at the same time, over REST and gRPC, get exactly as many answers as the plan has calls", async () => {
  const workspace = await limitedWorkspace();
  const links = workspace.client(LinksService);
  const answers = await Promise.all(
    Array.from({ length: 60 }, async (_, index) =>
      index % 2 === 0
        ? (await read(workspace)).status === 200
        : links.list({}).then(
            () => true,
            () => false,
          ),
    ),
  );
  expect(answers.filter(Boolean).length).toBe(20);
  expect(await countedOf(workspace)).toBe(20);
});

test("a call beyond the plan is refused until the month ends, with the reason and the limit", async () => {
  const workspace = await limitedWorkspace({ timezone: "America/New_York" });
  for (let call = 0; call < 20; call++) expect((await read(workspace)).status).toBe(200);
  const refused = await read(workspace);
  expect(refused).toMatchObject({
    status: 429,
    json: { error: { codeType: "MAX_PUBLIC_API_QUERIED_REACHED" } },
  });
  expect(refused.json.error.details).toContainEqual(
    expect.objectContaining({ metadata: { key: "PLAN_LIMIT_KEY_PUBLIC_API_CALLS" } }),
  );
  const untilReset = (cycleOf(clock.now(), "America/New_York").end.getTime() - clock.now().getTime()) / 1_000;
  expect(Math.abs(Number(refused.headers["retry-after"]) - untilReset)).toBeLessThan(60);
  await expect(workspace.client(LinksService).list({})).rejects.toMatchObject({
    rawMessage: expect.stringContaining("20 API calls"),
  });
  // Refusals are not counted, and other workspaces go on.
  expect(await countedOf(workspace)).toBe(20);
  expect((await read(await limitedWorkspace())).status).toBe(200);
});

test("answers of every kind count, but for refusals without a token or a rate, and open calls", async () => {
  const workspace = await limitedWorkspace();
  const { rest } = workspace;
  const missing = "00000000-0000-7000-8000-000000000000";
  expect((await rest("GET", "/v1/links/no-uuid")).status).toBe(400);
  expect((await rest("GET", `/v1/links/${missing}`)).status).toBe(404);
  const narrow = await api.scopedToken(workspace.workspaceId, ["media:read"]);
  expect((await api.rest(narrow)("GET", "/v1/links")).status).toBe(403);
  const key = { "idempotency-key": "the same" };
  await rest("POST", "/v1/links", { destination: "https://example.com" }, key);
  await rest("POST", "/v1/links", { destination: "https://example.com" }, key);
  expect(await countedOf(workspace)).toBe(5);
  expect((await api.rest("nonsense")("GET", "/v1/links")).status).toBe(401);
  expect((await rest("GET", "/v1/pricing/plans")).status).toBe(200);
  await workspace.client(PricingService).listPlans({});
  expect((await rest("GET", "/v1/analytics/hours")).status).toBeGreaterThanOrEqual(400);
  expect(await countedOf(workspace)).toBe(5);
});

test("a bad request beyond the plan hears of its fault first", async () => {
  const workspace = await limitedWorkspace();
  for (let call = 0; call < 20; call++) await read(workspace);
  expect((await workspace.rest("GET", "/v1/links/no-uuid")).status).toBe(400);
  const missing = "00000000-0000-7000-8000-000000000000";
  expect((await workspace.rest("GET", `/v1/links/${missing}`)).status).toBe(429);
});

test("two processes share the calls of a plan once their counts are added up", async () => {
  const workspace = await limitedWorkspace();
  const other = await startLimited({ database: api.database });
  const there = { rest: other.rest(workspace.token) };
  for (let call = 0; call < 8; call++) {
    await read(workspace);
    await read(there);
  }
  await api.flush();
  await other.flush();
  await api.flush();
  // 16 are known to the first process after its next call was written.
  expect((await read(workspace)).status).toBe(200);
  await api.flush();
  const statuses = [];
  for (let call = 0; call < 5; call++) statuses.push((await read(workspace)).status);
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
});

test("counts of many calls are added without losing one, however often they are written", async () => {
  const workspace = await api.newWorkspace();
  const flushes = Array.from({ length: 20 }, () => api.flush());
  const calls = Array.from({ length: 300 }, () => read(workspace));
  await Promise.all([...flushes, ...calls, api.flush()]);
  expect(await countedOf(workspace)).toBe(300);
});

test("a sandbox has its own calls, whatever its workspace's plan", async () => {
  const parent = await api.newWorkspace();
  const sandbox = await limitedWorkspace({ environment: "test", parent_workspace_id: parent.workspaceId });
  const cycle = cycleOf(clock.now(), "UTC").month;
  await api.db
    .insertInto("allowance_cycles")
    .values({ workspace_id: sandbox.workspaceId, limit_key: "PUBLIC_API_CALLS", cycle, used: 999n })
    .execute();
  expect((await read(sandbox)).status).toBe(200);
  expect(await read(sandbox)).toMatchObject({
    status: 429,
    json: { error: { codeType: "SANDBOX_CAP_REACHED" } },
  });
});

test("publishable tokens, which anybody can call with, take no calls from the plan and go on beyond it", async () => {
  const workspace = await limitedWorkspace();
  const token = await api.signToken({
    ...{ tokenId: newId(clock.now()), workspaceId: workspace.workspaceId, keyType: "PUBLISHABLE" },
    ...{ scope: "", environment: "live", issuedAt: clock.now() },
  });
  const identify = (index: number) =>
    api.rest(token)("POST", "/v1/visitor/identify", { visitor: { $email: `ada-${index}@example.com` } });
  const refused = (await identify(0)).status;
  for (let call = 1; call < 30; call++) expect((await identify(call)).status).toBe(refused);
  expect(refused).toBeLessThan(429);
  expect((await api.rest(token)("GET", "/v1/links")).status).toBe(403);
  expect(await countedOf(workspace)).toBe(0);
  for (let call = 0; call < 20; call++) expect((await read(workspace)).status).toBe(200);
  expect((await read(workspace)).status).toBe(429);
  expect((await identify(30)).status).toBe(refused);
});

test("a call that is over before the database has told the calls of its workspace leaves no trace", async () => {
  const workspace = await limitedWorkspace();
  const gone = new AbortController();
  const calls = await api.db.transaction().execute(async (tx) => {
    await sql`lock table allowance_cycles in access exclusive mode`.execute(tx);
    const begun = Array.from({ length: 3 }, () =>
      api.invoke(
        LinksService.method.list,
        () => create(LinksService.method.list.input),
        newCall({ token: workspace.token, signal: gone.signal }),
      ),
    );
    await expect.poll(() => waiting(tx)).toBeGreaterThan(0);
    gone.abort();
    return Promise.all(begun);
  });
  for (const call of calls) expect(call).toMatchObject({ error: { code: "CANCELLED" } });
  await expect.poll(() => waiting(api.db)).toBe(0);
  for (let call = 0; call < 20; call++) expect((await read(workspace)).status).toBe(200);
  expect((await read(workspace)).status).toBe(429);
});

/** How many statements of this file wait for a lock. */
async function waiting(db: Db): Promise<number> {
  const { rows } = await sql`select from pg_locks where not granted
    and database = (select oid from pg_database where datname = current_database())`.execute(db);
  return rows.length;
}

test("a call of an earlier month, as after a change of zone or clock, goes on with the later month's count", async () => {
  const { workspaceId } = await limitedWorkspace();
  const warnings: unknown[] = [];
  const calls = createApiCalls({
    ...{ db: api.db, now: clock.now, entitlements: createEntitlements({ plans, now: clock.now }) },
    log: { warn: (fields: unknown) => void warnings.push(fields) },
  });
  const at = clock.now();
  const next = new Date(cycleOf(at, "UTC").end.getTime() + 1_000);
  for (const moment of [next, at, next, at]) (await calls.begin(workspaceId, moment))?.end("OK");
  await calls.close();
  expect(warnings).toEqual([]);
  const rows = await api.db
    .selectFrom("allowance_cycles")
    .select(["cycle", "used"])
    .where("workspace_id", "=", workspaceId)
    .execute();
  expect(rows).toEqual([{ cycle: cycleOf(next, "UTC").month, used: 4n }]);
});

test("two counts of one workspace and month are added up, also after the database was away", async () => {
  const { workspaceId } = await limitedWorkspace();
  const cycle = cycleOf(clock.now(), "UTC");
  let isAway = true;
  const db = api.db.withPlugin({
    transformQuery({ node }) {
      if (isAway) throw new Error("away");
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const { touch, flush } = createCallWriter({ db, log: { warn: () => {} } });
  const counts = [3, 4].map((unwritten) => ({ workspaceId, cycle, allowed: 20, used: 0, unwritten }));
  for (const count of counts) touch(count);
  await flush();
  expect(counts).toMatchObject([
    { used: 0, unwritten: 3 },
    { used: 0, unwritten: 4 },
  ]);
  isAway = false;
  await flush();
  expect(counts).toMatchObject([
    { used: 7, unwritten: 0 },
    { used: 7, unwritten: 0 },
  ]);
  expect(await findCalls(api.db, workspaceId, cycle.month)).toBe(7);
});

// The last, because it lets the clock of this file go on.
test("the calls of a new month begin anew, in the workspace's own timezone", async () => {
  const workspace = await limitedWorkspace({ timezone: "Asia/Kathmandu" });
  for (let call = 0; call < 20; call++) await read(workspace);
  expect((await read(workspace)).status).toBe(429);
  const { end } = cycleOf(clock.now(), "Asia/Kathmandu");
  clock.advance(end.getTime() - clock.now().getTime() - 500);
  expect((await read(workspace)).status).toBe(429);
  clock.advance(1_000);
  expect((await read(workspace)).status).toBe(200);
  expect(await countedOf(workspace)).toBe(21);
});
