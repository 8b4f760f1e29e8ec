use signpost_client::Client;
use signpost_client::v1::{
    DeviceType, ExplainCountRequest, GetAttributeDistributionRequest, GetAttributeMetricRequest,
    GetAttributeValuesRequest, GetBreakdownRequest, GetDeviceDistributionRequest, GetEventsMetricRequest,
    GetEventsTimeSeriesRequest, GetGeoBreakdownRequest, GetGroupedTimeSeriesRequest, GetHourOfDayDistributionRequest,
    GetStepFunnelRequest, GetTopLinksRequest, GetVisitorTrendsRequest, GetWorkspaceInsightRequest,
    GetWorkspaceMetricRequest, GroupByDimension, Link, PreferredLinkType,
};

use crate::support::Outcome;

/// Asks every question about the one visit of a link.
pub async fn analyse(client: &Client, link: &Link) -> Outcome<()> {
    group(client, link).await?;
    over_time(client, &link.id).await?;
    attributes(client, &link.id).await?;
    let mut metrics = client.metrics();
    let here = GetEventsMetricRequest { link_id: link.id.clone(), ..Default::default() };
    let counted = metrics.get_events_metric(here).await?.into_inner().events_metric.unwrap_or_default();
    assert_eq!(counted.total_events, 1);
    let workspace = metrics.get_workspace_metric(GetWorkspaceMetricRequest {}).await?.into_inner();
    assert_ne!(workspace.workspace_metric.unwrap_or_default().total_links, 0);
    let insight = metrics.get_workspace_insight(GetWorkspaceInsightRequest {}).await?.into_inner();
    assert_eq!(insight.workspace_insight.unwrap_or_default().preferred_link_type(), PreferredLinkType::Url);
    Ok(())
}

async fn group(client: &Client, link: &Link) -> Outcome<()> {
    let (mut calls, link_id) = (client.analytics_data(), || link.id.clone());
    let by_browser = GetBreakdownRequest { dimension: "browser".into(), link_id: link_id(), ..Default::default() };
    let browsers = calls.get_breakdown(by_browser).await?.into_inner();
    assert_eq!((browsers.total, &*browsers.data[0].label), (1, "Firefox"));
    let by_city = GetGeoBreakdownRequest { group_by: "city".into(), link_id: link_id(), ..Default::default() };
    assert_eq!(calls.get_geo_breakdown(by_city).await?.into_inner().total_events, 1);
    let here = GetDeviceDistributionRequest { link_id: link_id(), ..Default::default() };
    let devices = calls.get_device_distribution(here).await?.into_inner().data;
    assert_eq!(devices[0].device_type(), DeviceType::Desktop);
    let here = GetTopLinksRequest { link_id: link_id(), ..Default::default() };
    assert_eq!(calls.get_top_links(here).await?.into_inner().data[0].shortlink, link.shortlink);
    let here = ExplainCountRequest { link_id: link_id(), ..Default::default() };
    let explained = calls.explain_count(here).await?.into_inner();
    assert_eq!((explained.counted, explained.recorded, explained.event_ids.len()), (1, 1, 1));
    let here = GetStepFunnelRequest { link_id: link_id(), ..Default::default() };
    let funnel = calls.get_step_funnel(here).await?.into_inner();
    assert_eq!((funnel.entry_visits, funnel.completion_rate, funnel.steps.len()), (1, 100.0, 2));
    Ok(())
}

async fn over_time(client: &Client, link_id: &str) -> Outcome<()> {
    let mut calls = client.analytics_data();
    let here = GetHourOfDayDistributionRequest { link_id: link_id.into(), ..Default::default() };
    let hours = calls.get_hour_of_day_distribution(here).await?.into_inner();
    assert_eq!((hours.data.len(), hours.total_events), (24, 1));
    let here = GetVisitorTrendsRequest { link_id: link_id.into(), ..Default::default() };
    let trends = calls.get_visitor_trends(here).await?.into_inner();
    assert_eq!((trends.total_new, trends.total_returning), (1, 0));
    let mut by_platform = GetGroupedTimeSeriesRequest { link_id: link_id.into(), ..Default::default() };
    by_platform.set_group_by(GroupByDimension::Platform);
    assert_eq!(calls.get_grouped_time_series(by_platform).await?.into_inner().series[0].label, "Linux");
    let by_day =
        GetEventsTimeSeriesRequest { link_id: link_id.into(), interval_in_minutes: 1440, ..Default::default() };
    let days = client.time_series().get_events_time_series(by_day).await?.into_inner().time_series;
    let days = days.unwrap_or_default();
    assert_eq!((days.total_data, days.total_intervals), (1, 31));
    Ok(())
}

/// Asks about an attribute that nobody has yet.
async fn attributes(client: &Client, link_id: &str) -> Outcome<()> {
    let (mut calls, key) = (client.analytics_data(), "seats");
    let here = GetAttributeMetricRequest { key: key.into(), link_id: link_id.into(), ..Default::default() };
    let metric = calls.get_attribute_metric(here).await?.into_inner();
    assert_eq!((metric.audience_count, metric.total_count), (1, 0));
    let here = GetAttributeDistributionRequest { key: key.into(), link_id: link_id.into(), ..Default::default() };
    assert_eq!(calls.get_attribute_distribution(here).await?.into_inner().total, 0);
    let here = GetAttributeValuesRequest { key: key.into(), link_id: link_id.into(), ..Default::default() };
    assert_eq!(calls.get_attribute_values(here).await?.into_inner().total, 0);
    Ok(())
}
