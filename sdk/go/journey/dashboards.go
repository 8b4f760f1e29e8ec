package main

import v1 "signpost.example/signpost/v1"

// present makes a dashboard of a link, and deletes it.
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
	must(calls.DeleteDashboard(j.ctx, &v1.DeleteDashboardRequest{Id: made.GetId()}))
}
