import type pg from "pg";
import { uuidFromTime } from "../../lib/ids.ts";
import { counts } from "../reference/counted-visits-queries.ts";
import type { Coded, VisitColumns } from "./columns.ts";
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
import { growingIds, growingNumbers, growingTexts, numbersOf } from "./growing-columns.ts";
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
const visitsMax = 65_536;

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
const field = { id: 0, at: 1, link: 2, visitor: 3, device: 4, flags: 5, score: 6, kind: 7 };

/** What the flags of an event say. The first two are what it tells of its way. */
const flag = { entry: 1, redirect: 2, completed: 4, returning: 8 };

/** The visits themselves, in the order of their ids, with what the event tells of its way. */
function eventsOf({ workspaceId, from, to }: Span, limit: number): string {
  return `select e.id, e.created_at, e.link_id, v.number, d.number,
      ((e.entry_step_id is not null)::int * ${flag.entry}
        + (e.exit_tracking is not null and e.outcome <> 'FALLBACK')::int * ${flag.redirect}
        + (e.outcome = 'COMPLETED')::int * ${flag.completed}
        + (e.visit_type = 'RETURNING')::int * ${flag.returning})::smallint, e.lead_score,
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
  /** The id of an event, as `idAt` gives it. */
  idOf(row: number): string;
  atMs(row: number): number;
  /** What the event tells of its way: 1 for its entry, 2 for its redirect. */
  told(row: number): number;
  columns(): Omit<VisitColumns, "ways">;
}

async function readEvents(client: Client, span: Span, limit: number): Promise<ReadEvents> {
  const beginMs = span.from.getTime();
  const ids = growingIds();
  const times = growingNumbers();
  const visitors = growingNumbers();
  const devices = growingNumbers();
  const scores = growingNumbers();
  const flags = growingNumbers();
  const links = growingTexts();
  const ofDevices = deviceColumns();
  let read = 0;
  await copyOut(client, eventsOf(span, limit), (row) => {
    read += 1;
    ids.add(row.bytes, row.starts[field.id] ?? 0);
    times.add(millisecondsAt(row, field.at) - beginMs);
    links.add(idAt(row, field.link));
    visitors.add(bigintAt(row, field.visitor));
    flags.add(smallAt(row, field.flags));
    scores.add(smallAt(row, field.score, 255));
    const device = bigintAt(row, field.device);
    devices.add(device);
    ofDevices.add(device, row);
  });
  const isCut = read > limit;
  const cutMs = isCut ? beginMs + times.at(read - 1) : span.to.getTime();
  let rows = read;
  while (isCut && rows > 0 && beginMs + times.at(rows - 1) >= cutMs) rows -= 1;
  return {
    rows,
    cutMs,
    idOf: ids.at,
    atMs: (row) => beginMs + times.at(row),
    told: (row) => flags.at(row) & (flag.entry | flag.redirect),
    columns() {
      const ofLinks = links.first(rows);
      const own = flags.first(rows);
      return {
        times: Uint32Array.from(times.first(rows)),
        links: { ...ofLinks, values: ofLinks.values.map(uuidOf) },
        visitors: numbersOf(visitors.first(rows)),
        devices: numbersOf(devices.first(rows)),
        visitType: visitTypesOf(own),
        ...ofDevices.first(rows),
        completed: Uint8Array.from(own, (flags) => (flags & flag.completed ? 1 : 0)),
        scores: Uint8Array.from(scores.first(rows)),
      };
    },
  };
}

function visitTypesOf(flags: Float64Array): Coded {
  const texts = growingTexts();
  return texts.column(flags.map((own) => texts.codeOf(own & flag.returning ? "RETURNING" : "FIRST")));
}

/** What the devices of visits are. A device never changes, so its texts are read once. */
function deviceColumns() {
  const own = Array.from({ length: 5 }, growingTexts);
  const places = new Map<number, number>();
  const codes = own.map(() => growingNumbers());
  const ofRows = growingNumbers();
  return {
    add(device: number, row: CopiedRow) {
      let place = places.get(device);
      if (place === undefined) {
        place = places.size;
        places.set(device, place);
        for (const [index, texts] of own.entries())
          codes[index]?.add(texts.codeOf(textAt(row, field.kind + index)));
      }
      ofRows.add(place);
    },
    first(rows: number) {
      const column = (index: number): Coded => {
        const ofDevices = codes[index]?.first(places.size) ?? new Float64Array();
        return own[index]?.column(ofRows.first(rows).map((place) => ofDevices[place] ?? 0)) ?? noTexts;
      };
      return {
        deviceType: column(0),
        country: column(1),
        city: column(2),
        browser: column(3),
        platform: column(4),
      };
    },
  };
}

const noTexts: Coded = { values: [], codes: new Uint8Array() };
