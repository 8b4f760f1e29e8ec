import { attributeDistribution, attributeMetric, attributeValues } from "./naive-attributes.ts";
import { explainCount } from "./naive-explain.ts";
import { funnel } from "./naive-funnel.ts";
import { breakdown, devices, geo, topLinks } from "./naive-groups.ts";
import { eventsMetric } from "./naive-summary.ts";
import { hours, series, timeSeries, visitors } from "./naive-times.ts";
import type { Naive } from "./naive-visits.ts";

/** What each operation must answer, computed visit by visit. */
export const naive = {
  GetBreakdown: breakdown,
  GetGeoBreakdown: geo,
  GetDeviceDistribution: devices,
  GetHourOfDayDistribution: hours,
  GetTopLinks: topLinks,
  GetVisitorTrends: visitors,
  GetGroupedTimeSeries: series,
  GetEventsTimeSeries: timeSeries,
  GetStepFunnel: funnel,
  GetAttributeMetric: attributeMetric,
  GetAttributeDistribution: attributeDistribution,
  GetAttributeValues: attributeValues,
  GetEventsMetric: eventsMetric,
  ExplainCount: explainCount,
} as const satisfies Record<string, Naive>;
