package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"

	"signpost.example/signpost"
	v1 "signpost.example/signpost/v1"
)

// claimAsPerson registers as an agent, and claims the workspace as its person.
func (j journey) claimAsPerson() {
	email := j.run + "-agent@example.com"
	token, code := registerAgent(email)
	found := must(j.AgentIdentity.LookupClaim(j.ctx, &v1.LookupAgentClaimRequest{ClaimAttemptToken: token})).GetClaimLink()
	check(found.GetEmail() == email && found.GetStatus() == v1.AgentClaimStatus_AGENT_CLAIM_STATUS_PENDING, found)
	member := must(j.AgentIdentity.CompleteClaim(j.ctx, &v1.CompleteAgentClaimRequest{
		ClaimAttemptToken: token, UserCode: code, Password: "correct horse battery",
	})).GetMember()
	own := signpost.NewClient(os.Getenv("SIGNPOST_URL"), member.GetAccessToken())
	myself := must(own.Members.GetMyself(j.ctx, &v1.GetMyselfRequest{})).GetMember()
	check(myself.GetEmail() == email, myself)
	must(own.Workspaces.Delete(j.ctx, &v1.DeleteWorkspaceRequest{}))
}

// registerAgent registers at the authorization server, and gives the secret of the claim link and its code.
func registerAgent(email string) (string, string) {
	given := must(json.Marshal(map[string]string{
		"type": "service_auth", "login_hint": email, "client_name": "Journey",
	}))
	address := os.Getenv("SIGNPOST_AUTH_URL") + "/agent/identity"
	answer := must(http.Post(address, "application/json", bytes.NewReader(given)))
	defer answer.Body.Close()
	check(answer.StatusCode == http.StatusOK, address, answer.Status)
	var registration struct {
		Claim struct {
			UserCode        string `json:"user_code"`
			VerificationURI string `json:"verification_uri"`
		} `json:"claim"`
	}
	err := json.NewDecoder(answer.Body).Decode(&registration)
	check(err == nil, err)
	link := must(url.Parse(registration.Claim.VerificationURI))
	return link.Query().Get("claim_attempt_token"), registration.Claim.UserCode
}
