package signpost;

import static signpost.JourneySupport.check;
import static signpost.JourneySupport.reasonOf;

import signpost.v1.*;

/** The steps of {@link Journey} about messages in Slack. */
final class SlackSteps {
  private final Client client;

  SlackSteps(Client client) {
    this.client = client;
  }

  /** Finds that no team is connected, and that nothing can be sent. */
  void askForSlack() {
    var calls = client.slackIntegrations();
    var found = calls.get(GetSlackIntegrationRequest.getDefaultInstance());
    check(!found.hasSlackIntegration(), found);
    String address = reasonOf(() -> calls.getOAuthURL(GetSlackOAuthURLRequest.getDefaultInstance()));
    check(address.equals("FAILED_PRECONDITION"), address);
    CompleteSlackOAuthRequest code =
        CompleteSlackOAuthRequest.newBuilder().setCode("none").setState("none").build();
    String completed = reasonOf(() -> calls.completeOAuth(code));
    check(completed.equals("INVALID_STATE"), completed);
    String listed = reasonOf(() -> calls.listChannels(ListSlackChannelsRequest.getDefaultInstance()));
    check(listed.equals("NOT_FOUND"), listed);
    JoinSlackChannelRequest channel = JoinSlackChannelRequest.newBuilder().setId("none").build();
    String joined = reasonOf(() -> calls.joinChannel(channel));
    check(joined.equals("NOT_FOUND"), joined);
    String tested = reasonOf(() -> calls.test(TestSlackIntegrationRequest.getDefaultInstance()));
    check(tested.equals("NOT_FOUND"), tested);
    UpdateSlackIntegrationRequest paused =
        UpdateSlackIntegrationRequest.newBuilder()
            .setStatus(SlackIntegrationStatus.SLACK_INTEGRATION_STATUS_PAUSED)
            .build();
    String updated = reasonOf(() -> calls.update(paused));
    check(updated.equals("NOT_FOUND"), updated);
    String deleted = reasonOf(() -> calls.delete(DeleteSlackIntegrationRequest.getDefaultInstance()));
    check(deleted.equals("NOT_FOUND"), deleted);
  }
}
