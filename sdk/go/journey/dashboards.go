package main

import v1 "signpost.example/signpost/v1"

// present makes a dashboard of a link, draws and sums up one of its widgets, and deletes it.
func (j journey) present(linkID string) {
	calls := j.AnalyticsDashboard
	wanted := &v1.CreateDashboardRequest{LinkId: linkID, Name: "Menu", UseDefaultWidgets: true}
	made := must(calls.CreateDashboard(j.ctx, wanted)).GetDashboard()
	widgets := made.GetConfig().GetWidgets()
	check(len(widgets) > 0, made)
	twice := reasonOf(calls.CreateDashboard(j.ctx, &v1.CreateDashboardRequest{LinkId: linkID}))
	check(twice == "DASHBOARD_EXISTS", twice)
	renamed := must(calls.UpdateDashboard(j.ctx, &v1.UpdateDashboardRequest{
		Id: made.GetId(), Name: "Visits", Config: &v1.DashboardConfig{}, UpdateMask: mask("name"),
	})).GetDashboard()
	check(renamed.GetName() == "Visits" && len(renamed.GetConfig().GetWidgets()) == len(widgets), renamed)
	listed := must(calls.ListDashboards(j.ctx, &v1.ListDashboardsRequest{LinkId: linkID})).GetDashboards()
	check(len(listed) == 1 && listed[0].GetId() == made.GetId(), listed)
	id, widget := made.GetId(), widgets[0].GetId()
	drawn := must(calls.GetWidgetPicture(j.ctx, &v1.GetWidgetPictureRequest{DashboardId: id, Picture: widget + ".svg"}))
	check(drawn.GetImage().GetContentType() == "image/svg+xml", drawn)
	written := must(calls.GenerateWidgetSummary(j.ctx, &v1.GenerateWidgetSummaryRequest{
		DashboardId: id, WidgetId: widget,
	})).GetResult()
	check(written.GetText() != "", written)
	read := must(calls.GetWidgetSummary(j.ctx, &v1.GetWidgetSummaryRequest{DashboardId: id, WidgetId: widget})).GetResult()
	check(read.GetText() == written.GetText(), read)
	must(calls.DeleteDashboard(j.ctx, &v1.DeleteDashboardRequest{Id: made.GetId()}))
}
