import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import type pg from "pg";
import { AnalyticsDataService } from "../../gen/signpost/v1/analytics_data_service_pb.js";
import { TimeSeriesService } from "../../gen/signpost/v1/time_series_service_pb.js";
import { referenceAnalytics } from "../../src/analytics/reference/driver.ts";
import { ensurePartitions } from "../../src/db/migrate.ts";
import { openDatabase } from "../../src/db/open.ts";
import { createSealer } from "../../src/jobs/seal-segments.ts";
import { askDriver } from "../support/analytics/ask-driver.ts";
import { type DuckDb, exportToDuckDb } from "./analytics-duckdb.ts";
import { days, makeVisits, sharesOf } from "./analytics-visits.ts";
import { atMost, atMostTimes, type Finding, median, percentile, told } from "./report.ts";
import {
  databaseOf,
  megabytes,
  processorMs,
  type ServiceProcess,
  startServiceProcess,
} from "./service-process.ts";
import { createLinks, post, visitRequests } from "./visits.ts";
import { wrk } from "./wrk.ts";

const dayMs = 86_400_000;
const workspaces = 50;

/** A call, and the same question to DuckDB, if it is one statement there. */
interface Call {
  readonly path: string;
  readonly method: DescMethodUnary;
  readonly body: JsonObject;
  readonly duckdb?: string;
}

const { method } = AnalyticsDataService;

const calls: readonly Call[] = [
  {
    path: "/v1/analytics/breakdown",
    method: method.getBreakdown,
    body: { dimension: "country" },
    duckdb: "select country, count(*) from chosen group by 1 order by 2 desc",
  },
  { path: "/v1/analytics/geo", method: method.getGeoBreakdown, body: { groupBy: "city" } },
  { path: "/v1/analytics/devices", method: method.getDeviceDistribution, body: {} },
  {
    path: "/v1/analytics/hours",
    method: method.getHourOfDayDistribution,
    body: {},
    duckdb: "select hour(visited_at), count(*) from chosen group by 1",
  },
  {
    path: "/v1/analytics/top-links",
    method: method.getTopLinks,
    body: {},
    duckdb: "select link_id, count(*) from chosen group by 1 order by 2 desc limit 10",
  },
  {
    path: "/v1/analytics/visitors",
    method: method.getVisitorTrends,
    body: { intervalInMinutes: 1_440 },
    duckdb: "select date_trunc('day', visited_at), count(distinct person) from chosen group by 1",
  },
  {
    path: "/v1/analytics/timeseries",
    method: method.getGroupedTimeSeries,
    body: { groupBy: "GROUP_BY_DIMENSION_COUNTRY", intervalInMinutes: 1_440 },
    duckdb: "select date_trunc('day', visited_at), country, count(*) from chosen group by 1, 2",
  },
  { path: "/v1/analytics/funnel", method: method.getStepFunnel, body: {} },
  { path: "/v1/analytics/attributes/metric", method: method.getAttributeMetric, body: { key: "plan" } },
  {
    path: "/v1/timeseries/events",
    method: TimeSeriesService.method.getEventsTimeSeries,
    body: { intervalInMinutes: 1_440 },
  },
  { path: "/v1/analytics:explain", method: method.explainCount, body: {} },
];

interface Run {
  readonly service: ServiceProcess;
  readonly client: pg.Client;
  readonly workspaceId: string;
  readonly until: Date;
  readonly rounds: number;
}

/**
 * Ten million visits of fifty workspaces, the largest of which asks everything, of all its links and of one: each call for the
 * first time and again, over 30 days and over 400, beside the reference driver and DuckDB, while others have a tenth of their visits and
 * all of them, and while 2,000 visits a second arrive.
 */
export async function analyticsRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const service = await startServiceProcess();
  const client = await service.database();
  try {
    const until = new Date(Math.floor(Date.now() / dayMs) * dayMs);
    const { rows } = await client.query<{ id: string }>("select id from workspaces limit 1");
    const workspaceId = rows[0]?.id ?? "";
    const run = { service, client, workspaceId, until, rounds: quick ? 8 : 30 };
    const events = quick ? 1_000_000 : 10_000_000;
    const shares = sharesOf(workspaces).map((share) => Math.round(share * events));
    await makePartitions(service, until);
    await makeVisits(client, { workspaceId, seed: 1, visits: shares[0] ?? 0, until });
    for (const [index, visits] of shares.slice(1).entries())
      await makeOthers(client, index + 2, Math.round(visits / 10), until);
    const sealing = await seal(service, client);
    const among = await warmMs(run, calls[0], 30);
    for (const [index, visits] of shares.slice(1).entries())
      await makeOthers(client, index + 102, Math.round(visits * 0.9), until);
    await seal(service, client);
    await client.query("analyze");
    const all = await warmMs(run, calls[0], 30);
    return [
      ...sealing,
      ...(await sizes(client)),
      atMostTimes("breakdown, all visits of others beside a tenth of them", {
        ours: median(all),
        peer: median(among),
        unit: "ms",
        budget: 1.2,
      }),
      ...(await measureCalls(run)),
      ...(await whileVisited(run)),
      atMost("memory of the service", {
        ours: await megabytes(`/proc/${service.pid}/status`, "VmRSS"),
        unit: "MB",
        budget: 300,
      }),
    ];
  } finally {
    await client.end();
    await service.remove();
  }
}

/** Makes the partitions of all days that have visits. */
export async function makePartitions({ dataDir }: ServiceProcess, until: Date): Promise<void> {
  const { db, close } = openDatabase({
    connection: databaseOf(dataDir),
    poolSize: 1,
    statementTimeoutMs: 60_000,
    onError: () => {},
  });
  for (let ago = days; ago >= 0; ago -= 28)
    await ensurePartitions(db, new Date(until.getTime() - ago * dayMs));
  await close();
}

async function makeOthers(client: pg.Client, seed: number, visits: number, until: Date): Promise<void> {
  const workspaceId = randomUUID();
  await client.query(
    `insert into workspaces (id, name, link_setting_id, created_at, updated_at) values ($1, 'Other', $1, $2, $2)`,
    [workspaceId, until],
  );
  await makeVisits(client, { workspaceId, seed, visits, until });
}

/** Seals all that is due, as the worker does. */
async function seal({ dataDir }: ServiceProcess, client: pg.Client): Promise<Finding[]> {
  const { db, close } = openDatabase({
    connection: databaseOf(dataDir),
    poolSize: 2,
    statementTimeoutMs: 600_000,
    onError: () => {},
  });
  const usedBefore = process.cpuUsage();
  const startedAt = performance.now();
  const sealer = createSealer({ db, connection: databaseOf(dataDir), now: () => new Date() });
  const left = async () => {
    const { rows } = await client.query<{ left: number }>(`select count(*)::int as left from workspaces w
      where not exists (select from segments s where s.workspace_id = w.id and s.ends_at = w.sealed_through)
        and exists (select from events e where e.workspace_id = w.id)`);
    return rows[0]?.left ?? 0;
  };
  do await sealer();
  while ((await left()) > 0);
  const { user, system } = process.cpuUsage(usedBefore);
  const { rows } = await client.query<{ visits: number }>("select sum(visits)::int as visits from segments");
  await close();
  const visits = rows[0]?.visits ?? 0;
  return [
    told("sealing a visit, processor time of the worker", { ours: (user + system) / visits, unit: "µs" }),
    told("  and time that passed", { ours: ((performance.now() - startedAt) * 1_000) / visits, unit: "µs" }),
  ];
}

async function sizes(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ mb: number; visits: number }>(`select
    pg_total_relation_size('segments') / 1048576.0 as mb, sum(visits)::int as visits from segments`);
  const [row] = rows;
  return [
    told("segments", {
      ours: Number(row?.mb),
      peer: `${row?.visits.toLocaleString("en")} visits`,
      unit: "MB",
    }),
  ];
}

function rangeOf({ until }: Run, length: number) {
  return {
    startDate: new Date(until.getTime() - length * dayMs).toISOString(),
    endDate: until.toISOString(),
  };
}

async function timed(ask: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await ask();
  return performance.now() - startedAt;
}

async function warmMs(
  run: Run,
  call: Call | undefined,
  length: number,
  more: object = {},
): Promise<number[]> {
  if (call === undefined) return [];
  const body = { ...rangeOf(run, length), ...call.body, ...more };
  const times: number[] = [];
  await post(run.service, call.path, body);
  for (let round = 0; round < run.rounds; round++)
    times.push(await timed(() => post(run.service, call.path, body)));
  return times;
}

/** An explanation of millions of visits may be refused with DEADLINE_EXCEEDED, after the time that a call may take. */
function ifExplains(explains: boolean): (error: unknown) => void {
  return (error) => {
    if (!explains) throw error;
  };
}

/** The reference gets no more time for a question. */
const referenceMsMax = 20_000;

async function measureCalls(run: Run): Promise<Finding[]> {
  const { service, client, workspaceId } = run;
  const { db, close } = openDatabase({
    connection: databaseOf(service.dataDir),
    poolSize: 4,
    statementTimeoutMs: referenceMsMax,
    onError: () => {},
  });
  const reference = askDriver(
    referenceAnalytics(() => new Date()),
    db,
    () => new Date(),
  );
  const before = await megabytes("/proc/self/status", "VmRSS");
  const duckdb = await exportToDuckDb(client);
  const { rows } = await client.query<{ id: string }>(
    "select id from links where workspace_id = $1 and name = 'Link 3'",
    [workspaceId],
  );
  const findings: Finding[] = [];
  let most = before;
  for (const scope of [{}, { linkId: rows[0]?.id ?? "" }])
    for (const length of [30, 400])
      for (const call of calls) {
        const body = { ...rangeOf(run, length), ...call.body, ...scope };
        const name = `${call.path.replace(/^\/v1\//, "")} ${"linkId" in scope ? "link" : "workspace"} ${length} days`;
        // An explanation reads events, like the reference.
        const explains = call.path.endsWith(":explain");
        const cold = await timed(() => post(service, call.path, body).catch(ifExplains(explains)));
        const times = explains ? [cold] : await warmMs(run, call, length, scope);
        const referenceMs = explains
          ? cold
          : await timed(() => reference(workspaceId, call.method, body as JsonObject)).catch(() => undefined);
        const duckMs = await askDuckDb(duckdb, call, run, body);
        most = Math.max(most, await megabytes("/proc/self/status", "VmRSS"));
        const byReference = referenceMs === undefined ? `over ${referenceMsMax}` : referenceMs.toFixed(0);
        const others = [`reference ${byReference} ms`, duckMs, `first ${cold.toFixed(0)} ms`];
        const p95 = percentile(times, 0.95);
        const peer = `p50 ${median(times).toFixed(1)} ms, ${others.filter((other) => other !== "").join(", ")}`;
        // A run takes half an hour: what it has measured is told at once.
        console.error(`${name} p95 ${p95.toFixed(1)} ms, ${peer}`);
        findings.push(
          explains
            ? told(`${name} p95`, { ours: p95, peer, unit: "ms" })
            : atMost(`${name} p95`, { ours: p95, peer, unit: "ms", budget: length === 30 ? 50 : 200 }),
        );
      }
  findings.push(
    told("DuckDB, Parquet", { ours: duckdb.bytes / 1_048_576, unit: "MB" }),
    told("DuckDB, memory that it takes of this process", { ours: most - before, unit: "MB" }),
  );
  await duckdb.close();
  await close();
  return findings;
}

async function askDuckDb(
  duckdb: DuckDb,
  { duckdb: text }: Call,
  { workspaceId }: Run,
  {
    startDate,
    endDate,
    linkId,
  }: { readonly startDate: string; readonly endDate: string; readonly linkId?: string },
): Promise<string> {
  if (text === undefined) return "";
  const chosen = `with chosen as (select * from visits where workspace_id = '${workspaceId}'
    and visited_at between '${startDate.slice(0, 23)}' and '${endDate.slice(0, 23)}'
    ${linkId === undefined ? "" : `and link_id = '${linkId}'`})`;
  const times: number[] = [];
  for (let round = 0; round < 5; round++) times.push(await duckdb.ask(`${chosen} ${text}`));
  return `DuckDB ${median(times).toFixed(1)} ms`;
}

/** The same while visits arrive, which belong to the workspace that asks. */
async function whileVisited(run: Run): Promise<Finding[]> {
  const { service } = run;
  await createLinks(service);
  const visiting = wrk({
    port: service.port,
    requests: visitRequests(service.port),
    connections: 16,
    seconds: 30,
    perSecond: 2_000,
  });
  await pause(5_000);
  const usedBefore = await processorMs(service.pid);
  const times: number[] = [];
  for (const call of calls.filter(({ path }) => !path.endsWith(":explain")))
    times.push(...(await warmMs({ ...run, until: new Date(), rounds: 5 }, call, 30)));
  const used = (await processorMs(service.pid)) - usedBefore;
  const report = await visiting;
  return [
    atMost("all calls, 30 days, while 2,000 visits a second arrive, p95", {
      ours: percentile(times, 0.95),
      peer: `p50 ${median(times).toFixed(1)} ms, ${(report.requests / report.seconds).toFixed(0)} visits a second`,
      unit: "ms",
      budget: 50,
    }),
    told("  processor time of the service meanwhile", { ours: used, unit: "ms" }),
  ];
}
