import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ResponseFormat } from "../../../gen/signpost/v1/response_format_pb.js";
import { SortDirection } from "../../../gen/signpost/v1/sort_direction_pb.js";
import { type Visitor, VisitorSchema } from "../../../gen/signpost/v1/visitor_pb.js";
import {
  type AttributeFilter,
  type ListVisitorsCsvResponseSchema,
  type ListVisitorsJsonResponseSchema,
  type ListVisitorsRequest,
  type SearchVisitorsRequest,
  VisitorSortField,
} from "../../../gen/signpost/v1/visitors_service_pb.js";
import type { Db } from "../../db/open.ts";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { type PageEdge, readPage } from "../../lib/paging/page.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { shownSince } from "../resources/history.ts";
import { notFound } from "../resources/not-found.ts";
import type { VisitorRow } from "../resources/visitor.ts";
import { type EmbeddedObjects, toVisitor } from "./message.ts";
import {
  countVisitors,
  findEvents,
  findTimezone,
  findVisitedLinks,
  findVisitorDevices,
  keyKindOf,
  linkExists,
  listVisitors,
  type SizedVisitorRow,
  type VisitorFilter,
  type VisitorOrder,
} from "./queries.ts";
import { readQuestions } from "./rules.ts";

type VisitorsPage =
  | { readonly json: MessageInitShape<typeof ListVisitorsJsonResponseSchema> }
  | { readonly csv: MessageInitShape<typeof ListVisitorsCsvResponseSchema> };

type ListDeps = Pick<Deps, "entitlements" | "now" | "shortUrl">;

/** Lists visitors: one statement for the page, one for the number of all, and one for each kind of embedded object. */
export async function listVisitorsPage(
  deps: ListDeps,
  request: ListVisitorsRequest | SearchVisitorsRequest,
  context: Context,
): Promise<VisitorsPage> {
  const { db } = context;
  const { workspaceId } = callerOf(context);
  const include = new Set(request.include);
  const filters = "attributeFilters" in request ? request.attributeFilters : [];
  const filter = await readFilter(db, workspaceId, request, filters);
  const order = orders[request.sortField];
  const ascending = request.sortDirection === SortDirection.ASC;
  const page = readPage<"time" | "count">(request, {
    key: keyKindOf(order),
    sort: `visitors ${order} ${ascending ? "asc" : "desc"}`,
    filters: filter,
    default: 50,
    max: 200,
  });
  const csv = request.responseFormat === ResponseFormat.CSV;
  const [rows, totalCount, hasLink] = await Promise.all([
    listVisitors(db, { filter, order, ascending, page }),
    csv ? 0n : countVisitors(db, filter),
    filter.linkId === undefined || linkExists(db, workspaceId, filter.linkId),
  ]);
  if (!hasLink) throw notFound("link", "linkId", request.linkId);
  const embedded = await embed(deps, context, rows.slice(0, page.size), include);
  const filling = {
    rows,
    edgeOf: (row: VisitorRow) => edgeOf(row, order),
    bytesOf: ({ bytes }: SizedVisitorRow) => bytes,
  };
  const visitorOf = (row: VisitorRow) =>
    isRead(row, embedded) ? create(VisitorSchema, toVisitor(row, embedded, deps.shortUrl)) : undefined;
  if (!csv) {
    const write = (visitor: Visitor) => context.writeRecord(VisitorSchema, visitor);
    const { records, ...rest } = await fillPage(page, { ...filling, recordOf: visitorOf, write });
    return { json: { visitors: records, ...rest, totalCount } };
  }
  const [{ visitorsCsv }, { fillCsv }] = await Promise.all([
    import("./csv.ts"),
    import("../../lib/paging/message-csv.ts"),
  ]);
  return { csv: await fillCsv(page, visitorsCsv(include), { ...filling, recordOf: visitorOf }) };
}

/** Looks up what visitors embed: one statement for each kind of object, all at once. */
export async function embed(
  deps: Pick<Deps, "entitlements" | "now">,
  context: Context,
  visitors: readonly VisitorRow[],
  include: ReadonlySet<string>,
): Promise<EmbeddedObjects> {
  const { db } = context;
  const { workspaceId } = callerOf(context);
  const ids = visitors.map(({ id }) => id);
  const asked = <Found>(
    name: string,
    find: (db: Db, workspaceId: string, ids: readonly string[]) => Found,
  ) => (include.has(name) && ids.length > 0 ? find(db, workspaceId, ids) : undefined);
  const [devices, events, links] = await Promise.all([
    asked("devices", findVisitorDevices),
    asked("events", async (db, workspaceId, ids) =>
      findEvents(db, workspaceId, ids, await shownSince(deps, workspaceId, db)),
    ),
    asked("links", findVisitedLinks),
  ]);
  return { devices, events, links };
}

/**
 * Whether everything that a visitor embeds was read. When an answer is full, the page ends before the first visitor
 * that is not read completely.
 */
function isRead({ id }: VisitorRow, embedded: EmbeddedObjects): boolean {
  return Object.values(embedded).every((found) => found === undefined || found.has(id));
}

const orders = {
  [VisitorSortField.UNSPECIFIED]: "created_at",
  [VisitorSortField.CREATED_AT]: "created_at",
  [VisitorSortField.VISIT_COUNT]: "visit_count",
  [VisitorSortField.DEVICE_COUNT]: "device_count",
  [VisitorSortField.QRCODE_COUNT]: "link_count",
} satisfies Record<VisitorSortField, VisitorOrder>;

function edgeOf(row: VisitorRow, order: VisitorOrder): PageEdge<"time" | "count"> {
  return { key: row[order], id: row.id };
}

async function readFilter(
  db: Db,
  workspaceId: string,
  request: ListVisitorsRequest | SearchVisitorsRequest,
  attributeFilters: readonly AttributeFilter[],
): Promise<VisitorFilter> {
  const questions = readQuestions(attributeFilters);
  const asksForDates = questions.some(({ operator }) => operator.startsWith("DATE_"));
  return {
    workspaceId,
    email: request.email.toLowerCase() || undefined,
    search: request.search || undefined,
    linkId: request.linkId || undefined,
    questions,
    timezone: asksForDates ? await findTimezone(db, workspaceId) : "",
  };
}
