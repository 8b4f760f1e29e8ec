"""The step of the journey about agents and the people who claim their workspaces."""

import json
import os
import urllib.parse
import urllib.request

from signpost import Client
from signpost.v1 import agent_identity_service_pb2 as identity
from signpost.v1 import members_service_pb2 as members
from signpost.v1 import workspaces_service_pb2 as workspaces
from signpost.v1.agent_claim_link_pb2 import AGENT_CLAIM_STATUS_PENDING


def claim_as_person(client: Client, name: str) -> None:
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
    link = client.agent_identity.LookupClaim(identity.LookupAgentClaimRequest(claim_attempt_token=token)).claim_link
    assert (link.email, link.status) == (email, AGENT_CLAIM_STATUS_PENDING), link
    proof = identity.CompleteAgentClaimRequest(
        claim_attempt_token=token, user_code=claim["user_code"], password="correct horse battery"
    )
    member = client.agent_identity.CompleteClaim(proof).member
    with Client(os.environ["SIGNPOST_URL"], member.access_token) as own:
        assert own.members.GetMyself(members.GetMyselfRequest()).member.email == email
        own.workspaces.Delete(workspaces.DeleteWorkspaceRequest())
