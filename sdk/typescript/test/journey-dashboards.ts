import assert from "node:assert/strict";
import type { Client } from "signpost-client";
import type { Link } from "signpost-client/v1/link";
import { given, refusalOf } from "./journey-support.ts";

/** Makes a dashboard of a link, draws and sums up one of its widgets, and deletes it. */
export async function present(
  { analyticsDashboard: dashboards }: Client,
  { id: linkId }: Link,
): Promise<void> {
  const made = await dashboards.createDashboard({ linkId, name: "Menu", useDefaultWidgets: true });
  const { id, config } = given(made.dashboard);
  const widgets = given(config).widgets;
  assert.notEqual(widgets.length, 0);
  const twice = await refusalOf(dashboards.createDashboard({ linkId }));
  assert.equal(twice.reason, "DASHBOARD_EXISTS");
  const masked = { id, name: "Visits", config: { widgets: [] }, updateMask: { paths: ["name"] } };
  const { dashboard } = await dashboards.updateDashboard(masked);
  assert.deepEqual([dashboard?.name, dashboard?.config?.widgets.length], ["Visits", widgets.length]);
  const listed = await dashboards.listDashboards({ linkId });
  assert.deepEqual(
    listed.dashboards.map((each) => each.id),
    [id],
  );
  const widgetId = given(widgets[0]).id;
  const { image } = await dashboards.getWidgetPicture({ dashboardId: id, picture: `${widgetId}.svg` });
  assert.equal(image?.contentType, "image/svg+xml");
  const written = given((await dashboards.generateWidgetSummary({ dashboardId: id, widgetId })).result);
  assert.notEqual(written.text, "");
  const { result } = await dashboards.getWidgetSummary({ dashboardId: id, widgetId });
  assert.equal(result?.text, written.text);
  await dashboards.deleteDashboard({ id });
}
