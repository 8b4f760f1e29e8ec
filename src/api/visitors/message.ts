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
import { type DeviceRow, toDevice } from "../resources/device.ts";
import { toVisitorAlone, type VisitorRow } from "../resources/visitor.ts";
import type { VisitedLinkRow, VisitorEventRow } from "./queries.ts";

/** What visitors embed, by visitor. Undefined for objects that the request does not name. */
export interface EmbeddedObjects {
  readonly devices: Embedded<DeviceRow> | undefined;
  readonly events: Embedded<VisitorEventRow> | undefined;
  readonly links: Embedded<VisitedLinkRow> | undefined;
}

export const nothingEmbedded: EmbeddedObjects = { devices: undefined, events: undefined, links: undefined };

export function toVisitor(
  row: VisitorRow,
  embedded: EmbeddedObjects,
  shortUrl: string,
): MessageInitShape<typeof VisitorSchema> {
  return {
    ...toVisitorAlone(row),
    devices: (embedded.devices?.get(row.id) ?? []).map(toDevice),
    events: (embedded.events?.get(row.id) ?? []).map(toEvent),
    links: (embedded.links?.get(row.id) ?? []).map((link) => toLink(link, shortUrl)),
  };
}

function toEvent(row: VisitorEventRow): MessageInitShape<typeof VisitorEventSchema> {
  return {
    id: row.id,
    linkId: row.link_id,
    action: Action[row.action],
    visitType: VisitType[row.visit_type],
    scannedAt: timestampFromDate(row.created_at),
    createdAt: timestampFromDate(row.created_at),
  };
}

function toLink(row: VisitedLinkRow, shortUrl: string): MessageInitShape<typeof VisitorLinkSchema> {
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
