"""The steps of the journey about messages in Slack."""

import openapi_client as signpost
from refusal import reason_of


def ask_for_slack(calls: signpost.SlackIntegrationsApi) -> None:
    """Finds that no team is connected, and that nothing can be sent."""
    missing = signpost.ErrorReason.NOT_FOUND
    assert calls.slack_integrations_service_get().slack_integration is None
    assert reason_of(calls.slack_integrations_service_get_o_auth_url) == signpost.ErrorReason.FAILED_PRECONDITION
    code = signpost.CompleteSlackOAuthRequest(code="none", state="none")
    assert reason_of(lambda: calls.slack_integrations_service_complete_o_auth(code)) == signpost.ErrorReason.INVALID_STATE
    assert reason_of(calls.slack_integrations_service_list_channels) == missing
    assert reason_of(lambda: calls.slack_integrations_service_join_channel("none")) == missing
    assert reason_of(calls.slack_integrations_service_test) == missing
    status = signpost.SlackIntegrationStatus.SLACK_INTEGRATION_STATUS_PAUSED
    paused = signpost.UpdateSlackIntegrationRequest(status=status)
    update = calls.slack_integrations_service_update
    assert reason_of(lambda: update(update_slack_integration_request=paused)) == missing
    assert reason_of(calls.slack_integrations_service_delete) == missing
