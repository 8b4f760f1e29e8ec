"""The steps of the journey about the dashboard of a link."""

from google.protobuf.field_mask_pb2 import FieldMask
from signpost import Client
from signpost.v1 import analytics_dashboard_service_pb2 as dashboards
from signpost.v1.analytics_dashboard_pb2 import DashboardConfig
from signpost.v1.link_pb2 import Link
from smoke import failure


def present(client: Client, link: Link) -> None:
    """Makes a dashboard of a link, draws and sums up one of its widgets, and deletes it."""
    stub = client.analytics_dashboard
    wanted = dashboards.CreateDashboardRequest(link_id=link.id, name="Menu", use_default_widgets=True)
    made = stub.CreateDashboard(wanted).dashboard
    assert made.config.widgets, made
    twice = failure(lambda: stub.CreateDashboard(dashboards.CreateDashboardRequest(link_id=link.id)))
    assert twice.reason == "DASHBOARD_EXISTS", twice
    masked = dashboards.UpdateDashboardRequest(
        id=made.id, name="Visits", config=DashboardConfig(), update_mask=FieldMask(paths=["name"])
    )
    renamed = stub.UpdateDashboard(masked).dashboard
    assert (renamed.name, len(renamed.config.widgets)) == ("Visits", len(made.config.widgets)), renamed
    listed = stub.ListDashboards(dashboards.ListDashboardsRequest(link_id=link.id)).dashboards
    assert [each.id for each in listed] == [made.id], listed
    widget = made.config.widgets[0].id
    drawn = dashboards.GetWidgetPictureRequest(dashboard_id=made.id, picture=f"{widget}.svg")
    assert stub.GetWidgetPicture(drawn).image.content_type == "image/svg+xml"
    asked = dashboards.GenerateWidgetSummaryRequest(dashboard_id=made.id, widget_id=widget)
    written = stub.GenerateWidgetSummary(asked).result
    assert written.text, written
    read = stub.GetWidgetSummary(dashboards.GetWidgetSummaryRequest(dashboard_id=made.id, widget_id=widget))
    assert read.result.text == written.text, read
    stub.DeleteDashboard(dashboards.DeleteDashboardRequest(id=made.id))
