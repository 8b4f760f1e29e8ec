"""The steps of the journey about members and their sessions."""

import os
import uuid

from google.protobuf.field_mask_pb2 import FieldMask
from journey_support import session_token
from signpost import Client, items
from signpost.v1 import allowances_service_pb2 as allowances
from signpost.v1 import grants_service_pb2 as grants
from signpost.v1 import members_service_pb2 as members
from signpost.v1.member_pb2 import Member
from signpost.v1.plan_limit_pb2 import PLAN_LIMIT_KEY_TRACKED_VISITS
from smoke import failure


def sign_in(client: Client) -> None:
    """Signs in, and changes what only a member may."""
    with Client(os.environ["SIGNPOST_URL"], session_token()) as own:
        myself = own.members.GetMyself(members.GetMyselfRequest()).member
        assert myself.email == os.environ["SIGNPOST_EMAIL"], myself
        wanted = members.UpdateMyselfRequest(first_name="Ada", last_name="Lovelace")
        changed = own.members.UpdateMyself(wanted).member
        assert (changed.first_name, changed.last_name) == ("Ada", "Lovelace"), changed
        own.allowances.Dismiss(allowances.DismissAllowanceNoticeRequest(key=PLAN_LIMIT_KEY_TRACKED_VISITS))
        assert not own.grants.List(grants.ListGrantsRequest()).grants
        missing = failure(lambda: own.grants.Revoke(grants.RevokeGrantRequest(id=str(uuid.uuid4()))))
        assert missing.reason == "NOT_FOUND", missing
    refused = failure(lambda: client.members.GetMyself(members.GetMyselfRequest()))
    assert refused.reason == "MEMBER_SESSION_REQUIRED", refused


def invite(client: Client, name: str) -> None:
    """Invites a person, gives the person a role, takes all access away and gives it back; then deletes the person."""
    stub = client.members
    email = f"{name}@example.com"
    invited = stub.Invite(members.InviteMemberRequest(email=email, first_name="Grace")).member
    assert invited.role == Member.ROLE_VIEWER, invited
    id = invited.id
    listed = list(items(stub.List, members.ListMembersRequest(page_size=1), lambda page: page.members))
    assert [len(listed), listed[0].id] == [2, id], listed
    wanted = members.UpdateMemberRequest(
        id=id, role=Member.ROLE_TECH, first_name="ignored", update_mask=FieldMask(paths=["role"])
    )
    stub.Update(wanted)
    read = stub.Get(members.GetMemberRequest(id=id)).member
    assert (read.role, read.first_name, read.email) == (Member.ROLE_TECH, "Grace", email), read
    revoked = stub.RevokeAccess(members.RevokeMemberAccessRequest(id=id)).member
    assert revoked.HasField("access_revoked_at"), revoked
    allowed = stub.AllowAccess(members.AllowMemberAccessRequest(id=id)).member
    assert not allowed.HasField("access_revoked_at"), allowed
    stub.ForceSignout(members.ForceMemberSignoutRequest(id=id))
    stub.Delete(members.DeleteMemberRequest(id=id))
    gone = failure(lambda: stub.Get(members.GetMemberRequest(id=id)))
    assert gone.reason == "NOT_FOUND", gone
