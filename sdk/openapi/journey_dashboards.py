"""The steps of the journey about the dashboard of a link."""

import openapi_client as signpost
from refusal import reason_of


def present(client: signpost.ApiClient, link_id: str) -> None:
    """Makes a dashboard of a link, draws and sums up one of its widgets, and deletes it."""
    calls = signpost.AnalyticsDashboardApi(client)
    wanted = signpost.CreateDashboardRequest(linkId=link_id, name="Menu", useDefaultWidgets=True)
    made = calls.analytics_dashboard_service_create_dashboard(create_dashboard_request=wanted).dashboard
    assert made.config.widgets, made
    again = signpost.CreateDashboardRequest(linkId=link_id)
    twice = reason_of(lambda: calls.analytics_dashboard_service_create_dashboard(create_dashboard_request=again))
    assert twice == signpost.ErrorReason.DASHBOARD_EXISTS, twice
    named = signpost.UpdateDashboardRequest(name="Visits")
    renamed = calls.analytics_dashboard_service_update_dashboard(made.id, update_dashboard_request=named).dashboard
    assert (renamed.name, len(renamed.config.widgets)) == ("Visits", len(made.config.widgets)), renamed
    listed = calls.analytics_dashboard_service_list_dashboards(link_id=link_id).dashboards
    assert [each.id for each in listed] == [made.id], listed
    widget = made.config.widgets[0].id
    drawn = calls.analytics_dashboard_service_get_widget_picture_with_http_info(made.id, f"{widget}.svg")
    assert drawn.headers["content-type"] == "image/svg+xml", drawn
    written = calls.analytics_dashboard_service_generate_widget_summary(made.id, widget).result
    assert written.text, written
    read = calls.analytics_dashboard_service_get_widget_summary(made.id, widget).result
    assert read.text == written.text, read
    calls.analytics_dashboard_service_delete_dashboard(made.id)
