import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import type { Headers } from "./bad-input/row.ts";
import { exchange, requestBytes } from "./bad-input/send-http.ts";
import { corpus } from "./counting/corpus.ts";
import type { Row } from "./counting/row.ts";
import { type EventAnswer, type LinkAnswer, type RestApi, restApi } from "./support/rest-api.ts";
import { eventually, type Service, startService } from "./support/start-service.ts";

let service: Service;
let api: RestApi;
let links: LinkAnswer[];
const statuses = new Map<Row, (number | undefined)[]>();
const eventsByLink = new Map<string, EventAnswer[]>();
const counts = new Map<string, string>();

beforeAll(async () => {
  service = await startService();
  api = restApi(service.baseUrl, service.credentials.accessToken);
  // No operation changes the level yet.
  await inDatabase("update link_settings set data_collection = 'ADVANCED'");
  links = await Promise.all(corpus.map(({ name }) => api.createLink({ name: name.slice(0, 255) })));
  // HEAD comes first: if it came last, a wrongly stored visit could still be on its way.
  const order = corpus.map((row, index) => ({ row, index })).toSorted((a, b) => rank(a.row) - rank(b.row));
  for (const { row, index } of order) statuses.set(row, await send(row, linkOf(index)));
  await waitForDrain();
  return () => service.stop();
});

function linkOf(index: number): LinkAnswer {
  const link = links[index];
  if (link === undefined) throw new Error(`row ${index} has no link`);
  return link;
}

function rank(row: Row): number {
  return row.method === "HEAD" ? 0 : 1;
}

async function inDatabase(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: service.env.DATABASE_URL });
  await client.connect();
  await client.query(statement);
  await client.end();
}

/**
 * Sends a row as often as it says and returns the statuses.
 */
async function send({ method, query, headers, repeat }: Row, link: LinkAnswer) {
  // An answer to HEAD announces a body and has none, so only the end of the connection ends it.
  const ending: Headers = method === "HEAD" ? [["connection", "close"]] : [];
  const target = `/${link.shortlink}${query}`;
  const request = { method, target, headers: [...Object.entries(headers), ...ending], body: "" };
  const bytes = requestBytes(request, service.port);
  const seen: (number | undefined)[] = [];
  for (let sent = 0; sent < repeat; sent++) {
    const answer = await exchange(service.port, bytes);
    seen.push(answer?.status);
  }
  return seen;
}

async function waitForDrain(): Promise<void> {
  const expected = corpus.reduce((sum, { repeat, expect: { recorded } }) => sum + (recorded ? repeat : 0), 0);
  const events = await eventually(
    () => api.events(),
    (each) => each.length >= expected,
  );
  for (const event of events) {
    const known = eventsByLink.get(event.linkId) ?? [];
    eventsByLink.set(event.linkId, [event, ...known]);
  }
  const counted = corpus.reduce((sum, row) => sum + countOf(row), 0);
  const listed = await eventually(
    async () => (await api.call("GET", "/v1/links?pageSize=1000")).links,
    (each) => each.reduce((sum, { eventCount }) => sum + Number(eventCount), 0) >= counted,
  );
  for (const { id, eventCount } of listed) counts.set(id, eventCount);
}

function countOf({ repeat, expect: { counted } }: Row): number {
  return counted ? repeat : 0;
}

/** The API's names of the contract's reasons. */
const reasons: Partial<Record<Row["expect"]["reason"], string>> = {
  crawler: "CRAWLER",
  "link preview": "LINK_PREVIEW",
  program: "PROGRAM",
  assistant: "AGENT",
  prefetch: "PREFETCH",
  preview: "PREVIEW",
  embedded: "EMBEDDED",
};

/** Whether a repeated visit is recognised: a person's by its cookie, a program's by its look. */
function isKnownAgain({ headers, expect: { deviceActor } }: Row): boolean {
  return headers.cookie !== undefined || deviceActor === "BOT" || deviceActor === "AGENT";
}

describe("the counting contract, over HTTP", () => {
  test.each(corpus.map((row, index) => ({ name: row.name, row, index })))("$name", ({ row, index }) => {
    const { id } = linkOf(index);
    const { expect: expected, repeat } = row;
    expect(statuses.get(row)).toEqual(Array.from({ length: repeat }, () => expected.status));
    expect(eventsByLink.get(id) ?? []).toMatchObject(
      Array.from({ length: expected.recorded ? repeat : 0 }, (_, visit) => ({
        action: `ACTION_${expected.action}`,
        counted: expected.counted,
        uncountedReason: `UNCOUNTED_REASON_${reasons[expected.reason] ?? "UNSPECIFIED"}`,
        visitType: visit === 0 || !isKnownAgain(row) ? "VISIT_TYPE_FIRST" : "VISIT_TYPE_RETURNING",
        device: {
          deviceType: `DEVICE_TYPE_${expected.deviceType}`,
          deviceActor: `DEVICE_ACTOR_${expected.deviceActor}`,
          deviceActorName: expected.deviceActorName,
          deviceActorOrigin: expected.deviceActorOrigin,
          browserName: expected.browserName,
          platformName: expected.platformName,
          deviceBrand: expected.deviceBrand,
          ipAddress: expected.level === "ADVANCED" ? "127.0.0.1" : "127.0.0.0",
        },
      })),
    );
    expect(counts.get(id)).toBe(String(countOf(row)));
    const listed = (eventsByLink.get(id) ?? []).filter(({ counted }) => counted);
    expect(counts.get(id)).toBe(String(listed.length));
  });
});

/** The parts of answers with numbers. */
interface Numbers {
  readonly csv: { readonly csvData: string };
  readonly json: { readonly totalCount: string };
  readonly data: readonly { readonly label: string; readonly eventCount: number }[];
  readonly total: number;
  readonly totalEvents: number;
  readonly totalMonthlyEvents: number;
  readonly timeSeries: { readonly totalData: number };
  readonly entryVisits: string;
}

/** The explanation of a count. */
interface Explained {
  readonly counted: number;
  readonly recorded: number;
  readonly leftOut: readonly { readonly reason: string; readonly eventCount: number }[];
}

test("the corpus has the same totals in lists, CSV, counters, analytics, metrics and explanations", async () => {
  const counted = corpus.reduce((sum, row) => sum + countOf(row), 0);
  const read = (path: string) => api.call<Numbers>("GET", path);
  const ask = (path: string, more: object = {}) => api.call<Numbers>("POST", path, more);
  const { csv } = await read("/v1/events?counted=true&pageSize=1000&responseFormat=RESPONSE_FORMAT_CSV");
  const { total, data } = await ask("/v1/analytics/breakdown", { dimension: "browser", limit: 100 });
  const byBrowser = Map.groupBy(corpus, ({ expect: { browserName } }) => browserName || "Unknown");
  for (const [browser, rows] of byBrowser) {
    const visits = rows.reduce((sum, row) => sum + countOf(row), 0);
    const point = data.find(({ label }) => label === browser);
    expect(point?.eventCount ?? 0, browser).toBe(visits);
  }
  const explained = await api.call<Explained>("POST", "/v1/analytics:explain", {});
  const totals = {
    list: Number((await read("/v1/events?counted=true&pageSize=1")).json.totalCount),
    csv: csv.csvData.trim().split("\r\n").length - 1,
    counters: [...counts.values()].reduce((sum, count) => sum + Number(count), 0),
    breakdown: total,
    places: (await ask("/v1/analytics/geo")).totalEvents,
    devices: (await ask("/v1/analytics/devices")).totalEvents,
    hours: (await ask("/v1/analytics/hours")).totalEvents,
    links: (await ask("/v1/analytics/top-links")).totalEvents,
    series: (await ask("/v1/analytics/timeseries", { groupBy: "GROUP_BY_DIMENSION_CITY" })).totalEvents,
    intervals: (await ask("/v1/timeseries/events")).timeSeries.totalData,
    funnel: Number((await ask("/v1/analytics/funnel")).entryVisits),
    explained: explained.counted,
    metric: (await read("/v1/metrics/events")).totalEvents,
    workspace: (await read("/v1/metrics/workspace")).totalEvents,
    month: (await read("/v1/metrics/workspace")).totalMonthlyEvents,
  };
  expect(totals).toEqual(Object.fromEntries(Object.keys(totals).map((name) => [name, counted])));

  const recorded = corpus.filter(({ expect: { recorded } }) => recorded);
  const visitsOf = (rows: readonly Row[]) => rows.reduce((sum, { repeat }) => sum + repeat, 0);
  expect(explained.recorded).toBe(visitsOf(recorded));
  const leftOut = Map.groupBy(
    recorded.filter(({ expect: { counted } }) => !counted),
    ({ expect: { reason } }) => `LEFT_OUT_REASON_${reasons[reason]}`,
  );
  const told = explained.leftOut.map(({ reason, eventCount }) => [reason, eventCount] as const);
  expect(new Map(told)).toEqual(new Map([...leftOut].map(([reason, rows]) => [reason, visitsOf(rows)])));
});
