package signpost;

import static signpost.JourneySupport.all;
import static signpost.JourneySupport.check;
import static signpost.JourneySupport.mask;

import java.util.List;
import signpost.v1.*;

/** The steps of {@link Journey} about a domain of the workspace's own. */
final class DomainSteps {
  private static final String HOME = "https://example.com/home";

  private final Client client;
  private final String run;

  DomainSteps(Client client, String run) {
    this.client = client;
    this.run = run;
  }

  /** Registers a name that leads nowhere, reads what is missing, and deletes the domain. */
  void bring() {
    var calls = client.customDomains();
    CreateCustomDomainRequest wanted =
        CreateCustomDomainRequest.newBuilder().setName(run + ".example.com").build();
    CustomDomain made = calls.create(wanted).getCustomDomain();
    check(made.getStatus() == CustomDomain.Status.STATUS_DOMAIN_PENDING, made);
    check(!made.getLastError().isEmpty(), made);
    String id = made.getId();
    CheckCustomDomainRequest again = CheckCustomDomainRequest.newBuilder().setId(id).build();
    CustomDomain checked = calls.check(again).getCustomDomain();
    check(checked.getStatus() == made.getStatus(), checked);
    CustomDomain read = calls.get(GetCustomDomainRequest.newBuilder().setId(id).build()).getCustomDomain();
    check(read.getName().equals(made.getName()), read);
    List<CustomDomain> found =
        all(
            calls::list,
            ListCustomDomainsRequest.getDefaultInstance(),
            ListCustomDomainsResponse::getCustomDomainsList);
    check(found.stream().anyMatch(each -> each.getId().equals(id)), found);
    ValidationInstructionsCustomDomainRequest asked =
        ValidationInstructionsCustomDomainRequest.newBuilder().setId(id).build();
    CustomDomainValidation proof = calls.validationInstructions(asked).getValidations(0);
    check(proof.getName().equals("_svc-verify." + made.getName()), proof);
    GetCustomDomainSetupGuideRequest ofDomain =
        GetCustomDomainSetupGuideRequest.newBuilder().setId(id).build();
    check(calls.getSetupGuide(ofDomain).getSetupGuide().getRecordsCount() == 2, ofDomain);
    UpdateCustomDomainRequest.Builder change =
        UpdateCustomDomainRequest.newBuilder().setId(id).setRootDestination(HOME);
    CustomDomain changed =
        calls.update(change.setUpdateMask(mask("root_destination")).build()).getCustomDomain();
    check(changed.getRootDestination().equals(HOME), changed);
    calls.delete(DeleteCustomDomainRequest.newBuilder().setId(id).build());
  }
}
