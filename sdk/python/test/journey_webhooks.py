"""The steps of the journey about messages to other services."""

import json
import time

from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.timestamp_pb2 import Timestamp
from journey_support import until
from signpost import Client
from signpost.v1 import jobs_service_pb2 as jobs
from signpost.v1 import webhooks_service_pb2 as webhooks
from signpost.v1.webhook_pb2 import WEBHOOK_STATUS_ACTIVE
from smoke import failure


def subscribe(client: Client) -> None:
    """Has messages sent to an address that is not there, sends them again, and deletes the webhook."""
    stub = client.webhooks
    since = Timestamp(seconds=int(time.time()) - 600)
    wrong = webhooks.CreateWebhookRequest(name="Journey", endpoint_url="https://10.0.0.1/hooks")
    refused = failure(lambda: stub.Create(wrong))
    assert refused.reason == "INVALID_ENDPOINT_URL", refused
    wanted = webhooks.CreateWebhookRequest(name="Journey", endpoint_url="https://hooks.invalid/journey")
    made = stub.Create(wanted)
    assert made.signing_secret.startswith("whsec_"), made
    id = made.webhook.id
    change = webhooks.UpdateWebhookRequest(
        id=id, name="Renamed", rotate_secret=True, update_mask=FieldMask(paths=["rotate_secret"])
    )
    assert stub.Update(change).signing_secret != made.signing_secret
    assert stub.Get(webhooks.GetWebhookRequest(id=id)).webhook.name == "Journey"
    active = stub.List(webhooks.ListWebhooksRequest(status=WEBHOOK_STATUS_ACTIVE)).webhooks
    assert id in [each.id for each in active], active
    test = stub.SendTest(webhooks.SendWebhookTestRequest(id=id)).delivery
    deliveries = stub.ListDeliveries(webhooks.ListWebhookDeliveriesRequest(id=id)).deliveries
    assert (test.id, "webhook.test") in [(each.id, each.type) for each in deliveries], deliveries
    stub.ResendDelivery(webhooks.ResendWebhookDeliveryRequest(id=id, delivery_id=test.id))
    messages = stub.ListMessages(webhooks.ListWebhookMessagesRequest(since=since)).messages
    assert "workflow_step.completed" in [json.loads(each.body)["type"] for each in messages], messages
    replay = stub.ReplayDeliveries(webhooks.ReplayWebhookDeliveriesRequest(id=id, since=since)).job.id

    def finished() -> bool:
        return client.jobs.Get(jobs.GetJobRequest(id=replay)).job.HasField("webhook_replay")

    until("the replay", finished)
    stub.Delete(webhooks.DeleteWebhookRequest(id=id))
