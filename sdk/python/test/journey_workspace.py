"""The steps of the journey about the workspace and what it may use."""

from google.protobuf.field_mask_pb2 import FieldMask
from signpost import Client
from signpost.v1 import allowances_service_pb2 as allowances
from signpost.v1 import pricing_service_pb2 as pricing
from signpost.v1 import workspaces_service_pb2 as workspaces
from signpost.v1.plan_limit_pb2 import PLAN_LIMIT_KEY_TRACKED_VISITS
from smoke import failure


def open_workspace(client: Client, slug: str) -> None:
    """Names the workspace, makes it public, and reads what it may use."""
    stub = client.workspaces
    id = stub.GetMyWorkspace(workspaces.GetMyWorkspaceRequest()).workspace.id
    assert stub.GetWorkspace(workspaces.GetWorkspaceRequest(id=id)).workspace.id == id
    early = failure(lambda: stub.RequestEnrollment(workspaces.RequestWorkspaceEnrollmentRequest()))
    assert early.reason == "WORKSPACE_NOT_READY", early
    about = "Walked by a client"
    wanted = workspaces.UpdateWorkspaceRequest(name="Journey", slug=slug, description=about)
    assert stub.Update(wanted).workspace.slug == slug
    masked = workspaces.UpdateWorkspaceRequest(
        name="Renamed", description="ignored", update_mask=FieldMask(paths=["name"])
    )
    changed = stub.Update(masked).workspace
    assert (changed.name, changed.description) == ("Renamed", about), changed
    stub.UpdateOriginInquiry(workspaces.UpdateWorkspaceOriginInquiryRequest(origin_inquiry="a friend"))
    stub.UpdateOriginPurpose(workspaces.UpdateWorkspaceOriginPurposeRequest(origin_purpose="menus"))
    stub.RequestEnrollment(workspaces.RequestWorkspaceEnrollmentRequest(message="please"))
    public = stub.PublicGetWorkspace(workspaces.PublicGetWorkspaceRequest(slug=slug)).public_workspace
    assert public.name == "Renamed", public

    plans = client.pricing.ListPlans(pricing.ListPlansRequest()).plans
    allowed = client.allowances.List(allowances.ListAllowancesRequest())
    assert allowed.plan in [each.id for each in plans], allowed
    assert PLAN_LIMIT_KEY_TRACKED_VISITS in [each.key for each in allowed.allowances], allowed


def close_workspace(client: Client) -> None:
    """Deletes the workspace, after which its token is refused."""
    client.workspaces.Delete(workspaces.DeleteWorkspaceRequest())
    refused = failure(lambda: client.workspaces.GetMyWorkspace(workspaces.GetMyWorkspaceRequest()))
    assert refused.reason == "UNAUTHENTICATED", refused
