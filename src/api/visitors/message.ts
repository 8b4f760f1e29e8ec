import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { DeviceActor, type DeviceSchema, DeviceType } from "../../../gen/signpost/v1/device_pb.js";
import { Action, VisitType } from "../../../gen/signpost/v1/visit_pb.js";
import {
  type VisitorAttributeSchema,
  VisitorAttributeType,
  type VisitorEventSchema,
  type VisitorLinkSchema,
  type VisitorSchema,
} from "../../../gen/signpost/v1/visitor_pb.js";
import { meaningOf } from "../../model/attribute-value.ts";
import type { AttributeRow, DeviceRow, EventRow, LinkRow, VisitorRow } from "./queries.ts";

/** What visitors embed, by visitor; undefined is what was not asked for. */
export interface Embedded {
  readonly devices: ReadonlyMap<string, readonly DeviceRow[]> | undefined;
  readonly events: ReadonlyMap<string, readonly EventRow[]> | undefined;
  readonly links: ReadonlyMap<string, readonly LinkRow[]> | undefined;
}

export const nothingEmbedded: Embedded = { devices: undefined, events: undefined, links: undefined };

export function toVisitor(
  row: VisitorRow,
  embedded: Embedded,
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

/** The value as it was captured, and as what it means where it can be read so. */
export function toAttribute({
  key,
  type,
  value,
}: AttributeRow): MessageInitShape<typeof VisitorAttributeSchema> {
  const { number, boolean, date } = meaningOf(type, value);
  return {
    key,
    type: VisitorAttributeType[type],
    value,
    ...(number !== undefined && { numberValue: number }),
    ...(boolean !== undefined && { boolValue: boolean }),
    ...(date && { dateValue: timestampFromDate(date) }),
  };
}

function toDevice(row: DeviceRow): MessageInitShape<typeof DeviceSchema> {
  return {
    id: row.id,
    deviceType: DeviceType[row.device_type],
    deviceActor: DeviceActor[row.device_actor],
    deviceActorName: row.device_actor_name,
    deviceActorOrigin: row.device_actor_origin,
    deviceBrand: row.device_brand,
    deviceName: row.device_name,
    platformName: row.platform_name,
    platformVersion: row.platform_version,
    browserName: row.browser_name,
    browserVersion: row.browser_version,
    browserLanguage: row.browser_language,
    userAgent: row.user_agent,
    ipAddress: row.ip_address,
    country: row.country,
    region: row.region,
    city: row.city,
    timezone: row.timezone,
    isp: row.isp,
    asn: row.asn,
    lastUsedAt: timestampFromDate(row.last_used_at),
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
  const origin = row.domain_name === null ? shortUrl : `https://${row.domain_name}`;
  return {
    id: row.id,
    name: row.name,
    shortlink: row.shortlink,
    entrypoint: `${origin}/${row.shortlink}`,
    eventCount: row.event_count,
    firstVisitedAt: timestampFromDate(row.first_visited_at),
    lastVisitedAt: timestampFromDate(row.last_visited_at),
  };
}
