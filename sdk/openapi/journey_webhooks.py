"""The steps of the journey about messages to other services."""

from datetime import datetime, timedelta, timezone

import openapi_client as signpost
from journey_support import until
from refusal import reason_of


def subscribe(client: signpost.ApiClient) -> None:
    """Has messages sent to an address that is not there, sends them again, and deletes the webhook."""
    calls, jobs = signpost.WebhooksApi(client), signpost.JobsApi(client)
    since = datetime.now(timezone.utc) - timedelta(minutes=10)
    wrong = signpost.CreateWebhookRequest(name="Journey", endpointUrl="https://10.0.0.1/hooks")
    expected = signpost.ErrorReason.INVALID_ENDPOINT_URL
    assert reason_of(lambda: calls.webhooks_service_create(wrong), expected) == expected
    wanted = signpost.CreateWebhookRequest(name="Journey", endpointUrl="https://hooks.invalid/journey")
    made = calls.webhooks_service_create(wanted)
    assert made.signing_secret.startswith("whsec_"), made
    id = made.webhook.id
    change = signpost.UpdateWebhookRequest(rotateSecret=True)
    assert calls.webhooks_service_update(id, update_webhook_request=change).signing_secret != made.signing_secret
    assert calls.webhooks_service_get(id).webhook.name == "Journey"
    active = calls.webhooks_service_list(status=signpost.WebhookStatus.WEBHOOK_STATUS_ACTIVE).webhooks
    assert id in [each.id for each in active], active
    test = calls.webhooks_service_send_test(id).delivery
    deliveries = calls.webhooks_service_list_deliveries(id).deliveries
    assert test.id in [each.id for each in deliveries], deliveries
    calls.webhooks_service_resend_delivery(id, test.id)
    assert calls.webhooks_service_list_messages(since=since).messages
    again = signpost.ReplayWebhookDeliveriesRequest(since=since)
    replay = calls.webhooks_service_replay_deliveries(id, again).id
    until("the replay", lambda: jobs.jobs_service_get(replay).webhook_replay)
    calls.webhooks_service_delete(id)
