package main

import (
	v1 "signpost.example/signpost/v1"
)

// askForForms finds that no account is connected and no link leads to a form, and that nothing can be fetched.
func (j journey) askForForms() {
	calls := j.GoogleFormsIntegrations
	found := must(calls.Get(j.ctx, &v1.GetGoogleFormsIntegrationRequest{}))
	check(found.GetIntegration() == nil, found)
	listed := must(calls.ListDetectedForms(j.ctx, &v1.ListDetectedGoogleFormsRequest{}))
	check(len(listed.GetForms()) == 0, listed)
	reason := reasonOf(calls.GetOAuthURL(j.ctx, &v1.GetGoogleFormsOAuthURLRequest{}))
	check(reason == "FAILED_PRECONDITION", reason)
	reason = reasonOf(calls.CompleteOAuth(j.ctx, &v1.CompleteGoogleFormsOAuthRequest{Code: "none", State: "none"}))
	check(reason == "INVALID_STATE", reason)
	reason = reasonOf(calls.SyncNow(j.ctx, &v1.SyncGoogleFormsRequest{}))
	check(reason == "NOT_FOUND", reason)
	paused := v1.GoogleFormsIntegrationStatus_GOOGLE_FORMS_INTEGRATION_STATUS_PAUSED
	reason = reasonOf(calls.Update(j.ctx, &v1.UpdateGoogleFormsIntegrationRequest{Status: paused}))
	check(reason == "NOT_FOUND", reason)
	reason = reasonOf(calls.Delete(j.ctx, &v1.DeleteGoogleFormsIntegrationRequest{}))
	check(reason == "NOT_FOUND", reason)
}
