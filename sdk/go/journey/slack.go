package main

import (
	v1 "signpost.example/signpost/v1"
)

// askForSlack finds that no team is connected, and that nothing can be sent.
func (j journey) askForSlack() {
	calls := j.SlackIntegrations
	found := must(calls.Get(j.ctx, &v1.GetSlackIntegrationRequest{}))
	check(found.GetSlackIntegration() == nil, found)
	reason := reasonOf(calls.GetOAuthURL(j.ctx, &v1.GetSlackOAuthURLRequest{}))
	check(reason == "FAILED_PRECONDITION", reason)
	reason = reasonOf(calls.CompleteOAuth(j.ctx, &v1.CompleteSlackOAuthRequest{Code: "none", State: "none"}))
	check(reason == "INVALID_STATE", reason)
	reason = reasonOf(calls.ListChannels(j.ctx, &v1.ListSlackChannelsRequest{}))
	check(reason == "NOT_FOUND", reason)
	reason = reasonOf(calls.JoinChannel(j.ctx, &v1.JoinSlackChannelRequest{Id: "none"}))
	check(reason == "NOT_FOUND", reason)
	reason = reasonOf(calls.Test(j.ctx, &v1.TestSlackIntegrationRequest{}))
	check(reason == "NOT_FOUND", reason)
	paused := v1.SlackIntegrationStatus_SLACK_INTEGRATION_STATUS_PAUSED
	reason = reasonOf(calls.Update(j.ctx, &v1.UpdateSlackIntegrationRequest{Status: paused}))
	check(reason == "NOT_FOUND", reason)
	reason = reasonOf(calls.Delete(j.ctx, &v1.DeleteSlackIntegrationRequest{}))
	check(reason == "NOT_FOUND", reason)
}
