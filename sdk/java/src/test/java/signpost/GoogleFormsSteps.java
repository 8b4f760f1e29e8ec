package signpost;

import static signpost.JourneySupport.check;
import static signpost.JourneySupport.reasonOf;

import signpost.v1.*;

/** The steps of {@link Journey} about responses of Google Forms. */
final class GoogleFormsSteps {
  private final Client client;

  GoogleFormsSteps(Client client) {
    this.client = client;
  }

  /** Finds that no account is connected and no link leads to a form, and that nothing can be fetched. */
  void askForForms() {
    var calls = client.googleFormsIntegrations();
    var found = calls.get(GetGoogleFormsIntegrationRequest.getDefaultInstance());
    check(!found.hasIntegration(), found);
    var listed = calls.listDetectedForms(ListDetectedGoogleFormsRequest.getDefaultInstance());
    check(listed.getFormsCount() == 0, listed);
    String address = reasonOf(() -> calls.getOAuthURL(GetGoogleFormsOAuthURLRequest.getDefaultInstance()));
    check(address.equals("FAILED_PRECONDITION"), address);
    CompleteGoogleFormsOAuthRequest code =
        CompleteGoogleFormsOAuthRequest.newBuilder().setCode("none").setState("none").build();
    String completed = reasonOf(() -> calls.completeOAuth(code));
    check(completed.equals("INVALID_STATE"), completed);
    String synced = reasonOf(() -> calls.syncNow(SyncGoogleFormsRequest.getDefaultInstance()));
    check(synced.equals("NOT_FOUND"), synced);
    UpdateGoogleFormsIntegrationRequest paused =
        UpdateGoogleFormsIntegrationRequest.newBuilder()
            .setStatus(GoogleFormsIntegrationStatus.GOOGLE_FORMS_INTEGRATION_STATUS_PAUSED)
            .build();
    String updated = reasonOf(() -> calls.update(paused));
    check(updated.equals("NOT_FOUND"), updated);
    String deleted = reasonOf(() -> calls.delete(DeleteGoogleFormsIntegrationRequest.getDefaultInstance()));
    check(deleted.equals("NOT_FOUND"), deleted);
  }
}
