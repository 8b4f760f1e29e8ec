import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Selectable } from "kysely";
import type { Devices } from "../../../gen/database.ts";
import { DeviceActor, type DeviceSchema, DeviceType } from "../../../gen/signpost/v1/device_pb.js";

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
    screenWidth: row.screen_width ?? 0,
    screenHeight: row.screen_height ?? 0,
    screenRatio: row.screen_ratio ?? 0,
    touchScreen: row.touch_screen ?? false,
    gpu: row.gpu ?? "",
    deviceMemory: row.device_memory ?? 0,
    deviceConcurrency: row.device_concurrency ?? 0,
    networkConnection: row.network_connection ?? "",
    networkBandwidth: row.network_bandwidth ?? 0,
    networkRtt: row.network_rtt ?? 0,
    lastUsedAt: timestampFromDate(row.last_used_at),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}
