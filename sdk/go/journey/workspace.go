package main

import (
	"slices"

	v1 "signpost.example/signpost/v1"
)

// openWorkspace names the workspace, makes it public, and reads what it may use.
func (j journey) openWorkspace() {
	calls := j.Workspaces
	id := must(calls.GetMyWorkspace(j.ctx, &v1.GetMyWorkspaceRequest{})).GetWorkspace().GetId()
	read := must(calls.GetWorkspace(j.ctx, &v1.GetWorkspaceRequest{Id: id})).GetWorkspace()
	check(read.GetId() == id, read)
	early := reasonOf(calls.RequestEnrollment(j.ctx, &v1.RequestWorkspaceEnrollmentRequest{}))
	check(early == "WORKSPACE_NOT_READY", early)
	const about = "Walked by a client"
	wanted := &v1.UpdateWorkspaceRequest{Name: "Journey", Slug: j.run, Description: about}
	named := must(calls.Update(j.ctx, wanted)).GetWorkspace()
	check(named.GetSlug() == j.run, named)
	masked := &v1.UpdateWorkspaceRequest{Name: "Renamed", Description: "ignored", UpdateMask: mask("name")}
	changed := must(calls.Update(j.ctx, masked)).GetWorkspace()
	check(changed.GetName() == "Renamed" && changed.GetDescription() == about, changed)
	must(calls.UpdateOriginInquiry(j.ctx, &v1.UpdateWorkspaceOriginInquiryRequest{OriginInquiry: "a friend"}))
	must(calls.UpdateOriginPurpose(j.ctx, &v1.UpdateWorkspaceOriginPurposeRequest{OriginPurpose: "menus"}))
	must(calls.RequestEnrollment(j.ctx, &v1.RequestWorkspaceEnrollmentRequest{Message: "please"}))
	public := must(calls.PublicGetWorkspace(j.ctx, &v1.PublicGetWorkspaceRequest{Slug: j.run})).GetPublicWorkspace()
	check(public.GetName() == "Renamed", public)

	plans := must(j.Pricing.ListPlans(j.ctx, &v1.ListPlansRequest{})).GetPlans()
	allowed := must(j.Allowances.List(j.ctx, &v1.ListAllowancesRequest{}))
	check(slices.ContainsFunc(plans, func(each *v1.PricingPlan) bool { return each.GetId() == allowed.GetPlan() }), plans)
	check(slices.ContainsFunc(allowed.GetAllowances(), func(each *v1.Allowance) bool {
		return each.GetKey() == v1.PlanLimitKey_PLAN_LIMIT_KEY_TRACKED_VISITS
	}), allowed)
}

// closeWorkspace deletes the workspace, after which its token is refused.
func (j journey) closeWorkspace() {
	must(j.Workspaces.Delete(j.ctx, &v1.DeleteWorkspaceRequest{}))
	reason := reasonOf(j.Workspaces.GetMyWorkspace(j.ctx, &v1.GetMyWorkspaceRequest{}))
	check(reason == "UNAUTHENTICATED", reason)
}
