import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Selectable } from "kysely";
import type { VisitorAttributes, Visitors } from "../../../gen/database.ts";
import {
  type VisitorAttributeSchema,
  VisitorAttributeType,
  type VisitorSchema,
} from "../../../gen/signpost/v1/visitor_pb.js";
import { meaningOf } from "../../model/visitors/attribute-value.ts";

export type AttributeRow = Pick<Selectable<VisitorAttributes>, "key" | "type" | "value">;

/** An attribute as its message: the value as it was captured, and its meaning where it can be read. */
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

/** A visitor with attributes, by key, and with counts without bots and agents. */
export interface VisitorRow extends Selectable<Visitors> {
  readonly device_count: bigint;
  readonly link_count: bigint;
  readonly visit_count: bigint;
  readonly attributes: readonly AttributeRow[];
}

/** The message of a visitor without embedded objects, with which all messages of visitors begin. */
export function toVisitorAlone(row: VisitorRow) {
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
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  } satisfies MessageInitShape<typeof VisitorSchema>;
}
