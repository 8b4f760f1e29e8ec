import type { MessageInitShape } from "@bufbuild/protobuf";
import { EventSchema } from "../../../gen/signpost/v1/event_pb.js";
import { messagesCsv } from "../../lib/message-csv.ts";

/** Events as a table, with columns for the objects that were asked for. */
export function eventsCsv(
  events: readonly MessageInitShape<typeof EventSchema>[],
  include: ReadonlySet<string>,
): string {
  return messagesCsv(EventSchema, events, include);
}
