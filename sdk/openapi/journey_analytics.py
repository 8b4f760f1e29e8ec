"""The steps of the journey that ask about visits."""

import openapi_client as signpost


def analyse(client: signpost.ApiClient, link: signpost.Link) -> None:
    """Asks every question about the one visit of a link."""
    calls, metrics = signpost.AnalyticsDataApi(client), signpost.WorkspaceMetricsApi(client)
    by_browser = signpost.GetBreakdownRequest(dimension="browser", linkId=link.id)
    browsers = calls.analytics_data_service_get_breakdown(by_browser)
    assert (browsers.total, browsers.data[0].label) == (1, "Firefox"), browsers
    by_city = signpost.GetGeoBreakdownRequest(groupBy="city", linkId=link.id)
    assert calls.analytics_data_service_get_geo_breakdown(get_geo_breakdown_request=by_city).total_events == 1
    here = signpost.GetDeviceDistributionRequest(linkId=link.id)
    devices = calls.analytics_data_service_get_device_distribution(get_device_distribution_request=here).data
    assert devices[0].device_type == signpost.DeviceType.DEVICE_TYPE_DESKTOP, devices
    here = signpost.GetHourOfDayDistributionRequest(linkId=link.id)
    hours = calls.analytics_data_service_get_hour_of_day_distribution(get_hour_of_day_distribution_request=here)
    assert (len(hours.data), hours.total_events) == (24, 1), hours
    here = signpost.GetTopLinksRequest(linkId=link.id)
    top = calls.analytics_data_service_get_top_links(get_top_links_request=here).data
    assert top[0].shortlink == link.shortlink, top
    here = signpost.GetVisitorTrendsRequest(linkId=link.id)
    trends = calls.analytics_data_service_get_visitor_trends(get_visitor_trends_request=here)
    assert (trends.total_new, trends.total_returning) == (1, 0), trends
    platform = signpost.GroupByDimension.GROUP_BY_DIMENSION_PLATFORM
    by_platform = signpost.GetGroupedTimeSeriesRequest(groupBy=platform, linkId=link.id)
    assert calls.analytics_data_service_get_grouped_time_series(by_platform).series[0].label == "Linux"
    by_day = signpost.GetEventsTimeSeriesRequest(linkId=link.id, intervalInMinutes=1440)
    answer = calls.time_series_service_get_events_time_series(get_events_time_series_request=by_day)
    assert (answer.time_series.total_data, answer.time_series.total_intervals) == (1, 31), answer
    here = signpost.GetStepFunnelRequest(linkId=link.id)
    funnel = calls.analytics_data_service_get_step_funnel(get_step_funnel_request=here)
    assert (funnel.entry_visits, funnel.completion_rate, len(funnel.steps)) == ("1", 100, 2), funnel
    here = signpost.ExplainCountRequest(linkId=link.id)
    explained = calls.analytics_data_service_explain_count(explain_count_request=here)
    assert (explained.counted, explained.recorded, len(explained.event_ids)) == (1, 1, 1), explained
    here = signpost.GetAttributeMetricRequest(key="seats", linkId=link.id)
    metric = calls.analytics_data_service_get_attribute_metric(here)
    assert (metric.audience_count, metric.total_count) == (1, 0), metric
    here = signpost.GetAttributeDistributionRequest(key="seats", linkId=link.id)
    assert calls.analytics_data_service_get_attribute_distribution(here).total == 0
    here = signpost.GetAttributeValuesRequest(key="seats", linkId=link.id)
    assert calls.analytics_data_service_get_attribute_values(here).total == 0
    assert metrics.metrics_service_get_events_metric(link_id=link.id).total_events == 1
    assert metrics.metrics_service_get_workspace_metric().total_links
    insight = metrics.metrics_service_get_workspace_insight()
    assert insight.preferred_link_type == signpost.PreferredLinkType.PREFERRED_LINK_TYPE_URL, insight
