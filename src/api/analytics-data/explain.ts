import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { LeftOutReason } from "../../../gen/signpost/v1/analytics_data_pb.js";
import type { ExplainCountRequest } from "../../../gen/signpost/v1/analytics_data_service_pb.js";
import { explain } from "../../analytics/reference/explanation-queries.ts";
import { type Fault, invalidArgument, refuse } from "../../lib/errors.ts";
import { clockSettings } from "../../model/intervals.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { later, shownSince } from "../resources/history.ts";
import { type Range, rangeFaults, readIntervals } from "../resources/scope.ts";
import { dimensionNamed, storedValue, valueFault } from "./labels.ts";
import { minutesOf } from "./over-time.ts";

type ExplainDeps = Pick<Deps, "entitlements" | "now">;

export function explainFaults(request: ExplainCountRequest, now: Date): readonly Fault[] {
  const { dimension, value, intervalStart, intervalInMinutes } = request;
  const faults = [...rangeFaults(request, now)];
  if (dimension !== "") {
    const fault = valueFault(dimension, value);
    if (fault !== undefined) faults.push(invalidArgument("value", fault));
  } else if (value !== "")
    faults.push(invalidArgument("value", "is of no dimension: give the chart's dimension too"));
  if (intervalInMinutes !== 0 && intervalStart === undefined)
    faults.push(invalidArgument("intervalInMinutes", "says of no interval: give intervalStart too"));
  return faults;
}

export async function explainCount(deps: ExplainDeps, request: ExplainCountRequest, context: Context) {
  const { dimension, value, hour, intervalStart } = request;
  const minutes = intervalStart === undefined ? () => undefined : minutesOf(request);
  const { range, starts } = await readIntervals(request, context, deps.now(), minutes);
  const shown = await shownSince(deps, callerOf(context).workspaceId, context.db);
  const interval =
    intervalStart === undefined ? range : intervalAt(timestampDate(intervalStart), starts, range);
  const scope = { ...interval, from: later(interval.from, shown) ?? interval.from };
  const { counted, visitors, late, merged, leftOut } = await explain(context.db, {
    scope,
    group:
      dimension === ""
        ? undefined
        : { dimension: dimensionNamed(dimension), value: storedValue(dimensionNamed(dimension), value) },
    hour:
      hour === undefined
        ? undefined
        : { clock: clockSettings(range.from, range.to, range.timezone), number: hour },
  });
  const notable = ({ count, eventIds }: typeof late) => ({ eventCount: count, eventIds: [...eventIds] });
  return {
    counted: counted.count,
    eventIds: [...counted.eventIds],
    visitors,
    recorded: leftOut.reduce((sum, { count }) => sum + count, counted.count),
    leftOut: leftOut
      .map(({ reason, ...visits }) => ({ reason: reasonNamed(reason), ...notable(visits) }))
      .sort((a, b) => b.eventCount - a.eventCount || a.reason - b.reason),
    late: notable(late),
    merged: notable(merged),
    countedFrom: timestampFromDate(scope.from),
    countedThrough: timestampFromDate(scope.to),
  };
}

function reasonNamed(reason: string): LeftOutReason {
  // The database has the same names.
  return LeftOutReason[(reason || "UNSPECIFIED") as keyof typeof LeftOutReason];
}

/** The part of the range in the interval that begins at a moment. */
function intervalAt(start: Date, starts: readonly Date[], range: Range): Range {
  const index = starts.findIndex((each) => each.getTime() === start.getTime());
  const before = starts.findLast((each) => each <= start) ?? starts[0];
  if (index === -1)
    refuse([
      invalidArgument(
        "intervalStart",
        `is not the beginning of an interval of the chart: one begins at ${before?.toISOString()}`,
      ),
    ]);
  const next = starts[index + 1];
  return {
    ...range,
    from: later(range.from, start) ?? range.from,
    to: next === undefined ? range.to : new Date(next.getTime() - 1),
  };
}
