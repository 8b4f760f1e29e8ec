import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  GetGroupedTimeSeriesRequest,
  GetHourOfDayDistributionRequest,
  GetVisitorTrendsRequest,
} from "../../../gen/signpost/v1/analytics_data_service_pb.js";
import { invalidArgument, refuse } from "../../lib/errors.ts";
import { clockSettings, intervalStarts } from "../../model/intervals.ts";
import type { Context } from "../../rpc/handlers.ts";
import { type Range, readIntervals, readRange } from "../resources/scope.ts";
import { codeOf, dimensionOf } from "./labels.ts";
import { limitOf } from "./limit.ts";
import type { AnalyticsDeps } from "./service.ts";

/** All groups of a series together have at most so many points, of some 70 bytes each. */
const pointsMax = 40_000;

export async function hourOfDayDistribution(
  { analytics, now }: AnalyticsDeps,
  request: GetHourOfDayDistributionRequest,
  context: Context,
) {
  const scope = await readRange(request, context, now());
  const clock = clockSettings(scope.from, scope.to, scope.timezone);
  const { answer: counts, through } = await analytics(context.db, "hours", { scope, clock });
  return {
    data: counts.map((eventCount, hour) => ({ hour, eventCount })),
    totalEvents: counts.reduce((sum, count) => sum + count, 0),
    dataThrough: timestampFromDate(through),
  };
}

export async function visitorTrends(
  { analytics, now }: AnalyticsDeps,
  request: GetVisitorTrendsRequest,
  context: Context,
) {
  const { range, starts } = await readIntervals(request, context, now(), minutesOf(request));
  const { answer, through } = await analytics(context.db, "visitors", { scope: range, starts });
  const { intervals, fresh, returning } = answer;
  const data = starts.map((start, index) => ({
    timestamp: timestampFromDate(start),
    newVisitorCount: intervals[index]?.fresh ?? 0,
    returningVisitorCount: intervals[index]?.returning ?? 0,
  }));
  return { data, totalNew: fresh, totalReturning: returning, dataThrough: timestampFromDate(through) };
}

export async function groupedTimeSeries(
  { analytics, now }: AnalyticsDeps,
  request: GetGroupedTimeSeriesRequest,
  context: Context,
) {
  const limit = limitOf(request.limit, 5);
  const { range, starts } = await readIntervals(request, context, now(), minutesOf(request), (count) =>
    refusePoints(limit, count),
  );
  const dimension = dimensionOf(request.groupBy);
  const question = { scope: range, starts, dimension, limit };
  const { answer, through } = await analytics(context.db, "series", question);
  const timestamps = starts.map(timestampFromDate);
  return {
    totalEvents: answer.total,
    dataThrough: timestampFromDate(through),
    series: answer.series.map(({ value, counts }) => ({
      label: codeOf(dimension, value),
      points: counts.map((count, index) => ({ timestamp: timestamps[index], value: count })),
    })),
  };
}

function refusePoints(limit: number, intervals: number): void {
  if (limit * intervals <= pointsMax) return;
  const fix = `${limit} groups with ${intervals} intervals are more than ${pointsMax} points`;
  refuse([invalidArgument("limit", `${fix}: give ${Math.floor(pointsMax / intervals)} or less`)]);
}

const usualMinutes = [60, 1_440, 10_080] as const;
const usualIntervals = 400;

/** The length of intervals that was asked for, or the shortest usual one that makes few. */
function minutesOf({ intervalInMinutes }: { readonly intervalInMinutes: number }): (range: Range) => number {
  if (intervalInMinutes !== 0) return () => intervalInMinutes;
  return (range) => {
    const isFew = (minutes: number) =>
      intervalStarts(range, minutes, range.timezone, usualIntervals) !== undefined;
    return usualMinutes.find(isFew) ?? 10_080;
  };
}
