import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  GetAttributeDistributionRequest,
  GetAttributeMetricRequest,
  GetAttributeValuesRequest,
} from "../../../gen/signpost/v1/analytics_data_service_pb.js";
import type { Context } from "../../rpc/handlers.ts";
import { percentOf } from "../resources/percent.ts";
import { readRange } from "../resources/scope.ts";
import { limitOf } from "./limit.ts";
import type { AnalyticsDeps } from "./service.ts";

export async function attributeMetric(
  { analytics, now }: AnalyticsDeps,
  request: GetAttributeMetricRequest,
  context: Context,
) {
  const scope = await readRange(request, context, now());
  const { answer, through } = await analytics(context.db, "attribute", { scope, key: request.key });
  const { audience, withValue, withNumber, numbers } = answer;
  return {
    audienceCount: audience,
    totalCount: withValue,
    usableCount: withNumber,
    coverageRate: audience === 0 ? 0 : withValue / audience,
    averageValue: numbers?.mean ?? 0,
    ...(numbers && { minValue: numbers.least, maxValue: numbers.greatest }),
    dataThrough: timestampFromDate(through),
  };
}

export async function attributeDistribution(
  { analytics, now }: AnalyticsDeps,
  request: GetAttributeDistributionRequest,
  context: Context,
) {
  const scope = await readRange(request, context, now());
  const [key, limit] = [request.key, limitOf(request.limit, 10)];
  const { answer, through } = await analytics(context.db, "attributeGroups", { scope, key, limit });
  const { total, groups } = answer;
  const data = groups.map(({ value, count }) => {
    return { label: value, visitorCount: count, percentage: percentOf(count, total) };
  });
  return { data, total, dataThrough: timestampFromDate(through) };
}

export async function attributeValues(
  { analytics, now }: AnalyticsDeps,
  request: GetAttributeValuesRequest,
  context: Context,
) {
  const scope = await readRange(request, context, now());
  const [key, limit] = [request.key, Math.min(request.limit || 50, 1_000)];
  const { answer, through } = await analytics(context.db, "attributeValues", { scope, key, limit });
  const data = answer.values.map(({ value, at }) => ({ value, recordedAt: timestampFromDate(at) }));
  return { data, total: answer.total, dataThrough: timestampFromDate(through) };
}
