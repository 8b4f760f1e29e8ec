package signpost;

import static signpost.JourneySupport.check;
import static signpost.JourneySupport.mask;
import static signpost.JourneySupport.reasonOf;

import java.util.List;
import signpost.v1.*;

/** The steps of {@link Journey} about the dashboard of a link. */
final class DashboardSteps {
  private final Client client;

  DashboardSteps(Client client) {
    this.client = client;
  }

  /** Makes a dashboard of a link, draws and sums up one of its widgets, and deletes it. */
  void present(String linkId) {
    var calls = client.analyticsDashboard();
    CreateDashboardRequest.Builder wanted =
        CreateDashboardRequest.newBuilder().setLinkId(linkId).setName("Menu").setUseDefaultWidgets(true);
    AnalyticsDashboard made = calls.createDashboard(wanted.build()).getDashboard();
    int widgets = made.getConfig().getWidgetsCount();
    check(widgets > 0, made);
    CreateDashboardRequest again = CreateDashboardRequest.newBuilder().setLinkId(linkId).build();
    String twice = reasonOf(() -> calls.createDashboard(again));
    check(twice.equals("DASHBOARD_EXISTS"), twice);
    UpdateDashboardRequest.Builder masked =
        UpdateDashboardRequest.newBuilder()
            .setId(made.getId())
            .setName("Visits")
            .setConfig(DashboardConfig.getDefaultInstance())
            .setUpdateMask(mask("name"));
    AnalyticsDashboard renamed = calls.updateDashboard(masked.build()).getDashboard();
    check(renamed.getName().equals("Visits"), renamed);
    check(renamed.getConfig().getWidgetsCount() == widgets, renamed);
    ListDashboardsRequest ofLink = ListDashboardsRequest.newBuilder().setLinkId(linkId).build();
    List<AnalyticsDashboard> listed = calls.listDashboards(ofLink).getDashboardsList();
    check(listed.size() == 1 && listed.get(0).getId().equals(made.getId()), listed);
    showWidget(made.getId(), made.getConfig().getWidgets(0).getId());
    calls.deleteDashboard(DeleteDashboardRequest.newBuilder().setId(made.getId()).build());
  }

  private void showWidget(String dashboardId, String widgetId) {
    var calls = client.analyticsDashboard();
    GetWidgetPictureRequest.Builder picture =
        GetWidgetPictureRequest.newBuilder().setDashboardId(dashboardId).setPicture(widgetId + ".svg");
    GetWidgetPictureResponse drawn = calls.getWidgetPicture(picture.build());
    check(drawn.getImage().getContentType().equals("image/svg+xml"), drawn);
    GenerateWidgetSummaryRequest.Builder asked =
        GenerateWidgetSummaryRequest.newBuilder().setDashboardId(dashboardId).setWidgetId(widgetId);
    AnalyticsWidgetResult written = calls.generateWidgetSummary(asked.build()).getResult();
    check(!written.getText().isEmpty(), written);
    GetWidgetSummaryRequest.Builder stored =
        GetWidgetSummaryRequest.newBuilder().setDashboardId(dashboardId).setWidgetId(widgetId);
    AnalyticsWidgetResult read = calls.getWidgetSummary(stored.build()).getResult();
    check(read.getText().equals(written.getText()), read);
  }
}
