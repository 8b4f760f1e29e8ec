package signpost;

import static signpost.JourneySupport.check;

import signpost.v1.*;

/** The steps of {@link Journey} that ask about visits. */
final class AnalyticsSteps {
  private final Client client;

  AnalyticsSteps(Client client) {
    this.client = client;
  }

  /** Asks every question about the one visit of a link. */
  void analyse(Link link) {
    group(link);
    explain(link.getId());
    overTime(link.getId());
    attributes(link.getId());
    var metrics = client.metrics();
    GetEventsMetricRequest asked = GetEventsMetricRequest.newBuilder().setLinkId(link.getId()).build();
    EventsMetric counted = metrics.getEventsMetric(asked).getEventsMetric();
    check(counted.getTotalEvents() == 1, counted);
    WorkspaceMetric workspace =
        metrics.getWorkspaceMetric(GetWorkspaceMetricRequest.getDefaultInstance()).getWorkspaceMetric();
    check(workspace.getTotalLinks() != 0, workspace);
    WorkspaceInsight insight =
        metrics.getWorkspaceInsight(GetWorkspaceInsightRequest.getDefaultInstance()).getWorkspaceInsight();
    check(insight.getPreferredLinkType() == PreferredLinkType.PREFERRED_LINK_TYPE_URL, insight);
  }

  private void group(Link link) {
    var calls = client.analyticsData();
    String id = link.getId();
    GetBreakdownRequest.Builder byBrowser =
        GetBreakdownRequest.newBuilder().setDimension("browser").setLinkId(id);
    GetBreakdownResponse browsers = calls.getBreakdown(byBrowser.build());
    check(browsers.getTotal() == 1 && browsers.getData(0).getLabel().equals("Firefox"), browsers);
    GetGeoBreakdownRequest.Builder byCity = GetGeoBreakdownRequest.newBuilder().setGroupBy("city").setLinkId(id);
    check(calls.getGeoBreakdown(byCity.build()).getTotalEvents() == 1, link);
    GetDeviceDistributionResponse devices =
        calls.getDeviceDistribution(GetDeviceDistributionRequest.newBuilder().setLinkId(id).build());
    check(devices.getData(0).getDeviceType() == DeviceType.DEVICE_TYPE_DESKTOP, devices);
    GetTopLinksResponse top = calls.getTopLinks(GetTopLinksRequest.newBuilder().setLinkId(id).build());
    check(top.getData(0).getShortlink().equals(link.getShortlink()), top);
    GetStepFunnelResponse funnel =
        calls.getStepFunnel(GetStepFunnelRequest.newBuilder().setLinkId(id).build());
    check(funnel.getEntryVisits() == 1 && funnel.getCompletionRate() == 100, funnel);
    check(funnel.getStepsCount() == 2, funnel);
  }

  private void explain(String linkId) {
    ExplainCountRequest.Builder asked = ExplainCountRequest.newBuilder().setLinkId(linkId);
    ExplainCountResponse explained = client.analyticsData().explainCount(asked.build());
    check(explained.getCounted() == 1 && explained.getRecorded() == 1, explained);
    check(explained.getEventIdsCount() == 1, explained);
  }

  private void overTime(String linkId) {
    var calls = client.analyticsData();
    GetHourOfDayDistributionResponse hours =
        calls.getHourOfDayDistribution(GetHourOfDayDistributionRequest.newBuilder().setLinkId(linkId).build());
    check(hours.getDataCount() == 24 && hours.getTotalEvents() == 1, hours);
    GetVisitorTrendsResponse trends =
        calls.getVisitorTrends(GetVisitorTrendsRequest.newBuilder().setLinkId(linkId).build());
    check(trends.getTotalNew() == 1 && trends.getTotalReturning() == 0, trends);
    GetGroupedTimeSeriesRequest.Builder byPlatform =
        GetGroupedTimeSeriesRequest.newBuilder()
            .setGroupBy(GroupByDimension.GROUP_BY_DIMENSION_PLATFORM)
            .setLinkId(linkId);
    GetGroupedTimeSeriesResponse platforms = calls.getGroupedTimeSeries(byPlatform.build());
    check(platforms.getSeries(0).getLabel().equals("Linux"), platforms);
    GetEventsTimeSeriesRequest.Builder byDay =
        GetEventsTimeSeriesRequest.newBuilder().setLinkId(linkId).setIntervalInMinutes(1440);
    EventsTimeSeries days = client.timeSeries().getEventsTimeSeries(byDay.build()).getTimeSeries();
    check(days.getTotalData() == 1 && days.getTotalIntervals() == 31, days);
  }

  /** Asks about an attribute that nobody has yet. */
  private void attributes(String linkId) {
    var calls = client.analyticsData();
    String key = "seats";
    GetAttributeMetricResponse metric =
        calls.getAttributeMetric(GetAttributeMetricRequest.newBuilder().setKey(key).setLinkId(linkId).build());
    check(metric.getAudienceCount() == 1 && metric.getTotalCount() == 0, metric);
    GetAttributeDistributionRequest.Builder shares =
        GetAttributeDistributionRequest.newBuilder().setKey(key).setLinkId(linkId);
    check(calls.getAttributeDistribution(shares.build()).getTotal() == 0, key);
    GetAttributeValuesRequest.Builder values =
        GetAttributeValuesRequest.newBuilder().setKey(key).setLinkId(linkId);
    check(calls.getAttributeValues(values.build()).getTotal() == 0, key);
  }
}
