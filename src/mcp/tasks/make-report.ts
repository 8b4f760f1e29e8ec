import { TasksService } from "../../../gen/signpost/tasks/v1/tasks_service_pb.js";
import type { AnalyticsDashboard, DashboardWidget } from "../../../gen/signpost/v1/analytics_dashboard_pb.js";
import { AnalyticsDashboardService } from "../../../gen/signpost/v1/analytics_dashboard_service_pb.js";
import type { Link } from "../../../gen/signpost/v1/link_pb.js";
import { MetricsService } from "../../../gen/signpost/v1/metrics_service_pb.js";
import { findLink, linkFinding, summariesOf } from "../steps/find-link.ts";
import { datesOf, dayOf, type Period, periodOf, timesOf } from "../steps/period.ts";
import { defineTask, read, type Steps, write } from "../steps/task.ts";
import { counted } from "../steps/words.ts";
import type { Image } from "../tool.ts";

const { listDashboards, createDashboard, getWidgetPicture } = AnalyticsDashboardService.method;

/** Draws the first charts of a dashboard, which it makes when there is none. */
export const makeReport = defineTask(
  TasksService.method.makeReport,
  [...linkFinding, listDashboards, createDashboard, getWidgetPicture, MetricsService.method.getEventsMetric],
  function* ({ link: named, days, charts }, now) {
    const link = named === "" ? undefined : yield* findLink(named);
    const dashboard = (yield* findDashboard(link)) ?? (yield* makeDashboard(link));
    const period = periodOf(days, undefined, now);
    const about = link === undefined ? {} : { linkId: link.id };
    const { eventsMetric } = yield* read("count the visits", MetricsService.method.getEventsMetric, {
      ...about,
      ...datesOf(period),
    });
    const widgets = (dashboard.config?.widgets ?? []).filter(({ dataSource }) => dataSource?.endpoint);
    const drawn = widgets.slice(0, charts || 3);
    const images: Image[] = [];
    for (const widget of drawn) images.push(yield* draw(dashboard, widget, period));
    const visits = eventsMetric?.totalEvents ?? 0;
    const titles = drawn.map(({ title }) => title);
    const further = widgets.slice(drawn.length).map(({ title }) => title);
    return {
      result: {
        ...(link && { link: (yield* summariesOf([link]))[0] ?? {} }),
        dashboardId: dashboard.id,
        ...timesOf(period),
        visits,
        charts: titles,
        furtherCharts: further,
      },
      text: [
        `${link === undefined ? "The workspace" : `"${link.name}"`} had ${counted(visits, "visit")} from ${dayOf(period.from)} to ${dayOf(period.to)}.`,
        `The images show: ${titles.join("; ") || "nothing, for the dashboard has no charts"}.`,
        ...(further.length === 0 ? [] : [`Further charts of the dashboard: ${further.join("; ")}.`]),
      ],
      images,
    };
  },
);

function* findDashboard(link: Link | undefined): Steps<AnalyticsDashboard | undefined> {
  const { dashboards } = yield* read(
    "look for the dashboard",
    listDashboards,
    link === undefined ? { scope: "DASHBOARD_SCOPE_WORKSPACE" } : { linkId: link.id },
  );
  return dashboards[0];
}

function* makeDashboard(link: Link | undefined): Steps<AnalyticsDashboard> {
  const { dashboard } = yield* write(
    "make the dashboard",
    createDashboard,
    { useDefaultWidgets: true, ...(link && { linkId: link.id }) },
    () => "the dashboard was made",
  );
  if (dashboard === undefined) throw new Error("an answer lacks its dashboard");
  return dashboard;
}

function* draw({ id }: AnalyticsDashboard, widget: DashboardWidget, period: Period): Steps<Image> {
  const { image } = yield* read(`draw the chart "${widget.title}"`, getWidgetPicture, {
    dashboardId: id,
    picture: `${widget.id}.png`,
    ...datesOf(period),
  });
  return { mimeType: image?.contentType ?? "image/png", bytes: image?.data ?? new Uint8Array() };
}
