import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { EventsService, ListEventsRequest } from "../../../gen/signpost/v1/events_service_pb.js";
import { ResponseFormat } from "../../../gen/signpost/v1/response_format_pb.js";
import type { Db } from "../../db/open.ts";
import { type CallError, fail, invalid } from "../../lib/errors.ts";
import { cutPage, readPage } from "../../lib/page.ts";
import { callerOf, type Handlers } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";

import { type Embedded, toEvent, toTrace } from "./message.ts";
import {
  countEvents,
  type EventFilter,
  type EventRow,
  findDevices,
  findEventWithTraces,
  findFiltered,
  findLinks,
  findTraces,
  findVisitors,
  findWorkspace,
  listEvents,
  type TraceRow,
} from "./queries.ts";

export function eventsService({ shortUrl }: Pick<Deps, "shortUrl">): Handlers<typeof EventsService> {
  return {
    async listEvents(request, context) {
      const { db } = context;
      const { workspaceId } = callerOf(context);
      const include = readInclude(request.include);
      const filter = readFilter(request, workspaceId);
      const page = readPage(request, { key: "none", sort: "events id desc", filters: filter });
      const csv = request.responseFormat === ResponseFormat.CSV;
      const [rows, totalCount] = await Promise.all([
        listEvents(db, filter, page),
        csv ? 0n : countEvents(db, filter),
        checkFiltered(db, filter),
      ]);
      const {
        rows: kept,
        nextPageToken,
        hasMore,
      } = cutPage(rows, page, ({ id }) => ({ key: undefined, id }));
      const embedded = await embed(db, workspaceId, kept, include);
      const events = kept.map((row) => toEvent(row, embedded, shortUrl));
      if (csv) {
        const { eventsCsv } = await import("./csv.ts");
        return { csv: { contentType: "text/csv", csvData: eventsCsv(events, include), nextPageToken } };
      }
      return { json: { events, hasMore, nextPageToken, totalCount } };
    },

    async listEventTraces({ eventId }, context) {
      const found = await findEventWithTraces(context.db, callerOf(context).workspaceId, eventId);
      if (found === undefined) throw notFound("event", "eventId", eventId);
      return { traces: found.traces.map((trace) => toTrace(trace, found.event)) };
    },
  };
}

/** What a list is narrowed to must be the workspace's; links may be deleted. */
async function checkFiltered(db: Db, filter: EventFilter): Promise<void> {
  const { linkId, visitorId } = filter;
  if (linkId === undefined && visitorId === undefined) return;
  const { link, visitor } = await findFiltered(db, filter);
  if (linkId !== undefined && !link) throw notFound("link", "linkId", linkId);
  if (visitorId !== undefined && !visitor) throw notFound("visitor", "visitorId", visitorId);
}

function notFound(what: string, field: string, id: string): CallError {
  return fail("NOT_FOUND", "NOT_FOUND", `${field}: there is no ${what} ${id} in this workspace`);
}

const includes = ["visitor", "device", "link", "workspace", "leadScore", "journey", "traces"];

function readInclude(include: readonly string[]): ReadonlySet<string> {
  if (include.some((name) => !includes.includes(name)))
    throw invalid([{ field: "include", description: `must only name ${includes.join(", ")}` }]);
  return new Set(include);
}

function readFilter(request: ListEventsRequest, workspaceId: string): EventFilter {
  const from = wholeMs("startDate", request.startDate, Math.ceil);
  const to = wholeMs("endDate", request.endDate, Math.floor);
  if (request.startDate && request.endDate && isAfter(request.startDate, request.endDate))
    throw invalid([{ field: "startDate", description: "must not be after endDate" }]);
  return {
    workspaceId,
    linkId: request.linkId || undefined,
    visitorId: request.visitorId || undefined,
    from,
    to,
  };
}

/** 0001-01-01 and the end of 9999, in seconds: what a Timestamp may hold, and RPC callers may break. */
const secondsMin = -62_135_596_800n;
const secondsMax = 253_402_300_799n;

// Events are kept to the millisecond, bounds may be finer.
function wholeMs(
  field: string,
  time: Timestamp | undefined,
  round: (ms: number) => number,
): Date | undefined {
  if (time === undefined) return undefined;
  if (time.seconds < secondsMin || time.seconds > secondsMax)
    throw invalid([{ field, description: "must be in the years 1 to 9999" }]);
  return new Date(Number(time.seconds) * 1000 + round(time.nanos / 1_000_000));
}

function isAfter(a: Timestamp, b: Timestamp): boolean {
  return a.seconds > b.seconds || (a.seconds === b.seconds && a.nanos > b.nanos);
}

/** Looks up what events embed: one statement for each kind of object, all at once. */
async function embed(
  db: Db,
  workspaceId: string,
  events: readonly EventRow[],
  include: ReadonlySet<string>,
): Promise<Embedded> {
  const asked = <Row>(name: string, ids: readonly (string | null)[], find: Find<Row>) => {
    const known = [...new Set(ids)].filter((id) => id !== null);
    return include.has(name) && known.length > 0 ? find(db, workspaceId, known) : undefined;
  };
  const [traces, visitors, devices, links, workspace] = await Promise.all([
    asked(
      "traces",
      events.map(({ id }) => id),
      findTraces,
    ),
    asked(
      "visitor",
      events.map(({ visitor_id }) => visitor_id),
      findVisitors,
    ),
    asked(
      "device",
      events.map(({ device_id }) => device_id),
      findDevices,
    ),
    asked(
      "link",
      events.map(({ link_id }) => link_id),
      findLinks,
    ),
    include.has("workspace") && events.length > 0 ? findWorkspace(db, workspaceId) : undefined,
  ]);
  return {
    journey: include.has("journey"),
    leadScore: include.has("leadScore"),
    traces: traces && Map.groupBy(traces, (trace: TraceRow) => trace.event_id),
    visitors: visitors && byId(visitors),
    devices: devices && byId(devices),
    links: links && byId(links),
    workspace,
  };
}

type Find<Row> = (db: Db, workspaceId: string, ids: readonly string[]) => Promise<Row[]>;

function byId<Row extends { readonly id: string }>(rows: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}
