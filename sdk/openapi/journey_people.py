"""The steps of the journey about members and their sessions."""

import os
import uuid

import openapi_client as signpost
from journey_support import session_token
from refusal import reason_of


def sign_in(client: signpost.ApiClient) -> None:
    """Signs in, and changes what only a member may."""
    configuration = signpost.Configuration(host=os.environ["SIGNPOST_URL"], access_token=session_token())
    with signpost.ApiClient(configuration) as own:
        members = signpost.MembersApi(own)
        myself = members.members_service_get_myself()
        assert myself.email == os.environ["SIGNPOST_EMAIL"], myself
        wanted = signpost.UpdateMyselfRequest(firstName="Ada", lastName="Lovelace")
        changed = members.members_service_update_myself(update_myself_request=wanted)
        assert (changed.first_name, changed.last_name) == ("Ada", "Lovelace"), changed
        visits = signpost.PlanLimitKey.PLAN_LIMIT_KEY_TRACKED_VISITS
        signpost.AllowancesApi(own).allowances_service_dismiss(signpost.DismissAllowanceNoticeRequest(key=visits))
        calls = signpost.GrantsApi(own)
        assert not calls.grants_service_list().grants
        missing = reason_of(lambda: calls.grants_service_revoke(str(uuid.uuid4())))
        assert missing == signpost.ErrorReason.NOT_FOUND, missing
    refused = reason_of(signpost.MembersApi(client).members_service_get_myself)
    assert refused == signpost.ErrorReason.MEMBER_SESSION_REQUIRED, refused


def invite(calls: signpost.MembersApi, name: str) -> None:
    """Invites a person, gives the person a role, takes all access away and gives it back; then deletes the person."""
    email = f"{name}@example.com"
    invited = calls.members_service_invite(signpost.InviteMemberRequest(email=email, firstName="Grace"))
    assert invited.role == signpost.MemberRole.MEMBER_ROLE_VIEWER, invited
    id = invited.id
    first = calls.members_service_list(page_size=1)
    second = calls.members_service_list(page_size=1, page_token=first.next_page_token)
    assert [each.id == id for each in first.members + second.members] == [True, False], first
    promotion = signpost.UpdateMemberRequest(role=signpost.MemberRole.MEMBER_ROLE_TECH)
    calls.members_service_update(id, update_member_request=promotion)
    read = calls.members_service_get(id)
    assert (read.role, read.first_name, read.email) == (signpost.MemberRole.MEMBER_ROLE_TECH, "Grace", email), read
    assert calls.members_service_revoke_access(id).access_revoked_at is not None
    assert calls.members_service_allow_access(id).access_revoked_at is None
    calls.members_service_force_signout(id)
    calls.members_service_delete(id)
    gone = reason_of(lambda: calls.members_service_get(id))
    assert gone == signpost.ErrorReason.NOT_FOUND, gone
