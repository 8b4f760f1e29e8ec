import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { LinkSchema } from "../../../gen/signpost/v1/link_pb.js";
import {
  LinkSortField,
  LinkView,
  type ListLinksRequest,
  type ListLinksResponseSchema,
} from "../../../gen/signpost/v1/links_service_pb.js";
import { SortDirection } from "../../../gen/signpost/v1/sort_direction_pb.js";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { type PageEdge, readPage } from "../../lib/paging/page.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import type { LinkRow } from "../resources/link.ts";
import { nameKey } from "../resources/name-key.ts";
import { notFound } from "../resources/not-found.ts";
import { toLink } from "./message.ts";
import { messageOptions } from "./qrcode-image.ts";
import { countLinks, includeOf, type LinkFilter, type LinkOrder, linkOrders, listLinks } from "./queries.ts";

/** Lists links: one statement for the page and everything it embeds, one for the number of all. */
export async function listLinksPage(
  deps: Deps,
  request: ListLinksRequest,
  context: Context,
): Promise<MessageInitShape<typeof ListLinksResponseSchema>> {
  const include = includeOf(request.include);
  const filter = readFilter(request, callerOf(context).workspaceId);
  const order = orders[request.sortBy];
  const ascending = request.sortDirection === SortDirection.ASC;
  const { key } = linkOrders[order];
  const page = readPage<"time" | "text" | "count">(request, {
    key,
    sort: `links ${order} ${ascending ? "asc" : "desc"}`,
    filters: filter,
  });
  const [rows, { total, directoryExists, domainExists }] = await Promise.all([
    listLinks(context.db, { filter, order, ascending, page, include }),
    countLinks(context.db, filter),
  ]);
  if (filter.directoryId && !directoryExists) throw notFound("directory", "directoryId", filter.directoryId);
  if (filter.customDomainId !== undefined && !domainExists)
    throw notFound("custom domain", "customDomainId", filter.customDomainId);
  const options = messageOptions(deps, include);
  const { records, nextPageToken } = await fillPage(page, {
    rows,
    edgeOf: (row) => edgeOf(row, order),
    bytesOf: ({ bytes }) => bytes,
    recordOf: (row) => create(LinkSchema, toLink(row, options)),
    write: (link) => context.writeRecord(LinkSchema, link),
  });
  return { links: records, nextPageToken, totalCount: total };
}

const orders = {
  [LinkSortField.UNSPECIFIED]: "created_at",
  [LinkSortField.CREATED_AT]: "created_at",
  [LinkSortField.UPDATED_AT]: "updated_at",
  [LinkSortField.SHORTLINK]: "shortlink",
  [LinkSortField.NAME]: "name",
  [LinkSortField.EVENT_COUNT]: "event_count",
} satisfies Record<LinkSortField, LinkOrder>;

function edgeOf(row: LinkRow, order: LinkOrder): PageEdge<"time" | "text" | "count"> {
  return { key: order === "event_count" ? (row.event_count ?? 0n) : row[order], id: row.id };
}

function readFilter(request: ListLinksRequest, workspaceId: string): LinkFilter {
  const tags = request.tags.filter((name) => name !== "");
  return {
    workspaceId,
    search: request.search || undefined,
    tagKeys: tags.length === 0 ? undefined : tags.map(nameKey),
    customDomainId: request.customDomainId || undefined,
    directoryId: request.view === LinkView.DIRECTORY ? request.directoryId || null : undefined,
  };
}
