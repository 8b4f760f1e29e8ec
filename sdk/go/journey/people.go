package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"

	"signpost.example/signpost"
	v1 "signpost.example/signpost/v1"
)

// signIn signs the workspace's administrator in, and changes what only a member may.
func (j journey) signIn() {
	own := signpost.NewClient(os.Getenv("SIGNPOST_URL"), sessionToken())
	myself := must(own.Members.GetMyself(j.ctx, &v1.GetMyselfRequest{})).GetMember()
	check(myself.GetEmail() == os.Getenv("SIGNPOST_EMAIL"), myself)
	named := &v1.UpdateMyselfRequest{FirstName: "Ada", LastName: "Lovelace"}
	changed := must(own.Members.UpdateMyself(j.ctx, named)).GetMember()
	check(changed.GetFirstName() == "Ada" && changed.GetLastName() == "Lovelace", changed)
	notice := &v1.DismissAllowanceNoticeRequest{Key: v1.PlanLimitKey_PLAN_LIMIT_KEY_TRACKED_VISITS}
	must(own.Allowances.Dismiss(j.ctx, notice))
	check(len(must(own.Grants.List(j.ctx, &v1.ListGrantsRequest{})).GetGrants()) == 0)
	missing := reasonOf(own.Grants.Revoke(j.ctx, &v1.RevokeGrantRequest{Id: "01900000-0000-7000-8000-000000000000"}))
	check(missing == "NOT_FOUND", missing)
	reason := reasonOf(j.Members.GetMyself(j.ctx, &v1.GetMyselfRequest{}))
	check(reason == "MEMBER_SESSION_REQUIRED", reason)
}

// sessionToken is the token of a new session of the workspace's administrator.
func sessionToken() string {
	given := must(json.Marshal(map[string]string{
		"email": os.Getenv("SIGNPOST_EMAIL"), "password": os.Getenv("SIGNPOST_PASSWORD"),
	}))
	address := os.Getenv("SIGNPOST_AUTH_URL") + "/session"
	answer := must(http.Post(address, "application/json", bytes.NewReader(given)))
	defer answer.Body.Close()
	check(answer.StatusCode == http.StatusOK, address, answer.Status)
	var member struct {
		AccessToken string `json:"accessToken"`
	}
	err := json.NewDecoder(answer.Body).Decode(&member)
	check(err == nil && member.AccessToken != "", err)
	return member.AccessToken
}

// invite invites a person, gives the person a role, takes all access away and gives it back; then it deletes the person.
func (j journey) invite() {
	calls, email := j.Members, j.run+"@example.com"
	invited := must(calls.Invite(j.ctx, &v1.InviteMemberRequest{Email: email, FirstName: "Grace"})).GetMember()
	check(invited.GetRole() == v1.Member_ROLE_VIEWER, invited)
	id := invited.GetId()
	request := &v1.ListMembersRequest{PageSize: 1}
	listed := all(signpost.Items(j.ctx, calls.List, request, (*v1.ListMembersResponse).GetMembers))
	check(len(listed) == 2 && listed[0].GetId() == id, listed)
	must(calls.Update(j.ctx, &v1.UpdateMemberRequest{
		Id: id, Role: v1.Member_ROLE_TECH, FirstName: "ignored", UpdateMask: mask("role"),
	}))
	read := must(calls.Get(j.ctx, &v1.GetMemberRequest{Id: id})).GetMember()
	check(read.GetRole() == v1.Member_ROLE_TECH && read.GetFirstName() == "Grace" && read.GetEmail() == email, read)
	revoked := must(calls.RevokeAccess(j.ctx, &v1.RevokeMemberAccessRequest{Id: id})).GetMember()
	check(revoked.GetAccessRevokedAt() != nil, revoked)
	allowed := must(calls.AllowAccess(j.ctx, &v1.AllowMemberAccessRequest{Id: id})).GetMember()
	check(allowed.GetAccessRevokedAt() == nil, allowed)
	must(calls.ForceSignout(j.ctx, &v1.ForceMemberSignoutRequest{Id: id}))
	must(calls.Delete(j.ctx, &v1.DeleteMemberRequest{Id: id}))
	gone := reasonOf(calls.Get(j.ctx, &v1.GetMemberRequest{Id: id}))
	check(gone == "NOT_FOUND", gone)
}
