import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { AnalyticsDataService } from "../gen/signpost/v1/analytics_data_service_pb.js";
import { EventsService } from "../gen/signpost/v1/events_service_pb.js";
import { createEntitlements } from "../src/db/entitlements.ts";
import { newId } from "../src/lib/ids.ts";
import { readPlanTable } from "../src/model/plans/read-plan-table.ts";
import { tickingClock } from "./support/clock.ts";
import { startApi, type TestWorkspace } from "./support/start-api.ts";
import { startTestScan } from "./support/start-scan.ts";

const plans = readPlanTable({}, true, []);
const clock = tickingClock();
const api = await startApi({
  clock,
  deps: { plans, entitlements: createEntitlements({ plans, now: clock.now }) },
});
const dayMs = 24 * 60 * 60 * 1000;
const phone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";
const startMs = clock.now().getTime() - dayMs;

async function subscribe(
  { workspaceId }: TestWorkspace,
  subscription_type: "UNSPECIFIED" | "LIGHT_PLAN" | "PRO_PLAN",
): Promise<void> {
  await api.db.updateTable("workspaces").set({ subscription_type }).where("id", "=", workspaceId).execute();
  // Processes keep what a workspace is allowed for some seconds.
  clock.advance(10_000);
}

/** Makes a visit now and the same one ten days later. Returns the first one's id. */
async function twoVisits({ rest }: TestWorkspace): Promise<string> {
  const scan = await startTestScan(api.database, { shortUrl: "https://short.test", now: clock.now });
  const { link } = (await rest("POST", "/v1/links", { destination: "https://example.com" })).json;
  await scan.ask(`/${link.shortlink}`, { host: "short.test", headers: { "user-agent": phone } });
  await scan.drained();
  const [{ id }] = (await rest("GET", "/v1/events")).json.json.events;
  const at = new Date(clock.now().getTime() + 10 * dayMs);
  await sql`insert into events
    select (jsonb_populate_record(e, jsonb_build_object('id', ${newId(at)}::uuid, 'created_at', ${at}::timestamptz))).*
    from events e where id = ${id}`.execute(api.db);
  return id;
}

interface Bucket {
  readonly eventCount: number;
}

/** How many visits the lists and figures of a workspace show, by the place that says it. */
async function shownIn({ rest, client }: TestWorkspace): Promise<Readonly<Record<string, number>>> {
  const range = { startDate: new Date(startMs).toISOString(), endDate: clock.now().toISOString() };
  const post = async (path: string, question: object) => (await rest("POST", path, question)).json;
  const { events, totalCount } = (await rest("GET", "/v1/events")).json.json;
  const csv = (await rest("GET", "/v1/events?responseFormat=RESPONSE_FORMAT_CSV")).json.csv.csvData;
  const { timeSeries } = await post("/v1/timeseries/events", { ...range, intervalInMinutes: 1_440 });
  expect(timeSeries.data.length).toBe(timeSeries.totalIntervals);
  const hours = await post("/v1/analytics/hours", range);
  const [visitor] = (await rest("GET", "/v1/visitors?include=events")).json.json.visitors;
  const [searched] = (await post("/v1/visitors/search", { include: ["events"] })).json.visitors;
  const alone = (await rest("GET", `/v1/visitors/${visitor.id}?include=events`)).json;
  const since = timestampFromMs(startMs);
  const overGrpc = await client(AnalyticsDataService).getBreakdown({
    startDate: since,
    dimension: "visit_type",
  });
  return {
    list: events.length,
    totalCount: Number(totalCount),
    csv: csv.trim().split("\r\n").length - 1,
    listOverGrpc: (await client(EventsService).listEvents({})).json?.events.length ?? 0,
    breakdown: (await post("/v1/analytics/breakdown", { ...range, dimension: "visit_type" })).total,
    breakdownOverGrpc: overGrpc.total,
    topLinks: (await post("/v1/analytics/top-links", range)).totalEvents,
    hours: hours.totalEvents,
    timeSeries: timeSeries.totalData,
    buckets: timeSeries.data.reduce((sum: number, { eventCount }: Bucket) => sum + eventCount, 0),
    explained: (await post("/v1/analytics:explain", range)).recorded,
    eventsMetric: (await rest("GET", "/v1/metrics/events")).json.totalEvents,
    workspaceMetric: (await rest("GET", "/v1/metrics/workspace")).json.totalEvents,
    visitors: visitor.events.length,
    searched: searched.events.length,
    visitor: alone.events.length,
  };
}

test("FREE shows the events of two weeks, LIGHT those of three months, and a greater plan all, in lists and in figures", async () => {
  const workspace = await api.newWorkspace();
  await subscribe(workspace, "UNSPECIFIED");
  const id = await twoVisits(workspace);
  const expectShown = async (count: number) => {
    const shown = await shownIn(workspace);
    expect(shown).toEqual(Object.fromEntries(Object.keys(shown).map((place) => [place, count])));
    const { status } = await workspace.rest("GET", `/v1/events/${id}/traces`);
    expect(status).toBe(count === 2 ? 200 : 404);
  };

  clock.advance(13 * dayMs);
  await expectShown(2);
  clock.advance(2 * dayMs);
  await expectShown(1);
  clock.advance(10 * dayMs);
  await expectShown(0);
  await subscribe(workspace, "LIGHT_PLAN");
  await expectShown(2);
  clock.advance(70 * dayMs);
  await expectShown(1);
  await subscribe(workspace, "PRO_PLAN");
  await expectShown(2);
});

test("a period that ends before the history of the plan has no events, and its intervals are zeros", async () => {
  const workspace = await api.newWorkspace();
  const { rest } = workspace;
  await twoVisits(workspace);
  clock.advance(40 * dayMs);
  const [startDate, endDate] = [60, 20].map((days) =>
    new Date(clock.now().getTime() - days * dayMs).toISOString(),
  );
  const ask = async () => {
    const { events, totalCount } = (await rest("GET", `/v1/events?endDate=${endDate}`)).json.json;
    const question = { startDate, endDate, intervalInMinutes: 1_440 };
    const { timeSeries } = (await rest("POST", "/v1/timeseries/events", question)).json;
    const { data, totalData } = timeSeries;
    return { counts: [events.length, Number(totalCount), totalData], data: data as readonly Bucket[] };
  };
  await subscribe(workspace, "PRO_PLAN");
  const all = await ask();
  expect(all.counts).toEqual([2, 2, 2]);
  await subscribe(workspace, "UNSPECIFIED");
  expect(await ask()).toEqual({
    counts: [0, 0, 0],
    data: all.data.map((bucket) => ({ ...bucket, eventCount: 0 })),
  });
});
