import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ResponseFormat } from "../../../gen/signpost/v1/response_format_pb.js";
import { SortDirection } from "../../../gen/signpost/v1/sort_direction_pb.js";
import { type Visitor, VisitorSchema } from "../../../gen/signpost/v1/visitor_pb.js";
import {
  type ListVisitorsCsvResponseSchema,
  type ListVisitorsJsonResponseSchema,
  type ListVisitorsRequest,
  type SearchVisitorsRequest,
  VisitorSortField,
} from "../../../gen/signpost/v1/visitors_service_pb.js";
import type { Db } from "../../db/open.ts";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { type Page, type PageEdge, readPage } from "../../lib/paging/page.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import { findVisitors, type VisitorKey } from "../../visitors/pages/find-visitors.ts";
import type { Wanted } from "../../visitors/pages/match-page.ts";
import type { PageCache } from "../../visitors/pages/page-cache.ts";
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
  linkExists,
  listVisitors,
  readRanked,
  type SizedVisitorRow,
} from "./queries.ts";
import { readQuestions } from "./rules.ts";

type VisitorsPage =
  | { readonly json: MessageInitShape<typeof ListVisitorsJsonResponseSchema> }
  | { readonly csv: MessageInitShape<typeof ListVisitorsCsvResponseSchema> };

export type ListDeps = Pick<Deps, "entitlements" | "now" | "shortUrl"> & {
  readonly pages: PageCache;
};

/**
 * Lists visitors. One statement reads the page, one counts all, and one reads each kind of embedded object. Lists with
 * filters, and those that are sorted by counts, are chosen by the columns of visitors instead.
 */
export async function listVisitorsPage(
  deps: ListDeps,
  request: ListVisitorsRequest | SearchVisitorsRequest,
  context: Context,
): Promise<VisitorsPage> {
  const { db } = context;
  const { workspaceId } = callerOf(context);
  const include = new Set(request.include);
  const filter = await readFilter(db, workspaceId, request);
  const key = orders[request.sortField];
  const ascending = request.sortDirection === SortDirection.ASC;
  const page = readPage<"time" | "count">(request, {
    key: key === "created_at" ? "time" : "count",
    sort: `visitors ${key} ${ascending ? "asc" : "desc"}`,
    filters: filter,
    default: 50,
    max: 200,
  });
  const csv = request.responseFormat === ResponseFormat.CSV;
  const { linkId } = filter.wanted;
  const [{ rows, totalCount, edgeOf }, hasLink] = await Promise.all([
    choose(deps, db, { ...filter, key, ascending, page, counts: !csv }),
    linkId === undefined || linkExists(db, workspaceId, linkId),
  ]);
  if (!hasLink) throw notFound("link", "linkId", request.linkId);
  const embedded = await embed(deps, context, rows.slice(0, page.size), include);
  const filling = {
    rows,
    edgeOf,
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

interface Choice extends VisitorFilter {
  readonly key: VisitorKey;
  readonly ascending: boolean;
  readonly page: Page<"time" | "count">;
  /** Whether the number of all is asked for. */
  readonly counts: boolean;
}

interface Chosen {
  readonly rows: readonly SizedVisitorRow[];
  readonly totalCount: bigint;
  readonly edgeOf: (row: VisitorRow) => PageEdge<"time" | "count">;
}

/** More visitors are chosen than a page has, because some may be deleted before they are read. */
const spare = 8;

async function choose(
  { pages }: ListDeps,
  db: Db,
  { workspaceId, email, wanted, key, ascending, page, counts }: Choice,
): Promise<Chosen> {
  const isPlain = wanted.questions.length === 0 && wanted.search === undefined && wanted.linkId === undefined;
  if (isPlain && key === "created_at") {
    const [rows, total] = await Promise.all([
      listVisitors(db, { workspaceId, email, ascending, page }),
      counts ? countVisitors(db, workspaceId, email) : 0,
    ]);
    return { rows, totalCount: BigInt(total), edgeOf: ({ created_at: at, id }) => ({ key: at, id }) };
  }
  const ofEmail =
    email === undefined ? [] : [{ key: "$email", operator: "STRING_EQUALS", wanted: email } as const];
  const after = page.after && { key: Number(page.after.key), id: page.after.id };
  const { ranked, total } = await findVisitors(db, pages, {
    workspaceId,
    wanted: { ...wanted, questions: [...ofEmail, ...wanted.questions] },
    key,
    ascending,
    after,
    limit: page.size + 1 + spare,
  });
  const keys = new Map(ranked.map(({ id, key }) => [id, key]));
  return {
    rows: await readRanked(db, workspaceId, [...keys.keys()], page.size),
    totalCount: BigInt(total),
    // The page ends where the order had it, whatever has changed since.
    edgeOf: ({ created_at: at, id }) => ({ key: key === "created_at" ? at : BigInt(keys.get(id) ?? 0), id }),
  };
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
} satisfies Record<VisitorSortField, VisitorKey>;

/** Which visitors a list has. */
interface VisitorFilter {
  readonly workspaceId: string;
  /** Case-folded. */
  readonly email: string | undefined;
  readonly wanted: Wanted;
}

async function readFilter(
  db: Db,
  workspaceId: string,
  request: ListVisitorsRequest | SearchVisitorsRequest,
): Promise<VisitorFilter> {
  const questions = readQuestions("attributeFilters" in request ? request.attributeFilters : []);
  const asksForDates = questions.some(({ operator }) => operator.startsWith("DATE_"));
  return {
    workspaceId,
    email: request.email.toLowerCase() || undefined,
    wanted: {
      questions,
      search: request.search.trim() || undefined,
      linkId: request.linkId || undefined,
      timezone: asksForDates ? await findTimezone(db, workspaceId) : "",
    },
  };
}
