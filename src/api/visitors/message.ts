import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Action, VisitType } from "../../../gen/signpost/v1/visit_pb.js";
import type {
  VisitorEventSchema,
  VisitorLinkSchema,
  VisitorSchema,
} from "../../../gen/signpost/v1/visitor_pb.js";
import type { Embedded } from "../../db/within-answer.ts";
import { entrypointOf } from "../../model/links/entrypoint.ts";
import { toAttribute, toDevice } from "../visitor-parts.ts";
import type { DeviceRow, EventRow, LinkRow, VisitorRow } from "./queries.ts";

/** What visitors embed, by visitor; undefined is what was not asked for. */
export interface EmbeddedObjects {
  readonly devices: Embedded<DeviceRow> | undefined;
  readonly events: Embedded<EventRow> | undefined;
  readonly links: Embedded<LinkRow> | undefined;
}

export const nothingEmbedded: EmbeddedObjects = { devices: undefined, events: undefined, links: undefined };

export function toVisitor(
  row: VisitorRow,
  embedded: EmbeddedObjects,
  shortUrl: string,
): MessageInitShape<typeof VisitorSchema> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    email: row.email ?? "",
    phone: row.phone ?? "",
    firstName: row.first_name ?? "",
    lastName: row.last_name ?? "",
    attributes: row.attributes.map(toAttribute),
    deviceCount: row.device_count,
    qrcodeCount: row.link_count,
    visitCount: row.visit_count,
    devices: (embedded.devices?.get(row.id) ?? []).map(toDevice),
    events: (embedded.events?.get(row.id) ?? []).map(toEvent),
    links: (embedded.links?.get(row.id) ?? []).map((link) => toLink(link, shortUrl)),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}

function toEvent(row: EventRow): MessageInitShape<typeof VisitorEventSchema> {
  return {
    id: row.id,
    linkId: row.link_id,
    action: Action[row.action],
    visitType: VisitType[row.visit_type],
    scannedAt: timestampFromDate(row.created_at),
    createdAt: timestampFromDate(row.created_at),
  };
}

function toLink(row: LinkRow, shortUrl: string): MessageInitShape<typeof VisitorLinkSchema> {
  return {
    id: row.id,
    name: row.name,
    shortlink: row.shortlink,
    entrypoint: entrypointOf({ host: row.domain_name, shortlink: row.shortlink }, shortUrl),
    eventCount: row.event_count,
    firstVisitedAt: timestampFromDate(row.first_visited_at),
    lastVisitedAt: timestampFromDate(row.last_visited_at),
  };
}
