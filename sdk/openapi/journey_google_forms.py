"""The steps of the journey about responses of Google Forms."""

import openapi_client as signpost
from refusal import reason_of


def ask_for_forms(calls: signpost.GoogleFormsIntegrationsApi) -> None:
    """Finds that no account is connected and no link leads to a form, and that nothing can be fetched."""
    assert calls.google_forms_integrations_service_get().integration is None
    assert len(calls.google_forms_integrations_service_list_detected_forms().forms) == 0
    assert reason_of(calls.google_forms_integrations_service_get_o_auth_url) == signpost.ErrorReason.FAILED_PRECONDITION
    code = signpost.CompleteGoogleFormsOAuthRequest(code="none", state="none")
    assert reason_of(lambda: calls.google_forms_integrations_service_complete_o_auth(code)) == signpost.ErrorReason.INVALID_STATE
    assert reason_of(calls.google_forms_integrations_service_sync_now) == signpost.ErrorReason.NOT_FOUND
    status = signpost.GoogleFormsIntegrationStatus.GOOGLE_FORMS_INTEGRATION_STATUS_PAUSED
    paused = signpost.UpdateGoogleFormsIntegrationRequest(status=status)
    update = calls.google_forms_integrations_service_update
    assert reason_of(lambda: update(update_google_forms_integration_request=paused)) == signpost.ErrorReason.NOT_FOUND
    assert reason_of(calls.google_forms_integrations_service_delete) == signpost.ErrorReason.NOT_FOUND
