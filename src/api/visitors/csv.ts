import { type Visitor, VisitorSchema } from "../../../gen/signpost/v1/visitor_pb.js";
import { type CsvTable, messagesCsv } from "../../lib/paging/message-csv.ts";

/**
 * Visitors as a table. Attributes are one column of JSON, because visitors have any number of them. Embedded objects
 * are JSON, too.
 */
export function visitorsCsv(include: ReadonlySet<string>): CsvTable<Visitor> {
  return messagesCsv(VisitorSchema, new Set([...include, "attributes"]));
}
