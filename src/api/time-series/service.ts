import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { TimeSeriesService } from "../../../gen/signpost/v1/time_series_service_pb.js";
import { type Handlers, withCheck } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { rangeFaults, readIntervals } from "../resources/scope.ts";

export function timeSeriesService({
  analytics,
  now,
}: Pick<Deps, "analytics" | "now">): Handlers<typeof TimeSeriesService> {
  return {
    getEventsTimeSeries: withCheck(
      (request) => rangeFaults(request, now()),
      async (request, context) => {
        const minutes = request.intervalInMinutes || 60;
        const { range, starts } = await readIntervals(request, context, now(), () => minutes);
        const question = { scope: range, starts };
        const { answer: counts, through } = await analytics(context.db, "intervals", question);
        const data = counts.map((eventCount, index) => {
          return { timestamp: timestampFromDate(starts[index] ?? range.from), eventCount };
        });
        const totalData = counts.reduce((sum, count) => sum + count, 0);
        return {
          timeSeries: { data, totalData, totalIntervals: starts.length },
          dataThrough: timestampFromDate(through),
        };
      },
    ),
  };
}
