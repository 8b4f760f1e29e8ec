import { create, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Json } from "../../../gen/database.ts";
import {
  type AnalyticsDashboard,
  AnalyticsDashboardSchema,
  type DashboardConfig,
  DashboardConfigSchema,
} from "../../../gen/signpost/v1/analytics_dashboard_pb.js";
import type { DashboardRow } from "./queries.ts";

export function toDashboard(row: DashboardRow): AnalyticsDashboard {
  return create(AnalyticsDashboardSchema, {
    id: row.id,
    linkId: row.link_id ?? "",
    name: row.name,
    config: toConfig(row.config),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  });
}

/** A configuration as it is stored: the column is only ever written by `fromConfig`. */
export function toConfig(config: Json): DashboardConfig {
  return fromJson(DashboardConfigSchema, config as JsonValue, { ignoreUnknownFields: true });
}

export function fromConfig(config: DashboardConfig): Json {
  return toJson(DashboardConfigSchema, config) as Json;
}
