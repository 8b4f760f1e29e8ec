"""The step of the journey about agents and the people who claim their workspaces."""

import json
import os
import urllib.parse
import urllib.request

import openapi_client as signpost


def claim_as_person(calls: signpost.AgentIdentityApi, name: str) -> None:
    """Registers as an agent, and claims the workspace as its person."""
    email = f"{name}-agent@example.com"
    request = urllib.request.Request(
        f"{os.environ['SIGNPOST_AUTH_URL']}/agent/identity",
        data=json.dumps({"type": "service_auth", "login_hint": email, "client_name": "Journey"}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        claim = json.load(answer)["claim"]
    query = urllib.parse.urlsplit(claim["verification_uri"]).query
    token = urllib.parse.parse_qs(query)["claim_attempt_token"][0]
    link = calls.agent_identity_service_lookup_claim(signpost.LookupAgentClaimRequest(claimAttemptToken=token))
    pending = signpost.AgentClaimStatus.AGENT_CLAIM_STATUS_PENDING
    assert (link.email, link.status) == (email, pending), link
    proof = signpost.CompleteAgentClaimRequest(
        claimAttemptToken=token, userCode=claim["user_code"], password="correct horse battery"
    )
    member = calls.agent_identity_service_complete_claim(proof)
    configuration = signpost.Configuration(host=os.environ["SIGNPOST_URL"], access_token=member.access_token)
    with signpost.ApiClient(configuration) as own:
        assert signpost.MembersApi(own).members_service_get_myself().email == email
        signpost.WorkspacesApi(own).workspaces_service_delete()
