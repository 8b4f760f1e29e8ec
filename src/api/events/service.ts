import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { type Event, EventSchema } from "../../../gen/signpost/v1/event_pb.js";
import type { EventsService, ListEventsRequest } from "../../../gen/signpost/v1/events_service_pb.js";
import { ResponseFormat } from "../../../gen/signpost/v1/response_format_pb.js";
import { UncountedReason } from "../../../gen/signpost/v1/visit_pb.js";
import type { Db } from "../../db/open.ts";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { readPage } from "../../lib/paging/page.ts";
import { callerOf, type Handlers } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { later, shownSince } from "../resources/history.ts";
import { notFound } from "../resources/not-found.ts";
import { type EmbeddedRows, eventMessages, isRead, toTrace } from "./message.ts";
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
} from "./queries.ts";

export function eventsService(
  deps: Pick<Deps, "shortUrl" | "now" | "entitlements">,
): Handlers<typeof EventsService> {
  return {
    async listEvents(request, context) {
      const { db } = context;
      const { workspaceId } = callerOf(context);
      const include = new Set(request.include);
      const filter = readFilter(request, workspaceId);
      const page = readPage(request, { key: "none", sort: "events id desc", filters: filter });
      const csv = request.responseFormat === ResponseFormat.CSV;
      // The pages of a list stay the same list, although the plan shows ever later events.
      const shown = { ...filter, from: later(filter.from, await shownSince(deps, workspaceId, db)) };
      const [rows, totalCount] = await Promise.all([
        listEvents(db, shown, page),
        csv ? 0n : countEvents(db, shown),
        checkFiltered(db, filter),
      ]);
      const embedded = await embed(db, workspaceId, rows.slice(0, page.size), include);
      const toMessage = eventMessages(embedded, deps.shortUrl);
      const filling = {
        rows,
        edgeOf: ({ id }: EventRow) => ({ key: undefined, id }),
        recordOf: (row: EventRow) => (isRead(row, embedded) ? toMessage(row) : undefined),
      };
      if (!csv) {
        const write = (event: Event) => context.writeRecord(EventSchema, event);
        const { records, ...rest } = await fillPage(page, { ...filling, write });
        return { json: { events: records, ...rest, totalCount } };
      }
      const [{ eventsCsv }, { fillCsv }] = await Promise.all([
        import("./csv.ts"),
        import("../../lib/paging/message-csv.ts"),
      ]);
      return { csv: await fillCsv(page, eventsCsv(include), filling) };
    },

    async listEventTraces({ eventId }, context) {
      const { workspaceId } = callerOf(context);
      const since = await shownSince(deps, workspaceId, context.db);
      const found = await findEventWithTraces(context.db, workspaceId, { eventId, since });
      if (found === undefined) throw notFound("event", "eventId", eventId);
      return { traces: found.traces.map((trace) => toTrace(trace, found.event)) };
    },
  };
}

/** Checks that the link and the visitor of a filter belong to the workspace. The link may be deleted. */
async function checkFiltered(db: Db, filter: EventFilter): Promise<void> {
  const { linkId, visitorId } = filter;
  if (linkId === undefined && visitorId === undefined) return;
  const { link, visitor } = await findFiltered(db, filter);
  if (linkId !== undefined && !link) throw notFound("link", "linkId", linkId);
  if (visitorId !== undefined && !visitor) throw notFound("visitor", "visitorId", visitorId);
}

function readFilter(request: ListEventsRequest, workspaceId: string): EventFilter {
  const from = wholeMs(request.startDate, Math.ceil);
  const to = wholeMs(request.endDate, Math.floor);
  return {
    workspaceId,
    linkId: request.linkId || undefined,
    visitorId: request.visitorId || undefined,
    from,
    to,
    counted: request.counted,
    uncountedReason: reasonOf(request.uncountedReason),
  };
}

/** The reason that a filter asks for. Undefined when the filter takes every event. */
function reasonOf(reason: UncountedReason): EventFilter["uncountedReason"] {
  const name = UncountedReason[reason] as keyof typeof UncountedReason; // the rules let no other number through
  return name === "UNSPECIFIED" ? undefined : name;
}

// Events are kept to the millisecond, and the bounds of a request may be finer.
function wholeMs(time: Timestamp | undefined, round: (ms: number) => number): Date | undefined {
  if (time === undefined) return undefined;
  return new Date(Number(time.seconds) * 1000 + round(time.nanos / 1_000_000));
}

/** Looks up what events embed: one statement for each kind of object, all at once. */
async function embed(
  db: Db,
  workspaceId: string,
  events: readonly EventRow[],
  include: ReadonlySet<string>,
): Promise<EmbeddedRows> {
  const asked = <Found>(
    name: string,
    idOf: (event: EventRow) => string | null,
    find: (db: Db, workspaceId: string, ids: readonly string[]) => Found,
  ) => {
    const ids = [...new Set(events.map(idOf))].filter((id) => id !== null);
    return include.has(name) && ids.length > 0 ? find(db, workspaceId, ids) : undefined;
  };
  const [traces, visitors, devices, links, workspace] = await Promise.all([
    asked("traces", ({ id }) => id, findTraces),
    asked("visitor", ({ visitor_id }) => visitor_id, findVisitors),
    asked("device", ({ device_id }) => device_id, findDevices),
    asked("link", ({ link_id }) => link_id, findLinks),
    include.has("workspace") && events.length > 0 ? findWorkspace(db, workspaceId) : undefined,
  ]);
  const [journey, leadScore] = [include.has("journey"), include.has("leadScore")];
  return { journey, leadScore, traces, visitors, devices, links, workspace };
}
