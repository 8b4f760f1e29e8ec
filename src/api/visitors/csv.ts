import { type Visitor, VisitorSchema } from "../../../gen/signpost/v1/visitor_pb.js";
import { type CsvTable, messagesCsv } from "../../lib/paging/message-csv.ts";

/** Visitors as a table; attributes, which visitors have in any number, are one column with JSON, as is what is embedded. */
export function visitorsCsv(include: ReadonlySet<string>): CsvTable<Visitor> {
  return messagesCsv(VisitorSchema, new Set([...include, "attributes"]));
}
