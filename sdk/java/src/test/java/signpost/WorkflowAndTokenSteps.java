package signpost;

import static signpost.JourneySupport.all;
import static signpost.JourneySupport.check;
import static signpost.JourneySupport.mask;
import static signpost.JourneySupport.reasonOf;

import java.util.List;
import signpost.options.v1.ApiScope;
import signpost.v1.*;

/** The steps of {@link Journey} about workflows, and about tokens that may do less. */
final class WorkflowAndTokenSteps {
  private final Client client;

  WorkflowAndTokenSteps(Client client) {
    this.client = client;
  }

  void wire(String linkId) {
    var calls = client.workflowSteps();
    ListWorkflowStepsRequest ofLink = ListWorkflowStepsRequest.newBuilder().setLinkId(linkId).build();
    String exitId =
        calls.list(ofLink).getWorkflowStepsList().stream()
            .filter(each -> each.getEventAction() == EventAction.EVENT_ACTION_CLIENT_REDIRECT)
            .findFirst()
            .orElseThrow()
            .getId();
    String id = addForm(linkId, exitId);
    retitle(linkId, id);
    DisconnectWorkflowStepRequest.Builder cut =
        DisconnectWorkflowStepRequest.newBuilder().setLinkId(linkId).setStepId(id).setBranchId("next");
    List<String> open = calls.disconnectStep(cut.build()).getUnconnectedBranchIdsList();
    check(open.equals(List.of("next")), open);
    ConnectWorkflowStepRequest.Builder again =
        ConnectWorkflowStepRequest.newBuilder()
            .setLinkId(linkId)
            .setStepId(id)
            .setBranchId("next")
            .setNextStepId(exitId);
    check(calls.connectStep(again.build()).getUnconnectedBranchIdsCount() == 0, again);
    calls.resolveStepCollisions(
        ResolveStepCollisionsRequest.newBuilder().setLinkId(linkId).setStepId(id).build());
    calls.autoLayoutWorkflow(AutoLayoutWorkflowRequest.newBuilder().setLinkId(linkId).build());
    ValidateWorkflowRequest whole = ValidateWorkflowRequest.newBuilder().setLinkId(linkId).build();
    check(calls.validateWorkflow(whole).getIssuesCount() == 0, calls.validateWorkflow(whole));
    List<SimulatedStep> path = pathThrough(linkId, id);
    check(path.get(path.size() - 1).getStepId().equals(exitId), path);
    calls.delete(DeleteWorkflowStepRequest.newBuilder().setLinkId(linkId).setId(id).build());
  }

  private String addForm(String linkId, String before) {
    FormField.Builder mail = FormField.newBuilder().setId("mail").setKey("$email").setLabel("E-mail");
    CreateWorkflowStepRequest.Builder form =
        CreateWorkflowStepRequest.newBuilder()
            .setLinkId(linkId)
            .setEventAction(EventAction.EVENT_ACTION_FORM_SUBMIT)
            .setInsertBefore(before)
            .setPayload(of(FormPayload.newBuilder().setFormTitle("Old").addFormFields(mail)));
    return client.workflowSteps().create(form.build()).getWorkflowStep().getId();
  }

  private void retitle(String linkId, String id) {
    UpdateWorkflowStepRequest.Builder change =
        UpdateWorkflowStepRequest.newBuilder()
            .setLinkId(linkId)
            .setId(id)
            .setPayload(of(FormPayload.newBuilder().setFormTitle("Who are you?")))
            .setUpdateMask(mask("payload.form.form_title"));
    client.workflowSteps().update(change.build());
    GetWorkflowStepRequest.Builder asked = GetWorkflowStepRequest.newBuilder().setLinkId(linkId).setId(id);
    FormPayload read = client.workflowSteps().get(asked.build()).getWorkflowStep().getPayload().getForm();
    check(read.getFormTitle().equals("Who are you?"), read);
    check(read.getFormFields(0).getLabel().equals("E-mail"), read);
  }

  private static WorkflowStepPayload of(FormPayload.Builder form) {
    return WorkflowStepPayload.newBuilder().setForm(form).build();
  }

  private List<SimulatedStep> pathThrough(String linkId, String formId) {
    SimulatedFieldAnswer.Builder mail =
        SimulatedFieldAnswer.newBuilder().setField("mail").addValues("ada@example.com");
    SimulatedAnswer.Builder answer =
        SimulatedAnswer.newBuilder()
            .setStepId(formId)
            .setForm(SimulatedFormAnswer.newBuilder().addFields(mail));
    SimulateWorkflowRequest.Builder visit =
        SimulateWorkflowRequest.newBuilder()
            .setLinkId(linkId)
            .setVisit(SimulatedVisit.newBuilder().setCountry("DE"))
            .addAnswers(answer);
    return client.workflowSteps().simulate(visit.build()).getPathList();
  }

  void delegate() {
    var calls = client.workspaceTokens();
    CreateWorkspaceTokenRequest.Builder wanted =
        CreateWorkspaceTokenRequest.newBuilder()
            .setKeyType(WorkspaceTokenKeyType.WORKSPACE_TOKEN_KEY_TYPE_SECRET)
            .setName("reader")
            .addScopes(ApiScope.API_SCOPE_LINKS_READ);
    CreateWorkspaceTokenResponse made = calls.create(wanted.build());
    String id = made.getToken().getId();
    GetWorkspaceTokenRequest asked = GetWorkspaceTokenRequest.newBuilder().setId(id).build();
    check(!calls.get(asked).getToken().getFullAccess(), id);
    List<WorkspaceToken> listed =
        all(
            calls::list,
            ListWorkspaceTokensRequest.getDefaultInstance(),
            ListWorkspaceTokensResponse::getTokensList);
    check(listed.stream().anyMatch(each -> each.getId().equals(id)), listed);
    UpdateWorkspaceTokenRequest renamed =
        UpdateWorkspaceTokenRequest.newBuilder().setId(id).setName("guest").build();
    check(calls.update(renamed).getToken().getName().equals("guest"), renamed);
    try (Client reader = new Client(System.getenv("SIGNPOST_URL"), made.getAccessToken())) {
      reader.links().list(ListLinksRequest.getDefaultInstance());
      CreateLinkRequest link = CreateLinkRequest.newBuilder().setDestination("https://example.com").build();
      String reason = reasonOf(() -> reader.links().create(link));
      check(reason.equals("INSUFFICIENT_SCOPE"), reason);
    }
    calls.delete(DeleteWorkspaceTokenRequest.newBuilder().setId(id).build());
  }
}
