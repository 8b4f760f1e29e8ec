"""The steps of the journey about messages in Slack."""

from signpost import Client
from signpost.v1 import slack_integrations_service_pb2 as slack
from signpost.v1.slack_integration_pb2 import SLACK_INTEGRATION_STATUS_PAUSED
from smoke import failure


def ask_for_slack(client: Client) -> None:
    """Finds that no team is connected, and that nothing can be sent."""
    stub = client.slack_integrations
    assert not stub.Get(slack.GetSlackIntegrationRequest()).HasField("slack_integration")
    address = slack.GetSlackOAuthURLRequest()
    assert failure(lambda: stub.GetOAuthURL(address)).reason == "FAILED_PRECONDITION"
    code = slack.CompleteSlackOAuthRequest(code="none", state="none")
    assert failure(lambda: stub.CompleteOAuth(code)).reason == "INVALID_STATE"
    assert failure(lambda: stub.ListChannels(slack.ListSlackChannelsRequest())).reason == "NOT_FOUND"
    channel = slack.JoinSlackChannelRequest(id="none")
    assert failure(lambda: stub.JoinChannel(channel)).reason == "NOT_FOUND"
    assert failure(lambda: stub.Test(slack.TestSlackIntegrationRequest())).reason == "NOT_FOUND"
    paused = slack.UpdateSlackIntegrationRequest(status=SLACK_INTEGRATION_STATUS_PAUSED)
    assert failure(lambda: stub.Update(paused)).reason == "NOT_FOUND"
    assert failure(lambda: stub.Delete(slack.DeleteSlackIntegrationRequest())).reason == "NOT_FOUND"
