import { sql } from "kysely";
import { plainArray, textArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";
import type { RecordedReport } from "../spool/report-record.ts";

/**
 * How long a report waits for its visit, in milliseconds. The visit of a report is stored before it, or lies in the spool
 * of another process. Without it, the device only lacks what it might have told.
 */
const waitMs = 10 * 60_000;

export interface WrittenReports {
  readonly written: number;
  readonly dropped: number;
  /** The reports whose visit is not stored yet. */
  readonly early: readonly RecordedReport[];
}

/** Writes what pages have told to the devices of their visits. Of two reports about one device, the later one stays. */
export async function writeReports(
  db: Db,
  reports: readonly RecordedReport[],
  now: Date,
): Promise<WrittenReports> {
  const plain = (read: (report: RecordedReport) => string | number) => plainArray(reports.map(read));
  const { rows } = await sql<{ place: string }>`
    with given as (
      select e.workspace_id, e.id as event_id, e.device_id, g.at_ms, g.report
      from unnest(
        ${plain(({ workspaceId }) => workspaceId)}::uuid[],
        ${plain(({ eventId }) => eventId)}::uuid[],
        ${plain(({ atMs }) => atMs)}::float8[],
        ${textArray(reports.map(({ report }) => JSON.stringify(report)))}::jsonb[])
        as g (workspace_id, event_id, at_ms, report)
      join events e on e.workspace_id = g.workspace_id and e.id = g.event_id),
    last as (
      select distinct on (workspace_id, device_id) * from given order by workspace_id, device_id, at_ms desc, event_id),
    -- All writers lock devices in the order of their keys.
    locked as materialized (
      select d.workspace_id, d.id from devices d join last l on l.workspace_id = d.workspace_id and l.device_id = d.id
      order by d.workspace_id, d.id for no key update of d),
    told as (
      update devices d set
        screen_width = (l.report ->> 'screenWidth')::float8, screen_height = (l.report ->> 'screenHeight')::float8,
        screen_ratio = (l.report ->> 'screenRatio')::float8, touch_screen = (l.report ->> 'touchScreen')::boolean,
        gpu = l.report ->> 'gpu', device_memory = (l.report ->> 'deviceMemory')::float8,
        device_concurrency = (l.report ->> 'deviceConcurrency')::integer,
        network_connection = l.report ->> 'networkConnection',
        network_bandwidth = (l.report ->> 'networkBandwidth')::float8,
        network_rtt = (l.report ->> 'networkRtt')::float8,
        updated_at = greatest(d.updated_at, to_timestamp(l.at_ms / 1000))
      from locked, last l
      where d.workspace_id = locked.workspace_id and d.id = locked.id
        and l.workspace_id = d.workspace_id and l.device_id = d.id)
    select workspace_id || '/' || event_id as place from given`.execute(db);
  const found = new Set(rows.map(({ place }) => place));
  const lost = reports.filter(({ workspaceId, eventId }) => !found.has(`${workspaceId}/${eventId}`));
  const early = lost.filter(({ atMs }) => now.getTime() - atMs < waitMs);
  return { written: reports.length - lost.length, dropped: lost.length - early.length, early };
}
