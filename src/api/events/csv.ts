import { type Event, EventSchema } from "../../../gen/signpost/v1/event_pb.js";
import { type CsvTable, messagesCsv } from "../../lib/paging/message-csv.ts";

/** Events as a table, with columns for the embedded objects that the request names. */
export function eventsCsv(include: ReadonlySet<string>): CsvTable<Event> {
  return messagesCsv(EventSchema, include);
}
