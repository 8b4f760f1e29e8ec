import { Code } from "@connectrpc/connect";
import sharp from "sharp";
import { beforeAll, describe, expect, test } from "vitest";
import { AnalyticsDashboardService } from "../../../gen/signpost/v1/analytics_dashboard_service_pb.js";
import { randomFrom } from "../../../test/fuzz/random.ts";
import { storeWorld } from "../../../test/support/analytics/store-world.ts";
import { randomWorld } from "../../../test/support/analytics/world.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { etagOf } from "../../lib/etag.ts";

const api = await startApi();

const at = "/v1/analytics/dashboards";
const year = { startDate: "2024-02-01T00:00:00Z", endDate: "2025-02-28T00:00:00Z" };
const hostile = `<script>alert(1)</script>\u202e"'&\t`;

let workspace: TestWorkspace;
let starter: string;
let own: string;

beforeAll(async () => {
  workspace = await api.newWorkspace();
  const { rest, workspaceId } = workspace;
  await api.db
    .updateTable("workspaces")
    .set({ timezone: "Europe/Berlin" })
    .where("id", "=", workspaceId)
    .execute();
  const { json } = await rest("POST", "/v1/links", { destination: "https://example.com", name: "Menu" });
  const { id, name, shortlink } = json.link;
  const link = { id, name, shortlink, tags: [], isDeleted: false };
  const world = randomWorld(randomFrom(5), "Europe/Berlin", [link], 300);
  const visitors = world.visitors.map((visitor) => Object.assign(visitor, { plan: hostile }));
  await storeWorld(api.db, workspaceId, { ...world, visitors });
  starter = (await rest("POST", at, { useDefaultWidgets: true })).json.dashboard.id;
  const widgets = [
    {
      id: "plans",
      title: hostile,
      dataSource: {
        ...{ endpoint: "/v1/analytics/attributes/distribution", method: "POST" },
        ...{ params: { key: "plan" }, responseDataPath: "data", usesDateRange: true },
      },
      visualization: {
        ...{ chartType: "pie", colors: ["url(https://example.com)", "#ABCDEF"] },
        tabs: [{ label: "Text", mode: "WIDGET_TAB_MODE_ASSISTANT_SUMMARY" }],
      },
    },
    {
      ...{ id: "a/b.png", title: "Countries" },
      dataSource: {
        ...{ endpoint: "/v1/analytics/breakdown", method: "POST", usesDateRange: true },
        ...{ params: { dimension: "country" }, responseDataPath: "data" },
      },
    },
  ];
  const made = await rest("POST", at, { linkId: link.id, config: { widgets } });
  expect(made.status, made.text).toBe(200);
  own = made.json.dashboard.id;
});

/** Asks for a picture over REST. */
function get(dashboard: string, picture: string, query: Readonly<Record<string, string>> = {}, headers = {}) {
  const parameters = new URLSearchParams(query);
  const path = `${at}/${dashboard}/widgets/${encodeURIComponent(picture)}?${parameters}`;
  return workspace.rest("GET", path, undefined, headers);
}

function textsOf(svg: string): string[] {
  return [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text = ""]) => text);
}

const widgetIds = [
  ...["total-visits", "countries-reached", "cities-reached", "average-lead-score", "visits", "visitors"],
  ...["top-links", "countries", "devices", "hours", "systems"],
];

test.each(widgetIds)("the picture of the starter widget %s is the same over REST and gRPC", async (id) => {
  const { status, text, headers } = await get(starter, `${id}.svg`, year);
  expect([status, headers["content-type"]]).toEqual([200, "image/svg+xml"]);
  const texts = textsOf(text);
  expect(texts).toContain("Feb 1, 2024 – Feb 28, 2025, Europe/Berlin");
  expect(texts).not.toContain("No data in this range");
  const { image } = await workspace.client(AnalyticsDashboardService).getWidgetPicture({
    dashboardId: starter,
    picture: `${id}.svg`,
    startDate: { seconds: BigInt(Date.parse(year.startDate) / 1000) },
    endDate: { seconds: BigInt(Date.parse(year.endDate) / 1000) },
  });
  expect([image?.contentType, Buffer.from(image?.data ?? []).toString()]).toEqual(["image/svg+xml", text]);
});

test("a picture shows the numbers that the widget's operation answers", async () => {
  const { json } = await workspace.rest("POST", "/v1/analytics/breakdown", { ...year, dimension: "country" });
  const shown = textsOf((await get(starter, "countries.svg", year)).text);
  for (const { label, eventCount } of json.data)
    expect(shown).toEqual(expect.arrayContaining([label, String(eventCount)]));
  const total = textsOf((await get(starter, "total-visits.svg", year)).text);
  const all = await workspace.rest("GET", `/v1/metrics/events?${new URLSearchParams(year)}`);
  expect(total).toContain(Number(all.json.totalEvents).toLocaleString("en"));
});

test("a tab is drawn with its own parameters, a map as bars", async () => {
  const [map, cities] = await Promise.all(
    ["2", "3"].map(async (tab) => textsOf((await get(starter, "countries.svg", { ...year, tab })).text)),
  );
  expect(map).toEqual(expect.arrayContaining(["Countries: Map", "Germany"]));
  expect(cities).toContain("Countries: Cities");
  expect(cities).not.toContain("Germany");
});

test("a PNG has the size and the theme that were asked for, and the same bytes over REST and gRPC", async () => {
  const size = { width: 400, height: 240, scale: 2, theme: "dark" };
  const { image } = await workspace.client(AnalyticsDashboardService).getWidgetPicture({
    dashboardId: starter,
    picture: "devices.png",
    ...size,
    startDate: { seconds: 1_706_745_600n },
    endDate: { seconds: 1_740_700_800n },
  });
  const data = image?.data ?? new Uint8Array();
  expect(await sharp(data).metadata()).toMatchObject({ format: "png", width: 800, height: 480 });
  const corner = await sharp(data)
    .extract({ left: 0, top: 0, width: 1, height: 1 })
    .removeAlpha()
    .raw()
    .toBuffer();
  expect([...corner]).toEqual([0x0f, 0x17, 0x2a]);
  const { headers } = await get(starter, "devices.png", {
    ...year,
    width: "400",
    height: "240",
    scale: "2",
    theme: "dark",
  });
  expect(headers).toMatchObject({
    "content-type": "image/png",
    "content-length": String(data.length),
    etag: etagOf(data),
  });
});

test("a client keeps a picture for a minute, asks with its tag, and gets it again only when it has changed", async () => {
  const { headers } = await get(starter, "hours.svg", year);
  expect(headers).toMatchObject({
    "cache-control": "private, max-age=60",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "x-content-type-options": "nosniff",
  });
  const tag = { "if-none-match": headers.etag ?? "" };
  const same = await get(starter, "hours.svg", year, tag);
  expect([same.status, same.text, same.headers.etag]).toEqual([304, "", headers.etag]);
  expect((await get(starter, "hours.svg", { ...year, theme: "dark" }, tag)).status).toBe(200);
});

test("texts and colors of visitors and customers are shown as texts, cut and without effect", async () => {
  const { text } = await get(own, "plans.svg", year);
  expect(
    textsOf(text).filter((each) => each === "&lt;script&gt;alert(1)&lt;/script&gt; &quot;&#39;&amp;"),
  ).toHaveLength(2);
  expect(text).not.toMatch(/<script|\t|\u202e|example\.com/u);
});

test("without numbers in the range a picture says so, whatever the id of its widget", async () => {
  const quiet = { startDate: "1999-12-31T23:00:00Z", endDate: "2000-01-01T22:59:59Z" };
  const { text } = await get(own, "a/b.png.svg", quiet);
  expect(textsOf(text)).toEqual(["Countries", "Jan 1, 2000, Europe/Berlin", "No data in this range"]);
});

describe("refuses", () => {
  const unknown = "00000000-0000-7000-8000-000000000000";
  test.each<[string, string, Record<string, string>, number, string, RegExp]>([
    [unknown, "plans.svg", {}, 404, "NOT_FOUND", /^dashboardId: there is no dashboard/],
    ["own", "other.svg", {}, 404, "NOT_FOUND", /^picture: there is no widget other on this dashboard/],
    ["own", ".png", {}, 404, "NOT_FOUND", /^picture: there is no widget/],
    ["own", "plans.svg", { tab: "2" }, 404, "NOT_FOUND", /^tab: there is no tab 2 of this widget/],
    ["own", "plans.svg", { tab: "1" }, 400, "INVALID_ARGUMENT", /tab: shows a text/],
    ["own", "plans.jpg", {}, 400, "INVALID_ARGUMENT", /picture/],
    ["own", "plans.svg", { theme: "blue" }, 400, "INVALID_ARGUMENT", /theme/],
    ["own", "plans.svg", { width: "319" }, 400, "INVALID_ARGUMENT", /width/],
    ["own", "plans.svg", { height: "2001" }, 400, "INVALID_ARGUMENT", /height/],
    [
      "own",
      "plans.png",
      { width: "2000", height: "1000", scale: "2" },
      400,
      "INVALID_ARGUMENT",
      /scale: .*4,000,000: give a smaller size/,
    ],
    [
      "own",
      "plans.svg",
      { ...year, endDate: year.startDate, startDate: year.endDate },
      400,
      "INVALID_ARGUMENT",
      /after/,
    ],
    ["own", "plans.svg", { startDate: "2020-01-01T00:00:00Z" }, 400, "INVALID_ARGUMENT", /400 days/],
    ["own", "plans.svg", { intervalInMinutes: "4" }, 400, "INVALID_ARGUMENT", /intervalInMinutes/],
  ])("%s %s %j", async (dashboard, picture, query, status, reason, message) => {
    const { status: answered, json } = await get(dashboard === "own" ? own : dashboard, picture, query);
    expect([answered, json.error.codeType]).toEqual([status, reason]);
    expect(json.error.message).toMatch(message);
  });

  test("the same over gRPC", async () => {
    const ask = (request: object) =>
      workspace
        .client(AnalyticsDashboardService)
        .getWidgetPicture({ dashboardId: own, picture: "plans.png", ...request });
    await expect(ask({ dashboardId: unknown })).rejects.toMatchObject({ code: Code.NotFound });
    await expect(ask({ picture: "plans" })).rejects.toMatchObject({ code: Code.InvalidArgument });
    await expect(ask({ tab: 1 })).rejects.toMatchObject({ code: Code.InvalidArgument });
    await expect(ask({ width: 2_000, height: 2_000, scale: 3 })).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
  });
});
