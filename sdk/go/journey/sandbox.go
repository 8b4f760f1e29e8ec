package main

import (
	"os"
	"slices"

	"signpost.example/signpost"
	v1 "signpost.example/signpost/v1"
)

// playInSandbox makes a sandbox, lets invented people visit a link in it, and deletes it.
func (j journey) playInSandbox() {
	calls := j.Sandboxes
	made := must(calls.Create(j.ctx, &v1.CreateSandboxRequest{Name: "Journey"}))
	id := made.GetSandbox().GetId()
	isListed := func() bool {
		listed := must(calls.List(j.ctx, &v1.ListSandboxesRequest{})).GetSandboxes()
		return slices.ContainsFunc(listed, func(each *v1.Sandbox) bool { return each.GetId() == id })
	}
	check(isListed(), id)
	check(must(j.Workspaces.GetWorkspace(j.ctx, &v1.GetWorkspaceRequest{Id: id})).GetWorkspace().GetIsSandbox())
	inside := signpost.NewClient(os.Getenv("SIGNPOST_URL"), made.GetAccessToken())
	wanted := &v1.CreateLinkRequest{Destination: "https://example.com/sandbox"}
	linkID := must(inside.Links.Create(j.ctx, wanted)).GetLink().GetId()
	simulated := must(calls.SimulateVisits(j.ctx, &v1.SimulateVisitsRequest{
		Id: id, Count: 5, Seed: 1, LinkIds: []string{linkID},
	}))
	check(simulated.GetVisitCount() == 5 && len(simulated.GetEventIds()) == 5, simulated)
	found := must(inside.Events.ListEvents(j.ctx, &v1.ListEventsRequest{LinkId: linkID})).GetJson().GetEvents()
	check(len(found) == 5, found)
	reason := reasonOf(inside.Sandboxes.Create(j.ctx, &v1.CreateSandboxRequest{}))
	check(reason == "LIVE_CREDENTIAL_REQUIRED", reason)
	must(calls.Delete(j.ctx, &v1.DeleteSandboxRequest{Id: id}))
	check(!isListed(), id)
}
