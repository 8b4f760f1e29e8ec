import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  GetBreakdownRequest,
  GetDeviceDistributionRequest,
  GetGeoBreakdownRequest,
  GetTopLinksRequest,
} from "../../../gen/signpost/v1/analytics_data_service_pb.js";
import { DeviceType } from "../../../gen/signpost/v1/device_pb.js";
import type { Context } from "../../rpc/handlers.ts";
import { percentOf } from "../resources/percent.ts";
import { readRange } from "../resources/scope.ts";
import { dimensionNamed, isSmall, labelled, smallMax } from "./labels.ts";
import { limitOf } from "./limit.ts";
import type { AnalyticsDeps } from "./service.ts";

export async function breakdown(
  { analytics, now }: AnalyticsDeps,
  request: GetBreakdownRequest,
  context: Context,
) {
  const scope = await readRange(request, context, now());
  const dimension = dimensionNamed(request.dimension);
  const limit = limitOf(request.limit, 10);
  const asked = isSmall[dimension] ? smallMax : limit;
  const { answer, through } = await analytics(context.db, "groups", { scope, dimension, limit: asked });
  const { total, groups } = answer;
  const data = labelled(dimension, groups)
    .slice(0, limit)
    .map(({ label, code, count }) => {
      return { label, code, eventCount: count, percentage: percentOf(count, total) };
    });
  return { data, total, dataThrough: timestampFromDate(through) };
}

export async function geoBreakdown(
  { analytics, now }: AnalyticsDeps,
  request: GetGeoBreakdownRequest,
  context: Context,
) {
  const scope = await readRange(request, context, now());
  const dimension = request.groupBy === "city" ? "city" : "country";
  const limit = limitOf(request.limit, 10);
  const { answer, through } = await analytics(context.db, "groups", { scope, dimension, limit });
  const { total, groups } = answer;
  const data = groups.map(({ value, count }) => {
    return { location: value, eventCount: count, percentage: percentOf(count, total) };
  });
  return { data, totalEvents: total, dataThrough: timestampFromDate(through) };
}

export async function deviceDistribution(
  { analytics, now }: AnalyticsDeps,
  request: GetDeviceDistributionRequest,
  context: Context,
) {
  const scope = await readRange(request, context, now());
  const dimension = "deviceType";
  const { answer, through } = await analytics(context.db, "groups", { scope, dimension, limit: smallMax });
  const { total, groups } = answer;
  const data = groups.map(({ value, count }) => {
    // The database has the same names.
    const deviceType = DeviceType[value as keyof typeof DeviceType];
    return { deviceType, eventCount: count, percentage: percentOf(count, total) };
  });
  return { data, totalEvents: total, dataThrough: timestampFromDate(through) };
}

export async function topLinks(
  { analytics, now }: AnalyticsDeps,
  request: GetTopLinksRequest,
  context: Context,
) {
  const scope = await readRange(request, context, now());
  const limit = limitOf(request.limit, 10);
  const { answer, through } = await analytics(context.db, "topLinks", { scope, limit });
  const data = answer.links.map(({ count, ...link }) => ({ ...link, eventCount: count }));
  return { data, totalEvents: answer.total, dataThrough: timestampFromDate(through) };
}
