import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { EventSchema } from "../../gen/signpost/v1/event_pb.js";
import { type MessageColumn, messageColumns } from "../lib/paging/message-csv.ts";

/** What a column holds. A label is the name of an enum's value. */
export type CellKind = "id" | "text" | "label" | "time" | "whole" | "number" | "boolean";

/** A column of an export. It has the name and the values of the same column in the list of events as CSV. */
export interface ExportColumn {
  readonly path: readonly string[];
  readonly kind: CellKind;
  /** Whose value it is. A constant is the same for every event of an export. */
  readonly of: "event" | "device" | "constant";
  /** Its place among the columns of the same kind, and so in their rows. */
  readonly place: number;
  /** The SQL expression of the value; empty for constants. */
  readonly expression: string;
  /** What the database's name of a label is called; the empty name stands for none. */
  readonly labels: ReadonlyMap<string, string>;
}

/** Where the values of an event come from. */
const eventExpressions: Readonly<Record<string, string>> = {
  id: "id",
  linkId: "link_id",
  visitorId: "visitor_id",
  deviceId: "device_id",
  leadScoreId: "case when lead_score is not null then id end",
  action: "action",
  visitType: "visit_type",
  entrypoint: "entrypoint",
  destination: "destination",
  destinationAction: "destination_action",
  scannedAt: "created_at",
  "journey.stepsReached": "steps_reached",
  "journey.stepsTotal": "steps_total",
  "journey.completed": "outcome = 'COMPLETED'",
  createdAt: "created_at",
  updatedAt: "updated_at",
  counted: "counted",
  uncountedReason: "uncounted_reason",
};

/** What pages report of devices: null until a page has, and where the browser does not tell. */
const reported: Readonly<Record<string, string>> = {
  touch_screen: "false",
  gpu: "''",
  network_connection: "''",
  ...Object.fromEntries(
    `screen_width screen_height screen_ratio device_memory device_concurrency network_bandwidth network_rtt`
      .split(" ")
      .map((name) => [name, "0"]),
  ),
};

/** The other columns of devices. What is not here is asked of no device, and has the value that stands for nothing. */
const deviceColumns = new Set(
  `id device_type device_actor device_actor_name device_actor_origin device_brand device_name platform_name
  platform_version browser_name browser_version browser_language user_agent ip_address country region city timezone isp
  asn last_used_at created_at updated_at`.split(/\s+/),
);

/** The columns of exported events: their single values, the journey and the device. */
export const exportColumns: readonly ExportColumn[] = messageColumns(
  EventSchema,
  new Set(["journey", "device"]),
)
  .map(columnOf)
  .map((column, index, all) => {
    const place = all.slice(0, index).filter((other) => other.of === column.of).length;
    return { ...column, place };
  });

function columnOf({ path, field }: MessageColumn): Omit<ExportColumn, "place"> {
  const column = { path, kind: kindOf(field), labels: labelsOf(field) } as const;
  if (path[0] === "device") {
    const nothing = reported[field.name];
    if (nothing !== undefined)
      return { ...column, of: "device", expression: `coalesce(${field.name}, ${nothing})` };
    if (deviceColumns.has(field.name)) return { ...column, of: "device", expression: field.name };
  } else {
    const expression = eventExpressions[path.join(".")];
    if (expression !== undefined) return { ...column, of: "event", expression };
  }
  return { ...column, of: "constant", expression: "" };
}

function kindOf(field: DescField): CellKind {
  if (field.fieldKind === "enum") return "label";
  if (field.fieldKind === "message") return "time";
  if (field.scalar === ScalarType.BOOL) return "boolean";
  if (field.scalar === ScalarType.DOUBLE) return "number";
  if (field.scalar !== ScalarType.STRING) return "whole";
  return field.name === "id" || field.name.endsWith("_id") ? "id" : "text";
}

function labelsOf(field: DescField): ReadonlyMap<string, string> {
  const values = field.fieldKind === "enum" ? field.enum.values : [];
  return new Map(values.map(({ number, localName, name }) => [number === 0 ? "" : localName, name]));
}

/** The value of a constant column. */
export function constantOf({ path, kind }: ExportColumn, workspaceId: string): string | number | boolean {
  switch (path.join(".")) {
    case "workspaceId":
      return workspaceId;
    case "triggeredBy":
      return "TRIGGERED_BY_VISITOR";
    case "httpMethod":
      return "HTTP_METHOD_GET";
  }
  if (kind === "boolean") return false;
  return kind === "number" || kind === "whole" ? 0 : "";
}
