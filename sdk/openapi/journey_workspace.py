"""The steps of the journey about the workspace and what it may use."""

import openapi_client as signpost
from refusal import reason_of


def open_workspace(client: signpost.ApiClient, slug: str) -> None:
    """Names the workspace, makes it public, and reads what it may use."""
    calls = signpost.WorkspacesApi(client)
    id = calls.workspaces_service_get_my_workspace().id
    assert calls.workspaces_service_get_workspace(id).id == id
    enroll = calls.workspaces_service_request_enrollment
    assert reason_of(enroll) == signpost.ErrorReason.WORKSPACE_NOT_READY
    about = "Walked by a client"
    wanted = signpost.UpdateWorkspaceRequest(name="Journey", slug=slug, description=about)
    assert calls.workspaces_service_update(update_workspace_request=wanted).slug == slug
    renamed = signpost.UpdateWorkspaceRequest(name="Renamed")
    changed = calls.workspaces_service_update(update_workspace_request=renamed)
    assert (changed.name, changed.description) == ("Renamed", about), changed
    calls.workspaces_service_update_origin_inquiry(
        update_workspace_origin_inquiry_request=signpost.UpdateWorkspaceOriginInquiryRequest(originInquiry="a friend")
    )
    calls.workspaces_service_update_origin_purpose(
        update_workspace_origin_purpose_request=signpost.UpdateWorkspaceOriginPurposeRequest(originPurpose="menus")
    )
    enroll(request_workspace_enrollment_request=signpost.RequestWorkspaceEnrollmentRequest(message="please"))
    assert calls.workspaces_service_public_get_workspace(slug).name == "Renamed"

    plans = signpost.PricingApi(client).pricing_service_list_plans().plans
    allowed = signpost.AllowancesApi(client).allowances_service_list()
    assert allowed.plan in [each.id for each in plans], allowed
    visits = signpost.PlanLimitKey.PLAN_LIMIT_KEY_TRACKED_VISITS
    assert visits in [each.key for each in allowed.allowances], allowed


def close_workspace(client: signpost.ApiClient) -> None:
    """Deletes the workspace, after which its token is refused."""
    calls = signpost.WorkspacesApi(client)
    calls.workspaces_service_delete()
    assert reason_of(calls.workspaces_service_get_my_workspace) == signpost.ErrorReason.UNAUTHENTICATED
