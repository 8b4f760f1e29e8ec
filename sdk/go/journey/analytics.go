package main

import v1 "signpost.example/signpost/v1"

// analyse asks every question about the one visit of a link.
func (j journey) analyse(link *v1.Link) {
	calls, id := j.AnalyticsData, link.GetId()
	browsers := must(calls.GetBreakdown(j.ctx, &v1.GetBreakdownRequest{Dimension: "browser", LinkId: id}))
	check(browsers.GetTotal() == 1 && browsers.GetData()[0].GetLabel() == "Firefox", browsers)
	cities := must(calls.GetGeoBreakdown(j.ctx, &v1.GetGeoBreakdownRequest{GroupBy: "city", LinkId: id}))
	check(cities.GetTotalEvents() == 1, cities)
	devices := must(calls.GetDeviceDistribution(j.ctx, &v1.GetDeviceDistributionRequest{LinkId: id})).GetData()
	check(devices[0].GetDeviceType() == v1.DeviceType_DEVICE_TYPE_DESKTOP, devices)
	hours := must(calls.GetHourOfDayDistribution(j.ctx, &v1.GetHourOfDayDistributionRequest{LinkId: id}))
	check(len(hours.GetData()) == 24 && hours.GetTotalEvents() == 1, hours)
	top := must(calls.GetTopLinks(j.ctx, &v1.GetTopLinksRequest{LinkId: id})).GetData()
	check(top[0].GetShortlink() == link.GetShortlink(), top)
	trends := must(calls.GetVisitorTrends(j.ctx, &v1.GetVisitorTrendsRequest{LinkId: id}))
	check(trends.GetTotalNew() == 1 && trends.GetTotalReturning() == 0, trends)
	series := must(calls.GetGroupedTimeSeries(j.ctx, &v1.GetGroupedTimeSeriesRequest{
		GroupBy: v1.GroupByDimension_GROUP_BY_DIMENSION_PLATFORM, LinkId: id,
	})).GetSeries()
	check(series[0].GetLabel() == "Linux", series)
	days := must(j.TimeSeries.GetEventsTimeSeries(j.ctx, &v1.GetEventsTimeSeriesRequest{
		LinkId: id, IntervalInMinutes: 1440,
	})).GetTimeSeries()
	check(days.GetTotalData() == 1 && days.GetTotalIntervals() == 31, days)
	funnel := must(calls.GetStepFunnel(j.ctx, &v1.GetStepFunnelRequest{LinkId: id}))
	check(funnel.GetEntryVisits() == 1 && funnel.GetCompletionRate() == 100 && len(funnel.GetSteps()) == 2, funnel)
	explained := must(calls.ExplainCount(j.ctx, &v1.ExplainCountRequest{LinkId: id}))
	check(explained.GetCounted() == 1 && explained.GetRecorded() == 1 && len(explained.GetEventIds()) == 1, explained)
	j.analyseAttribute(id)
	metric := must(j.Metrics.GetEventsMetric(j.ctx, &v1.GetEventsMetricRequest{LinkId: id})).GetEventsMetric()
	check(metric.GetTotalEvents() == 1, metric)
	workspace := must(j.Metrics.GetWorkspaceMetric(j.ctx, &v1.GetWorkspaceMetricRequest{})).GetWorkspaceMetric()
	check(workspace.GetTotalLinks() != 0, workspace)
	insight := must(j.Metrics.GetWorkspaceInsight(j.ctx, &v1.GetWorkspaceInsightRequest{})).GetWorkspaceInsight()
	check(insight.GetPreferredLinkType() == v1.PreferredLinkType_PREFERRED_LINK_TYPE_URL, insight)
}

// analyseAttribute asks about an attribute that nobody has yet.
func (j journey) analyseAttribute(linkID string) {
	calls, key := j.AnalyticsData, "seats"
	metric := must(calls.GetAttributeMetric(j.ctx, &v1.GetAttributeMetricRequest{Key: key, LinkId: linkID}))
	check(metric.GetAudienceCount() == 1 && metric.GetTotalCount() == 0, metric)
	shares := must(calls.GetAttributeDistribution(j.ctx, &v1.GetAttributeDistributionRequest{Key: key, LinkId: linkID}))
	check(shares.GetTotal() == 0, shares)
	values := must(calls.GetAttributeValues(j.ctx, &v1.GetAttributeValuesRequest{Key: key, LinkId: linkID}))
	check(values.GetTotal() == 0, values)
}
