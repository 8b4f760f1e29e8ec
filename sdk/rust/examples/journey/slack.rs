use signpost_client::Client;
use signpost_client::v1::{
    CompleteSlackOAuthRequest, DeleteSlackIntegrationRequest, GetSlackIntegrationRequest, GetSlackOAuthUrlRequest,
    JoinSlackChannelRequest, ListSlackChannelsRequest, SlackIntegrationStatus, TestSlackIntegrationRequest,
    UpdateSlackIntegrationRequest,
};

use crate::support::{Outcome, reason_of};

/// Finds that no team is connected, and that nothing can be sent.
pub async fn ask_for_slack(client: &Client) -> Outcome<()> {
    let mut calls = client.slack_integrations();
    let found = calls.get(GetSlackIntegrationRequest::default()).await?.into_inner();
    assert!(found.slack_integration.is_none(), "{found:?}");
    let address = calls.get_o_auth_url(GetSlackOAuthUrlRequest::default()).await;
    assert_eq!(reason_of(address), "FAILED_PRECONDITION");
    let code = CompleteSlackOAuthRequest { code: "none".into(), state: "none".into() };
    assert_eq!(reason_of(calls.complete_o_auth(code).await), "INVALID_STATE");
    assert_eq!(reason_of(calls.list_channels(ListSlackChannelsRequest::default()).await), "NOT_FOUND");
    let channel = JoinSlackChannelRequest { id: "none".into() };
    assert_eq!(reason_of(calls.join_channel(channel).await), "NOT_FOUND");
    assert_eq!(reason_of(calls.test(TestSlackIntegrationRequest::default()).await), "NOT_FOUND");
    let mut paused = UpdateSlackIntegrationRequest::default();
    paused.set_status(SlackIntegrationStatus::Paused);
    assert_eq!(reason_of(calls.update(paused).await), "NOT_FOUND");
    assert_eq!(reason_of(calls.delete(DeleteSlackIntegrationRequest::default()).await), "NOT_FOUND");
    Ok(())
}
