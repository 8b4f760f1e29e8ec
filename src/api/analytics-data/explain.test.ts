import { Code } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { AnalyticsDataService } from "../../../gen/signpost/v1/analytics_data_service_pb.js";
import { randomFrom } from "../../../test/fuzz/random.ts";
import { storeWorld } from "../../../test/support/analytics/store-world.ts";
import { randomWorld, type World } from "../../../test/support/analytics/world.ts";
import { startApi, type TestSandbox, type TestWorkspace } from "../../../test/support/start-api.ts";

// That the answers are right is proven with those of all other operations in analytics-data.test.ts.

const api = await startApi();
const path = "/v1/analytics:explain";
// Two days in which clocks are set back, and a leap day.
const range = { startDate: "2024-02-15T00:00:00Z", endDate: "2024-11-10T00:00:00Z" };

let sandbox: TestSandbox;
let workspace: TestWorkspace;
let world: World;

beforeAll(async () => {
  sandbox = await api.newSandbox();
  workspace = sandbox.parent;
  await addWorld(workspace, 1, 300).then((made) => {
    world = made;
  });
  await addWorld(sandbox, 2, 25);
});

async function addWorld(
  { rest, workspaceId }: Pick<TestWorkspace, "rest" | "workspaceId">,
  seed: number,
  visits: number,
): Promise<World> {
  const timezone = "Pacific/Chatham";
  await api.db.updateTable("workspaces").set({ timezone }).where("id", "=", workspaceId).execute();
  const { json } = await rest("POST", "/v1/links", { destination: "https://example.com", tags: ["red"] });
  const { id, name, shortlink } = json.link;
  const links = [{ id, name, shortlink, tags: ["red"], isDeleted: false }];
  const made = randomWorld(randomFrom(seed), timezone, links, visits);
  await storeWorld(api.db, workspaceId, made);
  return made;
}

interface Part {
  readonly reason: string;
  readonly eventCount: number;
  readonly eventIds: readonly string[];
}

interface Explained {
  readonly counted: number;
  readonly recorded: number;
  readonly visitors: number;
  readonly leftOut: readonly Part[];
}

async function explain(question: object): Promise<Explained> {
  const { status, json, text } = await workspace.rest("POST", path, question);
  expect(status, text).toBe(200);
  expect(json.recorded).toBe(
    json.leftOut.reduce((sum: number, { eventCount }: Part) => sum + eventCount, json.counted),
  );
  return json;
}

async function chart(name: string, question: object) {
  const { status, json, text } = await workspace.rest("POST", `/v1/${name}`, { ...range, ...question });
  expect(status, text).toBe(200);
  return json;
}

describe("each number on a chart is what its explanation counts", () => {
  test.each([
    ["browser", "label"],
    ["platform", "label"],
    ["city", "label"],
    ["country", "code"],
    ["device_type", "code"],
    ["visit_type", "code"],
  ] as const)("bars by %s", async (dimension, field) => {
    const { data, total } = await chart("analytics/breakdown", { dimension, limit: 100 });
    expect(data.length).toBeGreaterThan(1);
    let sum = 0;
    for (const point of data) {
      const value = point.label === "Unknown" && point.code === "" ? "" : point[field];
      const { counted } = await explain({ ...range, dimension, value });
      expect(counted, value).toBe(point.eventCount);
      sum += counted;
    }
    expect(sum).toBe(total);
    expect((await explain(range)).counted).toBe(total);
  });

  test("points over time, of all visits and of one country, and the visitors in them", async () => {
    const interval = { intervalInMinutes: 10_080 };
    const { timeSeries } = await chart("timeseries/events", interval);
    const { data } = await chart("analytics/visitors", interval);
    for (const [index, { timestamp, eventCount }] of timeSeries.data.entries()) {
      const { counted, visitors } = await explain({ ...range, ...interval, intervalStart: timestamp });
      const { newVisitorCount, returningVisitorCount } = data[index];
      expect([counted, visitors]).toEqual([eventCount, newVisitorCount + returningVisitorCount]);
    }
    const { series } = await chart("analytics/timeseries", { groupBy: "GROUP_BY_DIMENSION_COUNTRY" });
    const [{ label, points }] = series;
    for (const { timestamp, value } of points.filter((_: unknown, index: number) => index % 20 === 0)) {
      const question = { ...range, dimension: "country", value: label, intervalStart: timestamp };
      expect((await explain(question)).counted).toBe(value);
    }
  });

  test("hours of the day in a zone three quarters beside the hour", async () => {
    const { data } = await chart("analytics/hours", {});
    for (const { hour, eventCount } of data)
      expect((await explain({ ...range, hour })).counted).toBe(eventCount);
  });
});

test("whoever asks for all of a workspace learns of the visits in its sandboxes, by number only", async () => {
  const sandboxed = (explained: Explained) =>
    explained.leftOut.find(({ reason }) => reason === "LEFT_OUT_REASON_SANDBOX");
  const all = await explain(range);
  const own = (await sandbox.rest("POST", path, range)).json;
  expect(own.recorded).toBeGreaterThan(0);
  expect(sandboxed(own)).toBeUndefined();
  const eventCount = own.recorded;
  expect(sandboxed(all)).toEqual({ reason: "LEFT_OUT_REASON_SANDBOX", eventCount, eventIds: [] });
  for (const narrower of [{ tag: "red" }, { linkId: world.links[0]?.id }])
    expect(sandboxed(await explain({ ...range, ...narrower }))).toBeUndefined();
});

test("locked visits have a number and no example, and none of their properties can be asked for", async () => {
  const locked = world.visits.filter(({ lockedNumber }) => lockedNumber !== undefined);
  const shown = locked.filter(({ at }) => at >= new Date(range.startDate) && at <= new Date(range.endDate));
  const of = ({ leftOut }: Explained) => leftOut.find(({ reason }) => reason === "LEFT_OUT_REASON_LOCKED");
  expect(shown.length).toBeGreaterThan(0);
  expect(of(await explain(range))).toMatchObject({ eventCount: shown.length, eventIds: [] });
  for (const { device } of shown) {
    const explained = await explain({ ...range, dimension: "country", value: device.country });
    expect(of(explained)).toBeUndefined();
  }
});

test("examples are the newest twenty, each is in the list of events, and over gRPC they are the same", async () => {
  const linkId = world.links[0]?.id ?? "";
  const { json } = await workspace.rest("POST", path, { ...range, linkId });
  const listed = async (query: string) => {
    const parameters = `linkId=${linkId}&startDate=${range.startDate}&endDate=${range.endDate}&pageSize=20`;
    const { events } = (await workspace.rest("GET", `/v1/events?${parameters}&${query}`)).json.json;
    return events.map(({ id }: { readonly id: string }) => id);
  };
  expect(json.eventIds).toEqual(await listed("counted=true"));
  expect(json.eventIds).toHaveLength(20);
  const [crawlers] = json.leftOut.filter(({ reason }: Part) => reason === "LEFT_OUT_REASON_CRAWLER");
  expect(crawlers.eventIds).toEqual(await listed("uncountedReason=UNCOUNTED_REASON_CRAWLER"));
  const answer = await workspace.client(AnalyticsDataService).explainCount({
    linkId,
    startDate: { seconds: BigInt(Date.parse(range.startDate) / 1000) },
    endDate: { seconds: BigInt(Date.parse(range.endDate) / 1000) },
  });
  expect([answer.counted, answer.recorded, answer.eventIds]).toEqual([
    json.counted,
    json.recorded,
    json.eventIds,
  ]);
});

test.each<[object, string, RegExp]>([
  [{ dimension: "region" }, "dimension", /must be one of.*browser.*visit_type/],
  [{ value: "DE" }, "value", /give the chart's dimension too/],
  [{ dimension: "country", value: "Germany" }, "value", /two capital letters, such as DE/],
  [{ dimension: "country", value: "de" }, "value", /two capital letters/],
  [{ dimension: "device_type", value: "MOBILE" }, "value", /DEVICE_TYPE_MOBILE/],
  [{ dimension: "device_type", value: "DEVICE_TYPE_UNSPECIFIED" }, "value", /must be one of/],
  [{ dimension: "visit_type", value: "__proto__" }, "value", /VISIT_TYPE_FIRST, VISIT_TYPE_RETURNING/],
  [{ dimension: "city", value: "K\u0000ln" }, "value", /remove U\+0000/],
  [{ dimension: "city", value: "x".repeat(4_096) }, "value", /255/],
  [{ hour: 24 }, "hour", /23/],
  [{ hour: -1 }, "hour", /0/],
  [{ intervalInMinutes: 60 }, "intervalInMinutes", /give intervalStart too/],
  [{ intervalInMinutes: 4, intervalStart: range.startDate }, "intervalInMinutes", /5/],
  [
    { ...range, intervalStart: "2024-03-01T00:00:00Z", intervalInMinutes: 1_440 },
    "intervalStart",
    /one begins at 2024-02-29T10:15:00.000Z/,
  ],
  [{ ...range, intervalStart: "2025-01-01T00:00:00Z" }, "intervalStart", /one begins at 2024-11-09T10:15/],
  [{ ...range, intervalStart: "2023-01-01T00:00:00Z" }, "intervalStart", /one begins at 2024-02-14T10:15/],
  [
    { ...range, intervalStart: range.startDate, intervalInMinutes: 5 },
    "intervalInMinutes",
    /more than 2,000 intervals: give 194 or more/,
  ],
  [{ ...range, endDate: "2025-03-22T00:00:00Z" }, "startDate", /at most 400 days before the end/],
  [{ ...range, endDate: "2024-01-01T00:00:00Z" }, "", /startDate must not be after endDate/],
  [{ linkId: "menu" }, "linkId", /UUID/],
  [{ tag: "t".repeat(51) }, "tag", /50/],
])("%j is refused", async (request, field, advice) => {
  const { status, json } = await workspace.rest("POST", path, request);
  expect([status, json.error.message]).toEqual([400, expect.stringMatching(advice)]);
  expect(json.error.message.startsWith(field)).toBe(true);
});

test("the same faults are refused over gRPC, and another workspace's link does not exist", async () => {
  const client = workspace.client(AnalyticsDataService);
  await expect(client.explainCount({ value: "DE" })).rejects.toMatchObject({ code: Code.InvalidArgument });
  await expect(client.explainCount({ dimension: "city", hour: 24 })).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
  const other = await api.newWorkspace();
  const { json } = await other.rest("POST", "/v1/links", { destination: "https://example.com" });
  await expect(client.explainCount({ linkId: json.link.id })).rejects.toMatchObject({ code: Code.NotFound });
});
