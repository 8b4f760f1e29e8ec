use std::env;

use signpost_client::v1::{
    AllowMemberAccessRequest, DeleteMemberRequest, DismissAllowanceNoticeRequest, ForceMemberSignoutRequest,
    GetMemberRequest, GetMyselfRequest, InviteMemberRequest, ListGrantsRequest, ListMembersRequest, PlanLimitKey,
    RevokeGrantRequest, RevokeMemberAccessRequest, UpdateMemberRequest, UpdateMyselfRequest, member,
};
use signpost_client::{Client, items};

use crate::support::{Outcome, mask, reason_of, session_token};

/// Signs the workspace's administrator in, and changes what only a member may.
pub async fn sign_in(client: &Client) -> Outcome<()> {
    let own = Client::new(&env::var("SIGNPOST_URL")?, &session_token()?)?;
    let myself = own.members().get_myself(GetMyselfRequest {}).await?.into_inner().member.unwrap_or_default();
    assert_eq!(myself.email, env::var("SIGNPOST_EMAIL")?);
    let named = UpdateMyselfRequest { first_name: "Ada".into(), last_name: "Lovelace".into(), ..Default::default() };
    let changed = own.members().update_myself(named).await?.into_inner().member.unwrap_or_default();
    assert_eq!((&*changed.first_name, &*changed.last_name), ("Ada", "Lovelace"));
    let notice = DismissAllowanceNoticeRequest { key: PlanLimitKey::TrackedVisits.into() };
    own.allowances().dismiss(notice).await?;
    assert!(own.grants().list(ListGrantsRequest {}).await?.into_inner().grants.is_empty());
    let missing = RevokeGrantRequest { id: "01900000-0000-7000-8000-000000000000".into() };
    assert_eq!(reason_of(own.grants().revoke(missing).await), "NOT_FOUND");
    let refused = client.members().get_myself(GetMyselfRequest {}).await;
    assert_eq!(reason_of(refused), "MEMBER_SESSION_REQUIRED");
    Ok(())
}

/// Invites a person, gives the person a role, takes all access away and gives it back; then deletes the person.
pub async fn invite(client: &Client, name: &str) -> Outcome<()> {
    let mut calls = client.members();
    let email = format!("{name}@example.com");
    let wanted = InviteMemberRequest { email: email.clone(), first_name: "Grace".into(), ..Default::default() };
    let invited = calls.invite(wanted).await?.into_inner().member.unwrap_or_default();
    assert_eq!(invited.role(), member::Role::Viewer);
    let id = invited.id;
    let mut listed =
        items(ListMembersRequest { page_size: 1, ..Default::default() }, async |request| calls.list(request).await);
    assert_eq!(listed.next().await?.unwrap_or_default().id, id);
    assert!(listed.next().await?.is_some());
    assert!(listed.next().await?.is_none());
    let mut calls = client.members();
    let promotion = UpdateMemberRequest {
        id: id.clone(),
        role: member::Role::Tech.into(),
        first_name: "ignored".into(),
        update_mask: mask(&["role"]),
        ..Default::default()
    };
    calls.update(promotion).await?;
    let read = calls.get(GetMemberRequest { id: id.clone() }).await?.into_inner().member.unwrap_or_default();
    assert_eq!((read.role(), &*read.first_name, &*read.email), (member::Role::Tech, "Grace", &*email));
    let revoked = calls.revoke_access(RevokeMemberAccessRequest { id: id.clone() }).await?.into_inner();
    assert!(revoked.member.unwrap_or_default().access_revoked_at.is_some());
    let allowed = calls.allow_access(AllowMemberAccessRequest { id: id.clone() }).await?.into_inner();
    assert!(allowed.member.unwrap_or_default().access_revoked_at.is_none());
    calls.force_signout(ForceMemberSignoutRequest { id: id.clone() }).await?;
    calls.delete(DeleteMemberRequest { id: id.clone() }).await?;
    assert_eq!(reason_of(calls.get(GetMemberRequest { id }).await), "NOT_FOUND");
    Ok(())
}
