package signpost;

import static signpost.JourneySupport.check;
import static signpost.JourneySupport.in;
import static signpost.JourneySupport.mask;
import static signpost.JourneySupport.reasonOf;
import static signpost.JourneySupport.until;

import com.google.protobuf.Timestamp;
import java.time.Duration;
import java.util.List;
import signpost.v1.*;

/** The steps of {@link Journey} about messages to other services. */
final class WebhookSteps {
  private final Client client;

  WebhookSteps(Client client) {
    this.client = client;
  }

  /** Has messages sent to an address that is not there, sends them again, and deletes the webhook. */
  void subscribe() {
    var calls = client.webhooks();
    Timestamp since = in(Duration.ofMinutes(-10));
    String reason = reasonOf(() -> calls.create(wanted("https://10.0.0.1/hooks")));
    check(reason.equals("INVALID_ENDPOINT_URL"), reason);
    CreateWebhookResponse made = calls.create(wanted("https://hooks.invalid/journey"));
    check(made.getSigningSecret().startsWith("whsec_"), made.getWebhook());
    String id = made.getWebhook().getId();
    UpdateWebhookRequest.Builder change =
        UpdateWebhookRequest.newBuilder().setId(id).setName("Renamed").setRotateSecret(true);
    UpdateWebhookResponse changed = calls.update(change.setUpdateMask(mask("rotate_secret")).build());
    check(!changed.getSigningSecret().equals(made.getSigningSecret()), changed.getWebhook());
    Webhook read = calls.get(GetWebhookRequest.newBuilder().setId(id).build()).getWebhook();
    check(read.getName().equals("Journey"), read);
    ListWebhooksRequest active =
        ListWebhooksRequest.newBuilder().setStatus(WebhookStatus.WEBHOOK_STATUS_ACTIVE).build();
    check(calls.list(active).getWebhooksList().stream().anyMatch(each -> each.getId().equals(id)), active);
    String testId = calls.sendTest(SendWebhookTestRequest.newBuilder().setId(id).build()).getDelivery().getId();
    ListWebhookDeliveriesRequest ofWebhook = ListWebhookDeliveriesRequest.newBuilder().setId(id).build();
    List<WebhookDelivery> listed = calls.listDeliveries(ofWebhook).getDeliveriesList();
    check(listed.stream().anyMatch(each -> each.getId().equals(testId)), listed);
    calls.resendDelivery(ResendWebhookDeliveryRequest.newBuilder().setId(id).setDeliveryId(testId).build());
    ListWebhookMessagesRequest recent = ListWebhookMessagesRequest.newBuilder().setSince(since).build();
    check(calls.listMessages(recent).getMessagesCount() > 0, recent);
    ReplayWebhookDeliveriesRequest again =
        ReplayWebhookDeliveriesRequest.newBuilder().setId(id).setSince(since).build();
    GetJobRequest job = GetJobRequest.newBuilder().setId(calls.replayDeliveries(again).getJob().getId()).build();
    until("the replay", () -> client.jobs().get(job).getJob().hasWebhookReplay());
    calls.delete(DeleteWebhookRequest.newBuilder().setId(id).build());
  }

  private static CreateWebhookRequest wanted(String endpointUrl) {
    return CreateWebhookRequest.newBuilder().setName("Journey").setEndpointUrl(endpointUrl).build();
  }
}
