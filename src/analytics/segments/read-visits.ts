import type pg from "pg";
import { uuidFromTime } from "../../lib/ids.ts";
import { counts } from "../reference/counted-visits-queries.ts";
import type { VisitColumns } from "./columns.ts";
import {
  bigintAt,
  type CopiedRow,
  copyOut,
  idAt,
  millisecondsAt,
  smallAt,
  textAt,
  uuidOf,
} from "./copy-out.ts";
import { growingNumbers, growingTexts, numbersOf } from "./growing-columns.ts";
import { readWays } from "./read-ways.ts";

/** A connection, whose transaction sees one moment. */
export type Client = Pick<pg.ClientBase, "query">;

/** Visits of a workspace from a moment to another, which is exclusive. At most 49 days lie between them. */
export interface Span {
  readonly workspaceId: string;
  readonly from: Date;
  readonly to: Date;
}

/** Counted visits, and the moment to which all of the span were read. */
export interface ReadVisits {
  readonly columns: VisitColumns;
  readonly visits: number;
  readonly to: Date;
}

/** How many visits are read at a time, and so how many a segment has. */
export const visitsMax = 65_536;

/** How long the distinct ways of visits are together, in characters. With longer ones, fewer visits are read. */
const waysLengthMax = 8 * 1024 * 1024;

/**
 * Reads the counted visits of a span, or of a shorter one from the same moment on if there are too many. The client must
 * be in a transaction that sees one moment, because visits and traces are two statements.
 */
export async function readVisits(client: Client, span: Span, limit = visitsMax): Promise<ReadVisits> {
  const read = await readEvents(client, span, limit);
  const { cutMs } = read;
  // Visits of one millisecond stay together, however many they are.
  if (read.rows === 0 && cutMs < span.to.getTime()) {
    const to = new Date(cutMs + 1);
    return readVisits(client, { ...span, to }, Number.POSITIVE_INFINITY);
  }
  const to = new Date(cutMs);
  const ways = await readWays(client, { ...span, to }, read);
  if (ways.length() > waysLengthMax && read.rows > 1)
    return readVisits(client, span, Math.floor(read.rows / 2));
  return { columns: { ...read.columns(), ways: ways.first(read.rows) }, visits: read.rows, to };
}

/** Where the fields are that `eventsOf` selects. */
const field = {
  id: 0,
  at: 1,
  link: 2,
  visitor: 3,
  device: 4,
  visitType: 5,
  completed: 6,
  score: 7,
  told: 8,
  kind: 9,
};

/** The visits themselves, in the order of their ids, with what the event tells of its way. */
function eventsOf({ workspaceId, from, to }: Span, limit: number): string {
  return `select e.id, e.created_at, e.link_id, v.number, d.number, e.visit_type, e.outcome = 'COMPLETED', e.lead_score,
      (case when e.entry_step_id is null then 0 else 1 end
        + case when e.exit_tracking is null or e.outcome = 'FALLBACK' then 0 else 2 end)::smallint,
      coalesce(d.device_type, 'UNKNOWN'), d.country, d.city, d.browser_name, d.platform_name
    from events e left join devices d on d.workspace_id = e.workspace_id and d.id = e.device_id
      left join visitors v on v.workspace_id = e.workspace_id and v.id = e.visitor_id
    where ${counts} and e.workspace_id = '${workspaceId}'
      and e.created_at >= '${from.toISOString()}' and e.created_at < '${to.toISOString()}'
      and e.id >= '${uuidFromTime(from)}' and e.id < '${uuidFromTime(to)}'
    order by e.id ${limit === Number.POSITIVE_INFINITY ? "" : `limit ${limit + 1}`}`;
}

/** Events as they are read, before their ways are known. */
export interface ReadEvents {
  /** How many visits lie before `cutMs`, the millisecond to which all visits were read. */
  readonly rows: number;
  readonly cutMs: number;
  /** The ids of the events, as `idAt` gives them, and when they were made, in milliseconds. */
  readonly ids: readonly string[];
  atMs(row: number): number;
  /** What the event tells of its way: 1 for its entry, 2 for its redirect. */
  told(row: number): number;
  columns(): Omit<VisitColumns, "ways">;
}

async function readEvents(client: Client, span: Span, limit: number): Promise<ReadEvents> {
  const beginMs = span.from.getTime();
  const ids: string[] = [];
  const times = growingNumbers();
  const visitors = growingNumbers();
  const devices = growingNumbers();
  const completed = growingNumbers();
  const scores = growingNumbers();
  const told = growingNumbers();
  const links = growingTexts();
  const visitType = growingTexts();
  const ofDevices = deviceColumns();
  await copyOut(client, eventsOf(span, limit), (row) => {
    ids.push(idAt(row, field.id));
    times.add(millisecondsAt(row, field.at) - beginMs);
    links.add(idAt(row, field.link));
    visitors.add(bigintAt(row, field.visitor));
    visitType.add(textAt(row, field.visitType));
    completed.add(smallAt(row, field.completed));
    scores.add(smallAt(row, field.score, 255));
    told.add(smallAt(row, field.told));
    devices.add(bigintAt(row, field.device));
    ofDevices.add(bigintAt(row, field.device), row);
  });
  const isCut = ids.length > limit;
  const cutMs = isCut ? beginMs + times.at(ids.length - 1) : span.to.getTime();
  let rows = ids.length;
  while (isCut && rows > 0 && beginMs + times.at(rows - 1) >= cutMs) rows -= 1;
  return {
    rows,
    cutMs,
    ids,
    atMs: (row) => beginMs + times.at(row),
    told: told.at,
    columns() {
      const ofLinks = links.first(rows);
      return {
        times: Uint32Array.from(times.first(rows)),
        links: { ...ofLinks, values: ofLinks.values.map(uuidOf) },
        visitors: numbersOf(visitors.first(rows)),
        devices: numbersOf(devices.first(rows)),
        visitType: visitType.first(rows),
        ...ofDevices.first(rows),
        completed: Uint8Array.from(completed.first(rows)),
        scores: Uint8Array.from(scores.first(rows)),
      };
    },
  };
}

/** What the devices of visits are. A device never changes, so its texts are read once. */
function deviceColumns() {
  const own = {
    deviceType: growingTexts(),
    country: growingTexts(),
    city: growingTexts(),
    browser: growingTexts(),
    platform: growingTexts(),
  };
  const all = Object.values(own);
  const known = new Map<number, readonly number[]>();
  return {
    add(device: number, row: CopiedRow) {
      let codes = known.get(device);
      if (codes === undefined) {
        codes = all.map((texts, index) => texts.codeOf(textAt(row, field.kind + index)));
        known.set(device, codes);
      }
      for (let index = 0; index < all.length; index++) all[index]?.addCode(codes[index] ?? 0);
    },
    first(rows: number) {
      return {
        deviceType: own.deviceType.first(rows),
        country: own.country.first(rows),
        city: own.city.first(rows),
        browser: own.browser.first(rows),
        platform: own.platform.first(rows),
      };
    },
  };
}
