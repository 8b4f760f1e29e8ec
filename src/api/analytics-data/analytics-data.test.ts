import type { JsonObject } from "@bufbuild/protobuf";
import { parse } from "csv-parse/sync";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { AnalyticsDataService } from "../../../gen/signpost/v1/analytics_data_service_pb.js";
import { randomFrom } from "../../../test/fuzz/random.ts";
import { expectedAnswer, type Question, randomQuestion } from "../../../test/support/analytics/questions.ts";
import { storeWorld } from "../../../test/support/analytics/store-world.ts";
import {
  randomVisit,
  randomWorld,
  type World,
  type WorldLink,
} from "../../../test/support/analytics/world.ts";
import { ask } from "../../../test/support/ask.ts";
import { type Api, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { segmentAnalytics } from "../../analytics/reading/driver.ts";
import { sealSpan } from "../../analytics/segments/seal-span.ts";
import { openSession } from "../../analytics/segments/session.ts";
import { newId } from "../../lib/ids.ts";
import { rebuildRollUps } from "../../visitors/roll-ups.ts";

const api = await startApi();
const random = randomFrom(15);

interface Place {
  readonly workspace: TestWorkspace;
  readonly world: World;
}

// That drivers are right whatever happens to visits is proven in ../../analytics/differential.test.ts.
const places: Place[] = [];

beforeAll(async () => {
  // One zone sets its clocks in the north, the other three quarters of an hour beside the full one in the south.
  for (const timezone of ["Europe/Berlin", "Pacific/Chatham"]) {
    const workspace = await api.newWorkspace();
    const { workspaceId } = workspace;
    await api.db.updateTable("workspaces").set({ timezone }).where("id", "=", workspaceId).execute();
    const links = [];
    for (const [name, tags] of linkNames) links.push(await newLink(workspace, name, tags));
    const world = randomWorld(random, timezone, links, 600);
    await storeWorld(api.db, workspaceId, world);
    places.push({ workspace, world });
  }
});

const linkNames: readonly [string, readonly string[]][] = [
  ["Menu", ["red", "blue"]],
  ["Äpfel", ["red"]],
  ["=cmd()", ["blue"]],
  ["Zoo", []],
];

async function newLink({ rest }: TestWorkspace, name: string, tags: readonly string[]): Promise<WorldLink> {
  const { json } = await rest("POST", "/v1/links", { destination: "https://example.com", name, tags });
  return { id: json.link.id, name, shortlink: json.link.shortlink, tags, isDeleted: false };
}

/** Asks random questions over REST and gRPC, and computes their answers visit by visit. */
async function compareAnswers(
  { workspace, world }: Place,
  count: number,
  answering: Api = api,
): Promise<Set<string>> {
  const names = new Set<string>();
  for (let index = 0; index < count; index++) {
    const question = randomQuestion(random, world);
    const { method, asked } = question;
    const protocol = index % 2 === 0 ? "rest" : "grpc";
    const answer = await ask(answering, protocol, method, asked as JsonObject, workspace.token);
    const body =
      protocol === "grpc" && method.name === "GetEventsMetric" ? unwrapped(answer.body) : answer.body;
    const { dataThrough, ...numbers } = body as JsonObject;
    expect(numbers, described(question, answer.message)).toEqual(expectedAnswer(world, question));
    if (method.name !== "ExplainCount") expect(isRecent(dataThrough)).toBe(true);
    names.add(method.name);
  }
  return names;
}

/** Answers may lag a minute behind. They may also be ahead of the test's clock, which goes on only when it is read. */
function isRecent(dataThrough: unknown): boolean {
  return Math.abs(api.now().getTime() - Date.parse(String(dataThrough))) <= 60_000;
}

function unwrapped(body: unknown): unknown {
  return Object.values(body as object)[0];
}

function described({ method, asked }: Question, message: string): string {
  return `${method.name} ${JSON.stringify(asked)} ${message}`;
}

test("every operation answers what counting visit by visit gives, in two zones, over REST and gRPC", async () => {
  const asked = new Set<string>();
  for (const place of places) for (const name of await compareAnswers(place, 60)) asked.add(name);
  expect(asked.size).toBe(14);
});

test("segments give the same answers as the tables of visits, over REST and gRPC", async () => {
  const { connection } = api.database;
  const options = { connection, now: api.now, cacheBytes: 8_000_000, timeoutMs: 20_000, maxAgeMs: 0 };
  const faults: string[] = [];
  const segments = segmentAnalytics({ ...options, onFault: (fault) => faults.push(fault) });
  onTestFinished(segments.close);
  const answering = await startApi({ database: api.database, deps: { analytics: segments.ask } });
  const session = await openSession(connection);
  onTestFinished(session.close);
  for (const place of places) {
    const span = { workspaceId: place.workspace.workspaceId, from: new Date(0), to: api.now() };
    await sealSpan(session, span);
    await compareAnswers(place, 40, answering);
  }
  expect(faults).toEqual([]);
});

test("the totals are those of the list of events, of its CSV, and of the links' counters", async () => {
  for (const { workspace, world } of places) {
    const { rest } = workspace;
    await rebuildRollUps(api.db, workspace.workspaceId);
    const range = { startDate: "2024-02-01T00:00:00Z", endDate: "2025-02-28T00:00:00Z" };
    for (const { id, isDeleted } of world.links) {
      const query = new URLSearchParams({ linkId: id, counted: "true", ...range });
      const listed = (await rest("GET", `/v1/events?${query}`)).json.json.totalCount;
      const csv = (await rest("GET", `/v1/events?${query}&responseFormat=RESPONSE_FORMAT_CSV&pageSize=1000`))
        .json;
      expect(csv.csv.csvData.trim().split("\r\n").length - 1).toBe(Number(listed));
      const about = { ...range, linkId: id };
      const breakdown = await rest("POST", "/v1/analytics/breakdown", {
        ...about,
        dimension: "city",
        limit: 100,
      });
      expect(String(breakdown.json.total)).toBe(listed);
      const parts = breakdown.json.data.map(({ eventCount }: { eventCount: number }) => eventCount);
      expect(parts.reduce((sum: number, part: number) => sum + part, 0)).toBe(breakdown.json.total);
      const series = (await rest("POST", "/v1/timeseries/events", { ...about, intervalInMinutes: 10_080 }))
        .json;
      expect(String(series.timeSeries.totalData)).toBe(listed);
      expect((await rest("POST", "/v1/analytics/funnel", about)).json.entryVisits).toBe(listed);
      expect(String((await rest("GET", `/v1/metrics/events?linkId=${id}`)).json.totalEvents)).toBe(listed);
      if (isDeleted) continue;
      expect((await rest("GET", `/v1/links/${id}`)).json.link.eventCount).toBe(listed);
    }
  }
});

test("without dates the last 30 days are asked for, to the present", async () => {
  const workspace = await api.newWorkspace();
  const link = await newLink(workspace, "Now", []);
  const world = randomWorld(randomFrom(1), "UTC", [link], 2);
  const now = api.now().getTime();
  const visits = [1, 29, 31].map((days) => {
    const at = new Date(now - days * 86_400_000);
    return {
      ...randomVisit(randomFrom(days), world),
      counted: true,
      lockedNumber: undefined,
      id: newId(at),
      at,
    };
  });
  await storeWorld(api.db, workspace.workspaceId, { ...world, visits });
  const { json } = await workspace.rest("POST", "/v1/analytics/hours");
  expect(json.totalEvents).toBe(2);
  const trends = await workspace.client(AnalyticsDataService).getVisitorTrends({});
  expect([trends.data.length, trends.totalNew + trends.totalReturning]).toEqual([31, 2]);
});

/** The fields that some operations need. */
const needs: Readonly<Record<string, object>> = {
  breakdown: { dimension: "country" },
  timeseries: { groupBy: "GROUP_BY_DIMENSION_COUNTRY" },
  "attributes/metric": { key: "plan" },
  "attributes/distribution": { key: "plan" },
  "attributes/values": { key: "plan" },
};

const paths = [
  "breakdown",
  "geo",
  "devices",
  "hours",
  "top-links",
  "visitors",
  "timeseries",
  "funnel",
].concat(["metric", "distribution", "values"].map((name) => `attributes/${name}`));

const long = { startDate: "2024-01-01T00:00:00Z", endDate: "2025-02-04T00:00:00Z" };

test.each<[string, object, string, RegExp]>([
  ["breakdown", { dimension: "region" }, "dimension", /browser.*visit_type/],
  ["breakdown", { dimension: "" }, "dimension", /required/],
  ["geo", { groupBy: "region" }, "groupBy", /country.*city/],
  [
    "devices",
    { startDate: "1969-12-31T00:00:00Z", endDate: "1970-01-02T00:00:00Z" },
    "startDate",
    /before 1970/,
  ],
  ["hours", { startDate: "2999-01-01T00:00:00Z" }, "startDate", /future: give an endDate/],
  ["top-links", { limit: -1 }, "limit", /greater than or equal to 0/],
  ["visitors", { intervalInMinutes: 4 }, "intervalInMinutes", /5/],
  ["visitors", { intervalInMinutes: 576_001 }, "intervalInMinutes", /576000/],
  [
    "visitors",
    { intervalInMinutes: 5, startDate: "2024-01-01T00:00:00Z", endDate: "2024-01-31T00:00:00Z" },
    "intervalInMinutes",
    /more than 2,000 intervals: give 22 or more, or a shorter range/,
  ],
  ["timeseries", { groupBy: "GROUP_BY_DIMENSION_UNSPECIFIED" }, "groupBy", /required/],
  ["timeseries", { groupBy: "COUNTRY_OR_SO" }, "groupBy", /must be one of GROUP_BY_DIMENSION_COUNTRY/],
  [
    "timeseries",
    {
      groupBy: "GROUP_BY_DIMENSION_CITY",
      limit: 100,
      intervalInMinutes: 60,
      startDate: "2024-01-01T00:00:00Z",
      endDate: "2024-01-31T00:00:00Z",
    },
    "limit",
    /more than 40000 points: give 55 or less/,
  ],
  ["attributes/metric", { key: " " }, "key", /required/],
  ["attributes/distribution", { key: "k".repeat(65) }, "key", /64/],
  ["attributes/values", { key: "plan", linkId: "menu" }, "linkId", /UUID/],
  ["funnel", { tag: "t".repeat(51) }, "tag", /50/],
  ...paths.flatMap((path): [string, object, string, RegExp][] => [
    [
      path,
      { ...needs[path], ...long, endDate: "2025-02-04T00:00:00.001Z" },
      "startDate",
      /at most 400 days before the end: give 2024-01-01T00:00:00.001Z or later/,
    ],
    [
      path,
      { ...needs[path], startDate: "2024-03-02T00:00:00Z", endDate: "2024-03-01T00:00:00Z" },
      "",
      /startDate must not be after endDate/,
    ],
    [path, { ...needs[path], endDate: "29 February" }, "endDate", /RFC 3339/],
  ]),
])("%s refuses %j", async (path, request, field, advice) => {
  const { workspace } = places[0] ?? {};
  const answer = await workspace?.rest("POST", `/v1/analytics/${path}`, request);
  expect(answer?.status).toBe(400);
  expect(answer?.json.error.message).toMatch(advice);
  expect(answer?.json.error.message).toContain(field);
});

test("a link that is unknown or another workspace's is refused, after faults of the request", async () => {
  const [mine, theirs] = places;
  const linkId = theirs?.world.links[1]?.id;
  for (const path of ["breakdown", "funnel", "visitors"]) {
    const request = { ...needs[path], linkId };
    const answer = await mine?.workspace.rest("POST", `/v1/analytics/${path}`, request);
    expect([answer?.status, answer?.json.error.codeType]).toEqual([404, "NOT_FOUND"]);
    expect(answer?.json.error.message).toBe(`linkId: there is no link ${linkId} in this workspace`);
  }
  const crowded = { linkId, intervalInMinutes: 5, ...long };
  const answer = await mine?.workspace.rest("POST", "/v1/timeseries/events", crowded);
  expect([answer?.status, answer?.json.error.message]).toEqual([400, expect.stringContaining("intervals")]);
});

test("every answer is a table for callers that accept CSV, with a row for each element and formulas disarmed", async () => {
  const { workspace } = places[0] ?? { workspace: await api.newWorkspace() };
  const rows = async (path: string, body: object) => {
    const asked = { ...body, startDate: "2024-01-01T00:00:00Z", endDate: "2024-12-31T00:00:00Z" };
    const { status, headers, text } = await workspace.rest("POST", path, asked, { accept: "text/csv" });
    expect([status, headers["content-type"]], text).toEqual([200, "text/csv; charset=utf-8"]);
    const { json } = await workspace.rest("POST", path, asked);
    const [columns = [], ...lines]: string[][] = parse(text);
    return { json, columns, lines };
  };
  const top = await rows("/v1/analytics/top-links", {});
  expect(top.columns).toEqual(["name", "shortlink", "eventCount"]);
  expect(top.lines.map(([name]) => name)).toContain("'=cmd()");
  expect(top.lines.map(([, , count]) => Number(count))).toEqual(
    top.json.data.map((link: { eventCount: number }) => link.eventCount),
  );
  const series = await rows("/v1/analytics/timeseries", { groupBy: "GROUP_BY_DIMENSION_CITY" });
  expect(series.columns).toEqual(["label", "points.timestamp", "points.value"]);
  const points = series.json.series.flatMap(
    ({ label, points: all }: { label: string; points: PointJson[] }) =>
      all.map(({ timestamp, value }) => [label, timestamp, String(value)]),
  );
  expect(series.lines).toEqual(points);
  const times = await rows("/v1/timeseries/events", { intervalInMinutes: 1_440 });
  expect(times.lines).toHaveLength(times.json.timeSeries.data.length);
  const metric = await rows("/v1/analytics/attributes/metric", { key: "plan" });
  expect(metric.lines).toHaveLength(1);
  const plain = await workspace.rest(
    "POST",
    "/v1/analytics/devices",
    {},
    { accept: "application/json, text/csv" },
  );
  expect(plain.headers["content-type"]).toBe("application/json");
});

interface PointJson {
  readonly timestamp: string;
  readonly value: number;
}
