import type { MessageInitShape } from "@bufbuild/protobuf";
import { VisitorSchema } from "../../../gen/signpost/v1/visitor_pb.js";
import { messagesCsv } from "../../lib/message-csv.ts";

/** Visitors as a table; attributes, which visitors have in any number, are one column with JSON, as is what is embedded. */
export function visitorsCsv(
  visitors: readonly MessageInitShape<typeof VisitorSchema>[],
  include: ReadonlySet<string>,
): string {
  return messagesCsv(VisitorSchema, visitors, new Set([...include, "attributes"]));
}
