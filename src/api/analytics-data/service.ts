import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AnalyticsDataService } from "../../../gen/signpost/v1/analytics_data_service_pb.js";
import { type Context, type Handlers, withCheck } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { rangeFaults, readRange, type ScopeRequest } from "../resources/scope.ts";
import { attributeDistribution, attributeMetric, attributeValues } from "./attributes.ts";
import { breakdown, deviceDistribution, geoBreakdown, topLinks } from "./breakdowns.ts";
import { toFunnel } from "./funnel.ts";
import { groupedTimeSeries, hourOfDayDistribution, visitorTrends } from "./over-time.ts";

export type AnalyticsDeps = Pick<Deps, "analytics" | "now">;

/** Answers a request once its range is known to be allowed. */
type Answer<Request, Response> = (
  deps: AnalyticsDeps,
  request: Request,
  context: Context,
) => Promise<Response>;

export function analyticsDataService(deps: AnalyticsDeps): Handlers<typeof AnalyticsDataService> {
  const ranged = <Request extends ScopeRequest, Response>(answer: Answer<Request, Response>) =>
    withCheck(
      (request: Request) => rangeFaults(request, deps.now()),
      (request: Request, context: Context) => answer(deps, request, context),
    );

  return {
    getBreakdown: ranged(breakdown),
    getGeoBreakdown: ranged(geoBreakdown),
    getDeviceDistribution: ranged(deviceDistribution),
    getHourOfDayDistribution: ranged(hourOfDayDistribution),
    getTopLinks: ranged(topLinks),
    getVisitorTrends: ranged(visitorTrends),
    getGroupedTimeSeries: ranged(groupedTimeSeries),
    getStepFunnel: ranged(async ({ analytics, now }, request, context) => {
      const scope = await readRange(request, context, now());
      const { answer, through } = await analytics(context.db, "funnel", { scope });
      return { ...toFunnel(answer), dataThrough: timestampFromDate(through) };
    }),
    getAttributeMetric: ranged(attributeMetric),
    getAttributeDistribution: ranged(attributeDistribution),
    getAttributeValues: ranged(attributeValues),
  };
}
