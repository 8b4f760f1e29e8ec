"""The steps of the journey about responses of Google Forms."""

from signpost import Client
from signpost.v1 import google_forms_integrations_service_pb2 as forms
from signpost.v1.google_forms_integration_pb2 import GOOGLE_FORMS_INTEGRATION_STATUS_PAUSED
from smoke import failure


def ask_for_forms(client: Client) -> None:
    """Finds that no account is connected and no link leads to a form, and that nothing can be fetched."""
    stub = client.google_forms_integrations
    assert not stub.Get(forms.GetGoogleFormsIntegrationRequest()).HasField("integration")
    assert len(stub.ListDetectedForms(forms.ListDetectedGoogleFormsRequest()).forms) == 0
    address = forms.GetGoogleFormsOAuthURLRequest()
    assert failure(lambda: stub.GetOAuthURL(address)).reason == "FAILED_PRECONDITION"
    code = forms.CompleteGoogleFormsOAuthRequest(code="none", state="none")
    assert failure(lambda: stub.CompleteOAuth(code)).reason == "INVALID_STATE"
    assert failure(lambda: stub.SyncNow(forms.SyncGoogleFormsRequest())).reason == "NOT_FOUND"
    paused = forms.UpdateGoogleFormsIntegrationRequest(status=GOOGLE_FORMS_INTEGRATION_STATUS_PAUSED)
    assert failure(lambda: stub.Update(paused)).reason == "NOT_FOUND"
    assert failure(lambda: stub.Delete(forms.DeleteGoogleFormsIntegrationRequest())).reason == "NOT_FOUND"
