"""The steps of the journey that ask about visits."""

from signpost import Client
from signpost.v1 import analytics_data_service_pb2 as analytics
from signpost.v1 import metrics_service_pb2 as metrics
from signpost.v1.device_pb2 import DEVICE_TYPE_DESKTOP
from signpost.v1.link_pb2 import Link
from signpost.v1.metric_pb2 import PREFERRED_LINK_TYPE_URL
from signpost.v1.time_series_service_pb2 import GetEventsTimeSeriesRequest


def analyse(client: Client, link: Link) -> None:
    """Asks every question about the one visit of a link."""
    stub, id = client.analytics_data, link.id
    browsers = stub.GetBreakdown(analytics.GetBreakdownRequest(dimension="browser", link_id=id))
    assert (browsers.total, browsers.data[0].label) == (1, "Firefox"), browsers
    assert stub.GetGeoBreakdown(analytics.GetGeoBreakdownRequest(group_by="city", link_id=id)).total_events == 1
    devices = stub.GetDeviceDistribution(analytics.GetDeviceDistributionRequest(link_id=id)).data
    assert devices[0].device_type == DEVICE_TYPE_DESKTOP, devices
    hours = stub.GetHourOfDayDistribution(analytics.GetHourOfDayDistributionRequest(link_id=id))
    assert (len(hours.data), hours.total_events) == (24, 1), hours
    top = stub.GetTopLinks(analytics.GetTopLinksRequest(link_id=id)).data
    assert top[0].shortlink == link.shortlink, top
    trends = stub.GetVisitorTrends(analytics.GetVisitorTrendsRequest(link_id=id))
    assert (trends.total_new, trends.total_returning) == (1, 0), trends
    platforms = analytics.GetGroupedTimeSeriesRequest(group_by=analytics.GROUP_BY_DIMENSION_PLATFORM, link_id=id)
    assert stub.GetGroupedTimeSeries(platforms).series[0].label == "Linux"
    by_day = GetEventsTimeSeriesRequest(interval_in_minutes=1440, link_id=id)
    days = client.time_series.GetEventsTimeSeries(by_day).time_series
    assert (days.total_data, days.total_intervals) == (1, 31), days
    funnel = stub.GetStepFunnel(analytics.GetStepFunnelRequest(link_id=id))
    assert (funnel.entry_visits, funnel.completion_rate, len(funnel.steps)) == (1, 100, 2), funnel
    explained = stub.ExplainCount(analytics.ExplainCountRequest(link_id=id))
    assert (explained.counted, explained.recorded, len(explained.event_ids)) == (1, 1, 1), explained
    metric = stub.GetAttributeMetric(analytics.GetAttributeMetricRequest(key="seats", link_id=id))
    assert (metric.audience_count, metric.total_count) == (1, 0), metric
    distribution = analytics.GetAttributeDistributionRequest(key="seats", link_id=id)
    assert stub.GetAttributeDistribution(distribution).total == 0
    assert stub.GetAttributeValues(analytics.GetAttributeValuesRequest(key="seats", link_id=id)).total == 0
    counted = client.metrics.GetEventsMetric(metrics.GetEventsMetricRequest(link_id=id)).events_metric
    assert counted.total_events == 1, counted
    assert client.metrics.GetWorkspaceMetric(metrics.GetWorkspaceMetricRequest()).workspace_metric.total_links
    insight = client.metrics.GetWorkspaceInsight(metrics.GetWorkspaceInsightRequest()).workspace_insight
    assert insight.preferred_link_type == PREFERRED_LINK_TYPE_URL, insight
