package signpost;

import static signpost.JourneySupport.check;
import static signpost.JourneySupport.mask;
import static signpost.JourneySupport.reasonOf;

import java.util.List;
import signpost.v1.*;

/** The steps of {@link Journey} about the workspace and what it may use. */
final class WorkspaceSteps {
  private final Client client;
  private final String slug;

  WorkspaceSteps(Client client, String slug) {
    this.client = client;
    this.slug = slug;
  }

  /** Names the workspace, makes it public, and reads what it may use. */
  void open() {
    var calls = client.workspaces();
    GetMyWorkspaceRequest mine = GetMyWorkspaceRequest.getDefaultInstance();
    String id = calls.getMyWorkspace(mine).getWorkspace().getId();
    Workspace read =
        calls.getWorkspace(GetWorkspaceRequest.newBuilder().setId(id).build()).getWorkspace();
    check(read.getId().equals(id), read);
    RequestWorkspaceEnrollmentRequest.Builder enrollment = RequestWorkspaceEnrollmentRequest.newBuilder();
    String early = reasonOf(() -> calls.requestEnrollment(enrollment.build()));
    check(early.equals("WORKSPACE_NOT_READY"), early);
    String about = "Walked by a client";
    UpdateWorkspaceRequest.Builder wanted =
        UpdateWorkspaceRequest.newBuilder().setName("Journey").setSlug(slug).setDescription(about);
    Workspace named = calls.update(wanted.build()).getWorkspace();
    check(named.getSlug().equals(slug), named);
    UpdateWorkspaceRequest.Builder masked =
        UpdateWorkspaceRequest.newBuilder()
            .setName("Renamed")
            .setDescription("ignored")
            .setUpdateMask(mask("name"));
    Workspace changed = calls.update(masked.build()).getWorkspace();
    check(changed.getName().equals("Renamed") && changed.getDescription().equals(about), changed);
    calls.updateOriginInquiry(
        UpdateWorkspaceOriginInquiryRequest.newBuilder().setOriginInquiry("a friend").build());
    calls.updateOriginPurpose(
        UpdateWorkspaceOriginPurposeRequest.newBuilder().setOriginPurpose("menus").build());
    calls.requestEnrollment(enrollment.setMessage("please").build());
    PublicGetWorkspaceRequest.Builder asked = PublicGetWorkspaceRequest.newBuilder().setSlug(slug);
    PublicWorkspace shown = calls.publicGetWorkspace(asked.build()).getPublicWorkspace();
    check(shown.getName().equals("Renamed"), shown);
    readAllowances();
  }

  private void readAllowances() {
    List<PricingPlan> plans =
        client.pricing().listPlans(ListPlansRequest.getDefaultInstance()).getPlansList();
    ListAllowancesResponse allowed =
        client.allowances().list(ListAllowancesRequest.getDefaultInstance());
    check(plans.stream().anyMatch(each -> each.getId() == allowed.getPlan()), plans);
    check(
        allowed.getAllowancesList().stream()
            .anyMatch(each -> each.getKey() == PlanLimitKey.PLAN_LIMIT_KEY_TRACKED_VISITS),
        allowed);
  }

  /** Deletes the workspace, after which its token is refused. */
  void close() {
    var calls = client.workspaces();
    calls.delete(DeleteWorkspaceRequest.getDefaultInstance());
    String reason = reasonOf(() -> calls.getMyWorkspace(GetMyWorkspaceRequest.getDefaultInstance()));
    check(reason.equals("UNAUTHENTICATED"), reason);
  }
}
