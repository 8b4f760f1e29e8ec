import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Selectable } from "kysely";
import type { Devices, VisitorAttributes } from "../../gen/database.ts";
import { DeviceActor, type DeviceSchema, DeviceType } from "../../gen/signpost/v1/device_pb.js";
import { type VisitorAttributeSchema, VisitorAttributeType } from "../../gen/signpost/v1/visitor_pb.js";
import { meaningOf } from "../model/visitors/attribute-value.ts";

/* What events and visitors answer alike. */

export type AttributeRow = Pick<Selectable<VisitorAttributes>, "key" | "type" | "value">;

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

export type DeviceRow = Selectable<Devices>;

export function toDevice(row: DeviceRow): MessageInitShape<typeof DeviceSchema> {
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
    asn: Number(row.asn),
    lastUsedAt: timestampFromDate(row.last_used_at),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}
