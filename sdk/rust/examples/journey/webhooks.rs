use signpost_client::Client;
use signpost_client::v1::{
    CreateWebhookRequest, DeleteWebhookRequest, GetJobRequest, GetWebhookRequest, ListWebhookDeliveriesRequest,
    ListWebhookMessagesRequest, ListWebhooksRequest, ReplayWebhookDeliveriesRequest, ResendWebhookDeliveryRequest,
    SendWebhookTestRequest, UpdateWebhookRequest, WebhookStatus,
};

use crate::support::{Outcome, in_seconds, mask, reason_of, until};

/// Has messages sent to an address that is not there, sends them again, and deletes the webhook.
pub async fn subscribe(client: &Client) -> Outcome<()> {
    let mut calls = client.webhooks();
    let since = in_seconds(-600)?;
    let wanted = |endpoint_url: &str| CreateWebhookRequest {
        name: "Journey".into(),
        endpoint_url: endpoint_url.into(),
        ..Default::default()
    };
    assert_eq!(reason_of(calls.create(wanted("https://10.0.0.1/hooks")).await), "INVALID_ENDPOINT_URL");
    let made = calls.create(wanted("https://hooks.invalid/journey")).await?.into_inner();
    let secret = made.signing_secret.unwrap_or_default();
    assert!(secret.starts_with("whsec_"));
    let id = made.webhook.unwrap_or_default().id;
    let change = UpdateWebhookRequest {
        id: id.clone(),
        name: "Renamed".into(),
        rotate_secret: true,
        update_mask: mask(&["rotate_secret"]),
        ..Default::default()
    };
    assert_ne!(calls.update(change).await?.into_inner().signing_secret, Some(secret));
    let read = calls.get(GetWebhookRequest { id: id.clone() }).await?.into_inner().webhook.unwrap_or_default();
    assert_eq!(read.name, "Journey");
    let mut active = ListWebhooksRequest::default();
    active.set_status(WebhookStatus::Active);
    let active = calls.list(active).await?.into_inner().webhooks;
    assert!(active.iter().any(|each| each.id == id), "{active:?}");
    let test = calls.send_test(SendWebhookTestRequest { id: id.clone() }).await?.into_inner();
    let delivery_id = test.delivery.unwrap_or_default().id;
    let asked = ListWebhookDeliveriesRequest { id: id.clone(), ..Default::default() };
    let listed = calls.list_deliveries(asked).await?.into_inner().deliveries;
    assert!(listed.iter().any(|each| each.id == delivery_id), "{listed:?}");
    calls.resend_delivery(ResendWebhookDeliveryRequest { id: id.clone(), delivery_id }).await?;
    let messages = calls.list_messages(ListWebhookMessagesRequest { since }).await?.into_inner().messages;
    assert!(!messages.is_empty());
    let again = ReplayWebhookDeliveriesRequest { id: id.clone(), since, ..Default::default() };
    let replay = calls.replay_deliveries(again).await?.into_inner().job.unwrap_or_default().id;
    until("the replay", async || {
        let job = client.jobs().get(GetJobRequest { id: replay.clone() }).await?.into_inner().job.unwrap_or_default();
        assert_eq!(job.error, None);
        Ok(job.webhook_replay)
    })
    .await?;
    calls.delete(DeleteWebhookRequest { id }).await?;
    Ok(())
}
