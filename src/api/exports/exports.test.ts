import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { Code } from "@connectrpc/connect";
import { parse } from "csv-parse/sync";
import { parquetReadObjects } from "hyparquet";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { ExportFormat } from "../../../gen/signpost/v1/export_pb.js";
import { ExportsService } from "../../../gen/signpost/v1/exports_service_pb.js";
import { JobStatus } from "../../../gen/signpost/v1/job_pb.js";
import { addEvents } from "../../../test/support/exported-events.ts";
import { type Reply, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { deleteExpiredExports } from "../../jobs/exports/delete-exports.ts";
import { exportEventsJob } from "../../jobs/exports/export-events.ts";
import { createExportMetrics } from "../../jobs/exports/metrics.ts";
import { startJobs } from "../../jobs/runner.ts";
import { newId } from "../../lib/ids.ts";
import type { Storage } from "../../lib/storage/storage.ts";

const api = await startApi();
const { db, clock, storage, database } = api;
const folder = await mkdtemp(join(tmpdir(), "signpost-exports-"));
const metrics = new Registry();
/** Called when a file is written and not yet stored. */
let onWritten = async (): Promise<void> => {};
const gatedStorage: Storage = {
  ...storage,
  async putFile(...file) {
    await onWritten();
    return storage.putFile(...file);
  },
};
const log = pino({ level: "silent" });
const jobs = startJobs({
  connection: database.connection,
  tasks: {
    "export-events": exportEventsJob({
      db,
      storage: gatedStorage,
      now: clock.now,
      log,
      countExport: createExportMetrics(metrics),
      connection: database.connection,
      folder,
      portionRows: 64,
      restartMs: 50,
      bytesMax: 200_000,
    }),
    "delete-exports": ({ workspaceId }: { workspaceId: string }) =>
      deleteExpiredExports(db, storage, { at: clock.now(), workspaceId }),
  },
  concurrency: 1,
  stopTimeoutMs: 1_000,
  log,
});
afterAll(async () => {
  await jobs.stop();
  await rm(folder, { recursive: true });
});

let workspace: Pick<TestWorkspace, "workspaceId" | "rest" | "client">;
let workspaceId: string;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  workspaceId = workspace.workspaceId;
});

/** Yesterday, at a full second. */
const from = new Date(Math.floor(Date.now() / 1_000) * 1_000 - 86_400_000);
const create = (body: object) => workspace.rest("POST", "/v1/exports", body);

/** Waits until an export is finished. */
function finished(id: string): Promise<Reply["json"]> {
  return vi.waitFor(
    async () => {
      const { json } = await workspace.rest("GET", `/v1/exports/${id}`);
      expect(json.completedAt).toBeDefined();
      return json;
    },
    { timeout: 20_000, interval: 20 },
  );
}

const pathOf = (address: string) => address.slice("http://api.test".length);

/** Fetches a file without a token. */
async function fetched(address: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`http://127.0.0.1:${api.port}${pathOf(address)}`, { headers });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

async function exported(body: object): Promise<{ readonly json: Reply["json"]; readonly bytes: Buffer }> {
  const made = await create(body);
  expect(made.status, made.text).toBe(202);
  const json = await finished(made.json.id);
  expect(json.status, JSON.stringify(json)).toBe("JOB_STATUS_SUCCEEDED");
  const { bytes } = await fetched(json.downloadUrl);
  expect(json).toMatchObject({
    size: String(bytes.length),
    sha256: createHash("sha256").update(bytes).digest("hex"),
  });
  return { json, bytes };
}

/** All events of the list, oldest first, as the rows of its CSV. */
async function listed(filter = ""): Promise<{ readonly columns: string[]; readonly rows: string[][] }> {
  let [columns, rows, token] = [[] as string[], [] as string[][], ""];
  do {
    const path = `/v1/events?responseFormat=RESPONSE_FORMAT_CSV&include=journey&include=device&pageToken=${token}${filter}`;
    const { csv } = (await workspace.rest("GET", path)).json;
    const [header = [], ...page]: string[][] = parse(csv.csvData);
    columns = header;
    rows = [...rows, ...page];
    token = csv.nextPageToken ?? "";
  } while (token !== "");
  return { columns, rows: rows.reverse() };
}

test("an export as CSV has every event of the list once, oldest first, with the same cells", async () => {
  await addEvents(api, { workspaceId, count: 200, from });
  const { json, bytes } = await exported({ format: "EXPORT_FORMAT_CSV" });
  const [columns, ...rows]: string[][] = parse(gunzipSync(bytes));
  const list = await listed();
  expect(columns).toEqual(list.columns);
  expect(rows).toEqual(list.rows);
  expect(json.rowCount).toBe("200");
});

test("an export as NDJSON has the events of the list as JSON", async () => {
  await addEvents(api, { workspaceId, count: 70, from });
  const { bytes } = await exported({ format: "EXPORT_FORMAT_NDJSON" });
  const lines = gunzipSync(bytes).toString().trimEnd().split("\n");
  const { json } = await workspace.rest("GET", "/v1/events?include=journey&include=device");
  const events: Record<string, unknown>[] = json.json.events.reverse();
  expect(lines.map((line) => JSON.parse(line))).toEqual(events.map(({ traces: _, ...event }) => event));
});

test("an export as Parquet has the values of the list in columns of their own types", async () => {
  await addEvents(api, { workspaceId, count: 150, from });
  const { bytes } = await exported({ format: "EXPORT_FORMAT_PARQUET" });
  const file = new Uint8Array(bytes).buffer;
  const compressors = { ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)) };
  const rows = await parquetReadObjects({ file, compressors });
  const text = (value: unknown) =>
    value instanceof Date ? value.toISOString().replace(".000Z", "Z") : String(value);
  const list = await listed();
  expect(rows.length).toBe(150);
  for (const [index, row] of rows.entries()) {
    const cells = list.columns.map((name) => text(row[name]));
    // A `'` disarms cells of the CSV, and a device that is gone has no cells.
    const expected = list.rows[index]?.map((cell) => cell.replaceAll("'", ""));
    expect(cells.map((cell, place) => (expected?.[place] === "" ? "" : cell))).toEqual(expected);
  }
  expect(rows[0]).toMatchObject({ scannedAt: from, "journey.stepsReached": 1n, counted: false });
});

test("an export has only the link, the days and the visits that the list shows", async () => {
  const { json } = await workspace.rest("POST", "/v1/links", { destination: "https://example.com" });
  const linkId = json.link.id;
  await addEvents(api, { workspaceId, count: 30, from, linkId });
  await addEvents(api, { workspaceId, count: 30, from });
  await addEvents(api, { workspaceId: (await api.newWorkspace()).workspaceId, count: 30, from, linkId });
  const locked = await db
    .selectFrom("events")
    .select("id")
    .where("link_id", "=", linkId)
    .orderBy("id")
    .execute();
  await db
    .updateTable("events")
    .set({ locked_number: 1, locked_cycle: "x" })
    .where("id", "=", locked[12]?.id ?? "")
    .execute();
  const [startDate, endDate] = [5_000, 20_000].map((ms) => new Date(from.getTime() + ms).toISOString());
  const { bytes } = await exported({ format: "EXPORT_FORMAT_CSV", linkId, startDate, endDate });
  const list = await listed(`&linkId=${linkId}&startDate=${startDate}&endDate=${endDate}`);
  expect(parse(gunzipSync(bytes)).slice(1)).toEqual(list.rows);
  expect(list.rows.length).toBeGreaterThan(10);
});

test("the answers of an unfinished export say when to ask again, and where; ended exports are counted", async () => {
  const before = await metrics.metrics();
  await addEvents(api, { workspaceId, count: 3, from });
  const made = await create({ format: "EXPORT_FORMAT_NDJSON" });
  expect(made.headers).toMatchObject({ "retry-after": "2", location: made.json.statusUrl });
  await finished(made.json.id);
  const { headers } = await workspace.rest("GET", made.json.statusUrl);
  expect([headers["retry-after"], headers.location]).toEqual([undefined, undefined]);
  const after = await metrics.metrics();
  const more = (name: string) => figureOf(after, name) - figureOf(before, name);
  expect(more('signpost_exports_total{outcome="succeeded"}')).toBe(1);
  expect(more("signpost_exported_events_total")).toBe(3);
});

function figureOf(text: string, name: string): number {
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length) ?? 0);
}

test("an export without an event is a whole file of its format", async () => {
  const { bytes } = await exported({ format: "EXPORT_FORMAT_CSV" });
  expect(parse(gunzipSync(bytes))).toHaveLength(1);
  expect(gunzipSync((await exported({ format: "EXPORT_FORMAT_NDJSON" })).bytes)).toHaveLength(0);
  const { bytes: file } = await exported({ format: "EXPORT_FORMAT_PARQUET" });
  expect(await parquetReadObjects({ file: new Uint8Array(file).buffer })).toEqual([]);
});

test("every earlier event is in an export once while visits arrive and visitors are merged", async () => {
  await addEvents(api, { workspaceId, count: 1_000, from });
  const before = await db.selectFrom("events").select("id").where("workspace_id", "=", workspaceId).execute();
  let isOver = false;
  const busy = (async () => {
    for (let round = 0; !isOver; round++) {
      await addEvents(api, { workspaceId, count: 2, from: new Date(from.getTime() + round) });
      const visitor_id = newId(from);
      await db.updateTable("events").set({ visitor_id }).where("workspace_id", "=", workspaceId).execute();
    }
  })();
  const { bytes } = await exported({ format: "EXPORT_FORMAT_CSV" });
  isOver = true;
  await busy;
  const ids = parse(gunzipSync(bytes))
    .slice(1)
    .map(([id]: string[]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(ids)).toEqual(new Set([...ids, ...before.map(({ id }) => id)]));
});

test("an address works without a token, in parts, until it expires, and not when it is forged", async () => {
  await addEvents(api, { workspaceId, count: 20, from });
  const { json, bytes } = await exported({ format: "EXPORT_FORMAT_CSV" });
  const whole = await fetched(json.downloadUrl);
  expect(whole.headers.get("content-disposition")).toMatch(
    /^attachment; filename="events_[0-9_-]+\.csv\.gz"$/,
  );
  expect(whole.headers.get("content-type")).toBe("application/gzip");
  const part = await fetched(json.downloadUrl, { range: "bytes=10-29" });
  expect([part.status, part.bytes]).toEqual([206, bytes.subarray(10, 30)]);
  expect((await fetched(json.downloadUrl, { range: "bytes=-5" })).bytes).toEqual(bytes.subarray(-5));
  expect((await fetched(json.downloadUrl, { range: `bytes=${bytes.length}-` })).status).toBe(416);
  expect((await fetched(json.downloadUrl, { range: "bytes=5-9", "if-range": '"other"' })).status).toBe(200);
  expect(
    (await fetched(json.downloadUrl.replace(/.$/, (last: string) => (last === "A" ? "B" : "A")))).status,
  ).toBe(403);
  expect((await fetched(json.downloadUrl.replace(/\?.*/, ""))).status).toBe(403);
  expect((await fetched(json.downloadUrl.replace(".csv.gz", ".parquet"))).status).toBe(403);
  clock.advance(3_601_000);
  expect((await fetched(json.downloadUrl)).status).toBe(403);
});

test("an export is gone with its file once it is deleted or seven days old", async () => {
  const { json: one } = await exported({ format: "EXPORT_FORMAT_CSV" });
  const { json: other } = await exported({ format: "EXPORT_FORMAT_NDJSON" });
  expect((await workspace.rest("DELETE", `/v1/exports/${one.id}`)).status).toBe(200);
  expect((await workspace.rest("GET", `/v1/exports/${one.id}`)).status).toBe(404);
  expect((await workspace.rest("DELETE", `/v1/exports/${one.id}`)).status).toBe(404);
  await vi.waitFor(async () => expect((await fetched(one.downloadUrl)).status).toBe(404), {
    timeout: 10_000,
  });
  clock.advance(Date.parse(other.expiresAt) - clock.now().getTime());
  const client = workspace.client(ExportsService);
  await expect(client.get({ id: other.id })).rejects.toMatchObject({ code: Code.NotFound });
  expect((await client.list({})).exports).toEqual([]);
  await deleteExpiredExports(db, storage, { at: clock.now() });
  const files = await db.selectFrom("exports").select("id").where("workspace_id", "=", workspaceId).execute();
  expect(files).toEqual([]);
  expect(
    await storage.sizeOf(pathOf(other.downloadUrl).replace("/_p/files/", "").replace(/\?.*/, "")),
  ).toBeUndefined();
});

test("deleting a visitor deletes the files of earlier exports", async () => {
  const { json } = await workspace.rest("POST", "/v1/visitor/identify", {
    visitor: { $email: "a@example.com" },
  });
  await addEvents(api, { workspaceId, count: 5, from, visitorId: json.visitor.id });
  const { json: made } = await exported({ format: "EXPORT_FORMAT_CSV" });
  expect((await workspace.rest("DELETE", `/v1/visitors/${json.visitor.id}`)).status).toBe(200);
  expect((await workspace.rest("GET", `/v1/exports/${made.id}`)).status).toBe(404);
  await vi.waitFor(async () => expect((await fetched(made.downloadUrl)).status).toBe(404), {
    timeout: 10_000,
  });
  const { bytes } = await exported({ format: "EXPORT_FORMAT_CSV" });
  expect(gunzipSync(bytes).toString()).not.toContain(json.visitor.id);
});

test("deleting a visitor in the middle of a run begins the run again, and no file ever offers the visitor", async () => {
  const { json } = await workspace.rest("POST", "/v1/visitor/identify", {
    visitor: { $email: "b@example.com" },
  });
  const visitorId: string = json.visitor.id;
  await addEvents(api, { workspaceId, count: 5, from, visitorId });
  let runs = 0;
  onWritten = async () => {
    runs += 1;
    if (runs === 1) expect((await workspace.rest("DELETE", `/v1/visitors/${visitorId}`)).status).toBe(200);
  };
  const { bytes } = await exported({ format: "EXPORT_FORMAT_CSV" });
  onWritten = async () => {};
  expect(runs).toBe(2);
  expect(parse(gunzipSync(bytes))).toHaveLength(6);
  expect(gunzipSync(bytes).toString()).not.toContain(visitorId);
});

test("a sandbox exports its own events, and neither side sees the exports of the other", async () => {
  const sandbox = await api.newSandbox();
  const { parent } = sandbox;
  await addEvents(api, { workspaceId: parent.workspaceId, count: 4, from });
  await addEvents(api, { workspaceId: sandbox.workspaceId, count: 7, from });
  workspace = parent;
  const { json: live } = await exported({ format: "EXPORT_FORMAT_CSV" });
  workspace = sandbox;
  const { json: own, bytes } = await exported({ format: "EXPORT_FORMAT_NDJSON" });
  expect([live.rowCount, own.rowCount]).toEqual(["4", "7"]);
  const lines = gunzipSync(bytes).toString().trimEnd().split("\n");
  for (const line of lines) expect(JSON.parse(line).workspaceId).toBe(sandbox.workspaceId);
  expect((await sandbox.rest("GET", `/v1/exports/${live.id}`)).status).toBe(404);
  expect((await parent.rest("DELETE", `/v1/exports/${own.id}`)).status).toBe(404);
});

test("a file that grows too large is given up, and nothing of it is left", async () => {
  await addEvents(api, { workspaceId, count: 6_000, from });
  const made = await create({ format: "EXPORT_FORMAT_CSV" });
  const json = await finished(made.json.id);
  expect(json).toMatchObject({ status: "JOB_STATUS_FAILED", error: { codeType: "RESOURCE_EXHAUSTED" } });
  expect(json.downloadUrl ?? "").toBe("");
  await vi.waitFor(async () => expect(await readdir(folder)).toEqual([]), { timeout: 10_000 });
});

test("a second export is refused while one is not finished, and the twenty-first at any time", async () => {
  await jobs.stop();
  const client = workspace.client(ExportsService);
  const { export: first } = await client.create({ format: ExportFormat.PARQUET });
  expect(first?.status).toBe(JobStatus.PENDING);
  await expect(client.create({ format: ExportFormat.CSV })).rejects.toMatchObject({
    code: Code.FailedPrecondition,
  });
  expect((await create({ format: "EXPORT_FORMAT_CSV" })).json.error.codeType).toBe("FAILED_PRECONDITION");
  const done = {
    status: "SUCCEEDED",
    completed_at: clock.now(),
    expires_at: new Date(clock.now().getTime() + 1e9),
  } as const;
  const finish = () => db.updateTable("exports").set(done).where("workspace_id", "=", workspaceId).execute();
  for (let more = 1; more < 20; more++) {
    await finish();
    expect((await create({ format: "EXPORT_FORMAT_CSV" })).status).toBe(202);
  }
  await finish();
  expect((await create({ format: "EXPORT_FORMAT_CSV" })).json.error.codeType).toBe("LIMIT_REACHED");
  await expect(client.create({ format: ExportFormat.CSV })).rejects.toMatchObject({
    code: Code.ResourceExhausted,
  });
  const pages = await client.list({ pageSize: 15n });
  const rest = await client.list({ pageSize: 15n, pageToken: pages.nextPageToken });
  expect([pages.exports.length, rest.exports.length]).toEqual([15, 5]);
});

test.each([
  ["no format", {}, 400],
  ["an unknown format", { format: "EXPORT_FORMAT_XML" }, 400],
  [
    "days in the wrong order",
    { format: "EXPORT_FORMAT_CSV", startDate: "2030-02-01T00:00:00Z", endDate: "2030-01-01T00:00:00Z" },
    400,
  ],
  ["a link id that is none", { format: "EXPORT_FORMAT_CSV", linkId: "menu" }, 400],
  ["an unknown link", { format: "EXPORT_FORMAT_CSV", linkId: "00000000-0000-7000-8000-000000000000" }, 404],
])("a request with %s is refused and writes nothing", async (_, body, status) => {
  expect((await create(body)).status).toBe(status);
  const { exports } = (await workspace.rest("GET", "/v1/exports")).json;
  expect(exports).toEqual([]);
});
