import assert from "node:assert/strict";
import type { Client } from "signpost-client";
import { GroupByDimension } from "signpost-client/v1/analytics_data_service";
import { DeviceType } from "signpost-client/v1/device";
import type { Link } from "signpost-client/v1/link";
import { PreferredLinkType } from "signpost-client/v1/metric";
import { given } from "./journey-support.ts";

/** Asks every question about the one visit of a link. */
export async function analyse(client: Client, { id: linkId, shortlink }: Link): Promise<void> {
  const { analyticsData: analytics, metrics } = client;
  const browsers = await analytics.getBreakdown({ dimension: "browser", linkId });
  assert.deepEqual([browsers.total, browsers.data[0]?.label], [1, "Firefox"]);
  assert.equal((await analytics.getGeoBreakdown({ groupBy: "city", linkId })).totalEvents, 1);
  const devices = await analytics.getDeviceDistribution({ linkId });
  assert.equal(devices.data[0]?.deviceType, DeviceType.DESKTOP);
  const hours = await analytics.getHourOfDayDistribution({ linkId });
  assert.deepEqual([hours.data.length, hours.totalEvents], [24, 1]);
  const top = await analytics.getTopLinks({ linkId });
  assert.equal(top.data[0]?.shortlink, shortlink);
  const trends = await analytics.getVisitorTrends({ linkId });
  assert.deepEqual([trends.totalNew, trends.totalReturning], [1, 0]);
  const { series } = await analytics.getGroupedTimeSeries({ groupBy: GroupByDimension.PLATFORM, linkId });
  assert.equal(series[0]?.label, "Linux");
  const { timeSeries } = await client.timeSeries.getEventsTimeSeries({ linkId, intervalInMinutes: 1_440 });
  assert.deepEqual([timeSeries?.totalData, timeSeries?.totalIntervals], [1, 31]);
  const funnel = await analytics.getStepFunnel({ linkId });
  assert.deepEqual([funnel.entryVisits, funnel.completionRate, funnel.steps.length], [1n, 100, 2]);
  const explained = await analytics.explainCount({ linkId });
  assert.deepEqual([explained.counted, explained.recorded, explained.eventIds.length], [1, 1, 1]);
  const metric = await analytics.getAttributeMetric({ key: "seats", linkId });
  assert.deepEqual([metric.audienceCount, metric.totalCount], [1, 0]);
  assert.equal((await analytics.getAttributeDistribution({ key: "seats", linkId })).total, 0);
  assert.equal((await analytics.getAttributeValues({ key: "seats", linkId })).total, 0);
  assert.equal((await metrics.getEventsMetric({ linkId })).eventsMetric?.totalEvents, 1);
  const { totalLinks } = given((await metrics.getWorkspaceMetric({})).workspaceMetric);
  assert.notEqual(totalLinks, 0);
  const { workspaceInsight } = await metrics.getWorkspaceInsight({});
  assert.equal(workspaceInsight?.preferredLinkType, PreferredLinkType.URL);
}
