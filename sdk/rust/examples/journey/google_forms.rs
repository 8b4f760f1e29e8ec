use signpost_client::Client;
use signpost_client::v1::{
    CompleteGoogleFormsOAuthRequest, DeleteGoogleFormsIntegrationRequest, GetGoogleFormsIntegrationRequest,
    GetGoogleFormsOAuthUrlRequest, GoogleFormsIntegrationStatus, ListDetectedGoogleFormsRequest,
    SyncGoogleFormsRequest, UpdateGoogleFormsIntegrationRequest,
};

use crate::support::{Outcome, reason_of};

/// Finds that no account is connected and no link leads to a form, and that nothing can be fetched.
pub async fn ask_for_forms(client: &Client) -> Outcome<()> {
    let mut calls = client.google_forms_integrations();
    let found = calls.get(GetGoogleFormsIntegrationRequest::default()).await?.into_inner();
    assert!(found.integration.is_none(), "{found:?}");
    let listed = calls.list_detected_forms(ListDetectedGoogleFormsRequest::default()).await?.into_inner();
    assert!(listed.forms.is_empty(), "{listed:?}");
    let address = calls.get_o_auth_url(GetGoogleFormsOAuthUrlRequest::default()).await;
    assert_eq!(reason_of(address), "FAILED_PRECONDITION");
    let code = CompleteGoogleFormsOAuthRequest { code: "none".into(), state: "none".into() };
    assert_eq!(reason_of(calls.complete_o_auth(code).await), "INVALID_STATE");
    assert_eq!(reason_of(calls.sync_now(SyncGoogleFormsRequest::default()).await), "NOT_FOUND");
    let mut paused = UpdateGoogleFormsIntegrationRequest::default();
    paused.set_status(GoogleFormsIntegrationStatus::Paused);
    assert_eq!(reason_of(calls.update(paused).await), "NOT_FOUND");
    assert_eq!(reason_of(calls.delete(DeleteGoogleFormsIntegrationRequest::default()).await), "NOT_FOUND");
    Ok(())
}
