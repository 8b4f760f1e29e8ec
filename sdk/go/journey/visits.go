package main

import (
	"os"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
	"signpost.example/signpost"
	options "signpost.example/signpost/options/v1"
	v1 "signpost.example/signpost/v1"
)

func (j journey) visit(link *v1.Link) string {
	lbid := follow(link.GetEntrypoint()).Query().Get("lbid")
	check(lbid != "")
	var event *v1.Event
	until("an event", func() bool {
		request := &v1.ListEventsRequest{LinkId: link.GetId(), Include: []string{"device", "workspace"}}
		listed := must(j.Events.ListEvents(j.ctx, request)).GetJson().GetEvents()
		if len(listed) > 0 {
			event = listed[0]
		}
		return event != nil
	})
	check(event.GetDevice().GetBrowserName() == "Firefox", event)
	traces := must(j.Events.ListEventTraces(j.ctx, &v1.ListEventTracesRequest{EventId: event.GetId()})).GetTraces()
	check(slices.ContainsFunc(traces, func(each *v1.EventTrace) bool {
		return each.GetStepAction() == v1.EventAction_EVENT_ACTION_CLIENT_REDIRECT
	}), traces)
	until("a lead score", func() bool {
		reason := reasonOf(j.Links.GetLeadScore(j.ctx, &v1.GetLeadScoreRequest{LinkId: link.GetId(), EventId: event.GetId()}))
		check(reason == "" || reason == "LEAD_SCORE_NOT_FOUND", reason)
		return reason == ""
	})
	id := event.GetWorkspace().GetLinkSettingId()
	before := must(j.LinkSettings.GetLinkSetting(j.ctx, &v1.GetLinkSettingRequest{Id: id})).GetLinkSetting()
	after := must(j.LinkSettings.UpdateLinkSetting(j.ctx, &v1.UpdateLinkSettingRequest{
		Id: id, DataCollection: before.GetDataCollection(),
	})).GetLinkSetting()
	check(after.GetDataCollection() == before.GetDataCollection(), after)
	return lbid
}

func (j journey) expire() {
	link := must(j.Links.Create(j.ctx, &v1.CreateLinkRequest{
		Destination: "https://example.com/now", ExpiredDestination: "https://example.com/over",
		ExpiresAt: timestamppb.New(time.Now().Add(2 * time.Second)),
	})).GetLink()
	check(follow(link.GetEntrypoint()).Path == "/now")
	until("the expiry", func() bool { return follow(link.GetEntrypoint()).Path == "/over" })
}

func (j journey) tellVisitors(lbid string) {
	calls, email := j.Visitors, j.run+"@example.com"
	who := object(map[string]any{"$email": email, "seats": 4})
	id := must(calls.Identify(j.ctx, &v1.IdentifyRequest{Lbid: lbid, Visitor: who})).GetVisitor().GetId()
	page := must(calls.List(j.ctx, &v1.ListVisitorsRequest{Email: email})).GetJson().GetVisitors()
	check(len(page) == 1 && page[0].GetId() == id, page)
	searched := must(calls.Search(j.ctx, &v1.SearchVisitorsRequest{Email: email, AttributeFilters: []*v1.AttributeFilter{{
		Key:      "seats",
		Operator: v1.VisitorAttributeFilterOperator_VISITOR_ATTRIBUTE_FILTER_OPERATOR_NUMBER_GREATER_THAN,
		Value:    "3",
	}}}))
	check(len(searched.GetJson().GetVisitors()) == 1, searched)
	keys := must(calls.ListAttributeKeys(j.ctx, &v1.ListVisitorAttributeKeysRequest{})).GetAttributeKeys()
	check(slices.Contains(keys, "seats"), keys)
	named := object(map[string]any{"$firstName": "Ada"})
	changed := must(calls.Update(j.ctx, &v1.UpdateVisitorRequest{Id: id, Visitor: named})).GetVisitor()
	check(changed.GetFirstName() == "Ada", changed)
	check(must(calls.DeleteAttribute(j.ctx, &v1.DeleteAttributeRequest{Id: id, AttributeKey: "seats"})).GetSuccess())
	read := must(calls.Get(j.ctx, &v1.GetVisitorRequest{Id: id, Include: []string{"events"}})).GetVisitor()
	check(read.GetEmail() == email && len(read.GetEvents()) > 0, read)
	check(must(calls.Delete(j.ctx, &v1.DeleteVisitorRequest{Id: id})).GetSuccess())
}

func (j journey) wire(linkID string) {
	calls := j.WorkflowSteps
	listed := must(calls.List(j.ctx, &v1.ListWorkflowStepsRequest{LinkId: linkID})).GetWorkflowSteps()
	exitID := listed[slices.IndexFunc(listed, func(each *v1.WorkflowStep) bool {
		return each.GetEventAction() == v1.EventAction_EVENT_ACTION_CLIENT_REDIRECT
	})].GetId()
	form := &v1.FormPayload{FormTitle: "Old", FormFields: []*v1.FormField{{Id: "mail", Key: "$email", Label: "E-mail"}}}
	id := must(calls.Create(j.ctx, &v1.CreateWorkflowStepRequest{
		LinkId: linkID, EventAction: v1.EventAction_EVENT_ACTION_FORM_SUBMIT, InsertBefore: exitID, Payload: ofForm(form),
	})).GetWorkflowStep().GetId()
	must(calls.Update(j.ctx, &v1.UpdateWorkflowStepRequest{
		LinkId: linkID, Id: id, Payload: ofForm(&v1.FormPayload{FormTitle: "Who are you?"}),
		UpdateMask: mask("payload.form.form_title"),
	}))
	step := must(calls.Get(j.ctx, &v1.GetWorkflowStepRequest{LinkId: linkID, Id: id})).GetWorkflowStep()
	read := step.GetPayload().GetForm()
	check(read.GetFormTitle() == "Who are you?" && read.GetFormFields()[0].GetLabel() == "E-mail", read)
	cut := must(calls.DisconnectStep(j.ctx, &v1.DisconnectWorkflowStepRequest{LinkId: linkID, StepId: id, BranchId: "next"}))
	check(slices.Equal(cut.GetUnconnectedBranchIds(), []string{"next"}), cut)
	whole := must(calls.ConnectStep(j.ctx, &v1.ConnectWorkflowStepRequest{
		LinkId: linkID, StepId: id, BranchId: "next", NextStepId: exitID,
	}))
	check(len(whole.GetUnconnectedBranchIds()) == 0, whole)
	must(calls.ResolveStepCollisions(j.ctx, &v1.ResolveStepCollisionsRequest{LinkId: linkID, StepId: id}))
	must(calls.AutoLayoutWorkflow(j.ctx, &v1.AutoLayoutWorkflowRequest{LinkId: linkID}))
	issues := must(calls.ValidateWorkflow(j.ctx, &v1.ValidateWorkflowRequest{LinkId: linkID})).GetIssues()
	check(len(issues) == 0, issues)
	answered := &v1.SimulatedFormAnswer{Fields: []*v1.SimulatedFieldAnswer{{Field: "mail", Values: []string{"ada@example.com"}}}}
	path := must(calls.Simulate(j.ctx, &v1.SimulateWorkflowRequest{
		LinkId:  linkID,
		Visit:   &v1.SimulatedVisit{Country: "DE"},
		Answers: []*v1.SimulatedAnswer{{StepId: id, Answer: &v1.SimulatedAnswer_Form{Form: answered}}},
	})).GetPath()
	check(path[len(path)-1].GetStepId() == exitID, path)
	must(calls.Delete(j.ctx, &v1.DeleteWorkflowStepRequest{LinkId: linkID, Id: id}))
}

func ofForm(form *v1.FormPayload) *v1.WorkflowStepPayload {
	return &v1.WorkflowStepPayload{Variant: &v1.WorkflowStepPayload_Form{Form: form}}
}

func (j journey) delegate() {
	calls := j.WorkspaceTokens
	made := must(calls.Create(j.ctx, &v1.CreateWorkspaceTokenRequest{
		KeyType: v1.WorkspaceTokenKeyType_WORKSPACE_TOKEN_KEY_TYPE_SECRET, Name: "reader",
		Scopes: []options.ApiScope{options.ApiScope_API_SCOPE_LINKS_READ},
	}))
	id := made.GetToken().GetId()
	check(!must(calls.Get(j.ctx, &v1.GetWorkspaceTokenRequest{Id: id})).GetToken().GetFullAccess())
	listed := all(signpost.Items(j.ctx, calls.List, &v1.ListWorkspaceTokensRequest{}, (*v1.ListWorkspaceTokensResponse).GetTokens))
	check(slices.ContainsFunc(listed, func(each *v1.WorkspaceToken) bool { return each.GetId() == id }), listed)
	renamed := must(calls.Update(j.ctx, &v1.UpdateWorkspaceTokenRequest{Id: id, Name: "guest"})).GetToken()
	check(renamed.GetName() == "guest", renamed)
	reader := signpost.NewClient(os.Getenv("SIGNPOST_URL"), made.GetAccessToken())
	must(reader.Links.List(j.ctx, &v1.ListLinksRequest{}))
	reason := reasonOf(reader.Links.Create(j.ctx, &v1.CreateLinkRequest{Destination: "https://example.com"}))
	check(reason == "INSUFFICIENT_SCOPE", reason)
	must(calls.Delete(j.ctx, &v1.DeleteWorkspaceTokenRequest{Id: id}))
}
