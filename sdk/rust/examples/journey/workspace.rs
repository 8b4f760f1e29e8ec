use signpost_client::Client;
use signpost_client::v1::{
    DeleteWorkspaceRequest, GetMyWorkspaceRequest, GetWorkspaceRequest, ListAllowancesRequest, ListPlansRequest,
    PlanLimitKey, PublicGetWorkspaceRequest, RequestWorkspaceEnrollmentRequest, UpdateWorkspaceOriginInquiryRequest,
    UpdateWorkspaceOriginPurposeRequest, UpdateWorkspaceRequest,
};

use crate::support::{Outcome, mask, reason_of};

/// Names the workspace, makes it public, and reads what it may use.
pub async fn open(client: &Client, slug: &str) -> Outcome<()> {
    let mut calls = client.workspaces();
    let id = calls.get_my_workspace(GetMyWorkspaceRequest {}).await?.into_inner().workspace.unwrap_or_default().id;
    let read = calls.get_workspace(GetWorkspaceRequest { id: id.clone() }).await?.into_inner().workspace;
    assert_eq!(read.unwrap_or_default().id, id);
    let early = calls.request_enrollment(RequestWorkspaceEnrollmentRequest::default()).await;
    assert_eq!(reason_of(early), "WORKSPACE_NOT_READY");
    let about = "Walked by a client";
    let wanted = UpdateWorkspaceRequest {
        name: "Journey".into(),
        slug: slug.into(),
        description: about.into(),
        ..Default::default()
    };
    assert_eq!(calls.update(wanted).await?.into_inner().workspace.unwrap_or_default().slug, slug);
    let masked = UpdateWorkspaceRequest {
        name: "Renamed".into(),
        description: "ignored".into(),
        update_mask: mask(&["name"]),
        ..Default::default()
    };
    let changed = calls.update(masked).await?.into_inner().workspace.unwrap_or_default();
    assert_eq!((&*changed.name, &*changed.description), ("Renamed", about));
    calls.update_origin_inquiry(UpdateWorkspaceOriginInquiryRequest { origin_inquiry: "a friend".into() }).await?;
    calls.update_origin_purpose(UpdateWorkspaceOriginPurposeRequest { origin_purpose: "menus".into() }).await?;
    calls.request_enrollment(RequestWorkspaceEnrollmentRequest { message: "please".into() }).await?;
    let public = calls.public_get_workspace(PublicGetWorkspaceRequest { slug: slug.into() }).await?.into_inner();
    assert_eq!(public.public_workspace.unwrap_or_default().name, "Renamed");

    let plans = client.pricing().list_plans(ListPlansRequest {}).await?.into_inner().plans;
    let allowed = client.allowances().list(ListAllowancesRequest {}).await?.into_inner();
    assert!(plans.iter().any(|each| each.id == allowed.plan), "{plans:?}");
    assert!(allowed.allowances.iter().any(|each| each.key() == PlanLimitKey::TrackedVisits), "{allowed:?}");
    Ok(())
}

/// Deletes the workspace, after which its token is refused.
pub async fn close(client: &Client) -> Outcome<()> {
    let mut calls = client.workspaces();
    calls.delete(DeleteWorkspaceRequest {}).await?;
    let refused = calls.get_my_workspace(GetMyWorkspaceRequest {}).await;
    assert_eq!(reason_of(refused), "UNAUTHENTICATED");
    Ok(())
}
