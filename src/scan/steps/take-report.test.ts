import { afterAll, expect, test } from "vitest";
import { insertWorkflow, type StepSeed } from "../../../test/support/insert-workflow.ts";
import {
  type Answer,
  type LinkOptions,
  startTestScan,
  type TestLink,
} from "../../../test/support/start-scan.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { readReport } from "../device/device-report.ts";

const database = await testDatabase();
const { db } = database;
const { ask, drained, scan } = await startTestScan(database, {}, afterAll);

const chrome =
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0.0.0 Mobile Safari/537.36";
const pageFlow: Record<string, StepSeed> = {
  entry: { action: "LINK_VISIT", next: { next: "page" } },
  page: {
    action: "MESSAGE_PAGE",
    payload: { title: "Welcome", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON", description: "" },
    next: { next: "done" },
  },
  done: { action: "CLIENT_REDIRECT", payload: { destination: "https://example.com/" } },
};
const told = {
  screenWidth: 412,
  screenHeight: 915,
  screenRatio: 2.625,
  touchScreen: true,
  gpu: "Mali-G78",
  deviceMemory: 8,
  deviceConcurrency: 8,
  networkConnection: "4g",
  networkBandwidth: 1.45,
  networkRtt: 100,
};

interface Opened {
  readonly link: TestLink;
  readonly page: Answer;
  readonly cookie: string;
  /** Where the page reports; empty for a page that does not. */
  readonly to: string;
}

let visitors = 0;

/** Opens the page of a new link as a new visitor. */
async function open(options: LinkOptions = {}, headers: Record<string, string> = {}): Promise<Opened> {
  const link = await insertWorkflow(db, pageFlow, options);
  visitors += 1;
  const page = await ask(`/${link.shortlink}`, {
    headers: { "user-agent": chrome, "accept-language": `en, x-v${visitors}`, ...headers },
  });
  const cookie = /svc_did=[^;]+/.exec(page.rawHeaders.join("\n"))?.[0] ?? "";
  const to = /data-to="([^"]+)"/.exec(page.body)?.[1]?.replaceAll("&amp;", "&") ?? "";
  return { link, page, cookie, to };
}

interface Report {
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Record<string, string>;
  readonly address?: string;
}

function report(
  to: string,
  cookie: string,
  { body = told, text, headers, address }: Report = {},
): Promise<Answer> {
  return ask(to, {
    method: "POST",
    body: text ?? JSON.stringify(body),
    ...(address !== undefined && { address }),
    headers: {
      "content-type": "application/json",
      origin: "https://go.example",
      "user-agent": chrome,
      ...(cookie !== "" && { cookie }),
      ...headers,
    },
  });
}

/** What is stored of the devices of a link's workspace. */
async function devicesOf({ workspaceId }: TestLink) {
  await drained();
  const rows = await db.selectFrom("devices").selectAll().where("workspace_id", "=", workspaceId).execute();
  return rows.map((row) => ({
    screenWidth: row.screen_width,
    screenHeight: row.screen_height,
    screenRatio: row.screen_ratio,
    touchScreen: row.touch_screen,
    gpu: row.gpu,
    deviceMemory: row.device_memory,
    deviceConcurrency: row.device_concurrency,
    networkConnection: row.network_connection,
    networkBandwidth: row.network_bandwidth,
    networkRtt: row.network_rtt,
  }));
}

const nothingTold = Object.fromEntries(Object.keys(told).map((name) => [name, null]));

test("the first page of a visit reports its device once, by a script of its own host and no other", async () => {
  const { link, page, cookie, to } = await open();
  const policy = page.headers["content-security-policy"] ?? "";
  expect(policy).toMatch(/script-src 'self'; connect-src 'self'/);
  expect(policy).not.toContain("unsafe");
  const [, src = ""] = /<script defer src="([^"]+)"/.exec(page.body) ?? [];
  const script = await ask(src);
  expect(script).toMatchObject({
    status: 200,
    headers: {
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
    },
  });
  expect((await report(to, cookie)).status).toBe(204);
  expect((await report(to, cookie, { body: { screenWidth: 1 } })).status).toBe(204);
  expect(await devicesOf(link)).toEqual([told]);
});

test("HEAD answers the headers of a page that reports, with its length", async () => {
  const link = await insertWorkflow(db, pageFlow);
  const lengths = [];
  for (const method of ["HEAD", "GET"])
    lengths.push(
      (await ask(`/${link.shortlink}`, { method, headers: { "user-agent": chrome } })).headers[
        "content-length"
      ],
    );
  expect(lengths[0]).toBe(lengths[1]);
});

test.each([
  ["BASIC", {}],
  ["NONE", {}],
  ["ADVANCED", { dnt: "1" }],
  ["ADVANCED", { "sec-gpc": "1" }],
] as const)(
  "at level %s with the headers %j no page has a script, and no report is taken",
  async (level, headers) => {
    const { link, page, cookie } = await open({ dataCollection: level }, headers);
    expect(page.status).toBe(200);
    expect(page.body).not.toContain("<script");
    expect(page.headers["content-security-policy"]).not.toContain("script-src");
    const query = /action="[^"]+\?([^"]+)"/.exec(page.body)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const { status } = await report(`/_p/device?${query}&link=${link.shortlink}`, cookie, { headers });
    expect(status).toBe(403);
    expect(await devicesOf(link)).toEqual([nothingTold]);
  },
);

test("a report that is forged, of another browser, another visit or another tenant is refused, and nothing is written", async () => {
  const own = await open();
  const other = await open();
  const [ownQuery, otherQuery] = [own, other].map(({ to }) => new URLSearchParams(to.split("?")[1]));
  const changed = (name: string, value: string) => {
    const query = new URLSearchParams(ownQuery);
    query.set(name, value);
    return `/_p/device?${query}`;
  };
  const forged: readonly (readonly [number, string, string, Report?])[] = [
    [403, own.to, ""],
    [403, own.to, other.cookie],
    [403, own.to, own.cookie, { headers: { origin: "https://evil.example" } }],
    [403, own.to, own.cookie, { headers: { origin: "null" } }],
    [403, changed("lbid", otherQuery?.get("lbid") ?? ""), own.cookie],
    [403, changed("visit", otherQuery?.get("visit") ?? ""), own.cookie],
    [403, changed("visit", "AQ".repeat(80)), own.cookie],
    [403, changed("visit", ""), own.cookie],
    [403, changed("link", other.link.shortlink), own.cookie],
    [404, changed("link", "nobody-made-this"), own.cookie],
    [400, changed("link", "a/b"), own.cookie],
    [400, changed("lbid", "x"), own.cookie],
    [400, "/_p/device", own.cookie],
    [400, own.to, own.cookie, { text: "{" }],
    [400, own.to, own.cookie, { body: [told] }],
    [400, own.to, own.cookie, { body: null }],
    [413, own.to, own.cookie, { body: { ...told, gpu: "x".repeat(3_000) } }],
    [415, own.to, own.cookie, { headers: { "content-type": "text/plain" } }],
  ];
  for (const [status, to, cookie, how] of forged)
    expect((await report(to, cookie, how)).status, to).toBe(status);
  const read = await ask(own.to);
  expect([read.status, read.headers.allow]).toEqual([405, "POST"]);
  expect(await devicesOf(own.link)).toEqual([nothingTold]);
  expect(await devicesOf(other.link)).toEqual([nothingTold]);
  // The refused ones have not used up the visit's report.
  expect((await report(own.to, own.cookie)).status).toBe(204);
  expect(await devicesOf(own.link)).toEqual([told]);
});

test("what no device can be is left out, and texts are cut", async () => {
  const { link, to, cookie } = await open();
  const body = {
    screenWidth: -1,
    screenHeight: 1e9,
    screenRatio: "2",
    touchScreen: 1,
    gpu: `a\u0000b\ud800${"c".repeat(500)}`,
    deviceMemory: null,
    deviceConcurrency: 2.5,
    networkConnection: "<script>",
    networkBandwidth: { a: 1 },
    networkRtt: 50,
    more: "x",
  };
  expect((await report(to, cookie, { body })).status).toBe(204);
  expect(await devicesOf(link)).toEqual([
    { ...nothingTold, gpu: `a b\ufffd${"c".repeat(196)}`, networkRtt: 50 },
  ]);
});

test("a text that is cut within a character stays a text", () => {
  const { gpu = "" } = readReport({ gpu: `${"c".repeat(199)}\u{1f600}` }) ?? {};
  expect(gpu).toBe(`${"c".repeat(199)}\ufffd`);
});

test("of a sandbox's link, the answers to reports are marked like its pages", async () => {
  const { to, cookie } = await open({ environment: "test" });
  for (const [status, body] of [
    [400, []],
    [204, told],
  ] as const)
    expect(await report(to, cookie, { body })).toMatchObject({
      status,
      headers: { "x-service-sandbox": "true", "x-robots-tag": "noindex" },
    });
});

test("a flood from one address is refused, whatever it sends, and costs one record for each visit", async () => {
  const { link, to, cookie } = await open();
  await devicesOf(link);
  const { drained: before } = scan.drain.counts;
  const statuses = new Set<number>();
  for (let sent = 0; sent < 300; sent++)
    statuses.add(
      (await report(to, cookie, { body: { ...told, networkRtt: sent + 1 }, address: "198.51.100.1" })).status,
    );
  expect(statuses).toEqual(new Set([204, 429]));
  expect(await devicesOf(link)).toEqual([{ ...told, networkRtt: 1 }]);
  expect(scan.drain.counts.drained - before).toBe(1);
});
