package signpost;

import static signpost.JourneySupport.check;
import static signpost.JourneySupport.textIn;

import signpost.v1.*;

/** The step of {@link Journey} about agents and the people who claim their workspaces. */
final class AgentSteps {
  private AgentSteps() {}

  /** Registers as an agent, and claims the workspace as its person. */
  static void claimAsPerson(Client client, String run) {
    String email = run + "-agent@example.com";
    String body =
        "{\"type\":\"service_auth\",\"login_hint\":\"%s\",\"client_name\":\"Journey\"}".formatted(email);
    String answer = JourneySupport.post(System.getenv("SIGNPOST_AUTH_URL") + "/agent/identity", body);
    String token = textIn(answer, "claim_attempt_token=([\\w.-]+)");
    LookupAgentClaimRequest.Builder asked =
        LookupAgentClaimRequest.newBuilder().setClaimAttemptToken(token);
    AgentClaimLink link = client.agentIdentity().lookupClaim(asked.build()).getClaimLink();
    check(link.getEmail().equals(email), link);
    check(link.getStatus() == AgentClaimStatus.AGENT_CLAIM_STATUS_PENDING, link);
    CompleteAgentClaimRequest.Builder proof =
        CompleteAgentClaimRequest.newBuilder()
            .setClaimAttemptToken(token)
            .setUserCode(textIn(answer, "\"user_code\":\"(\\d{6})\""))
            .setPassword("correct horse battery");
    Member member = client.agentIdentity().completeClaim(proof.build()).getMember();
    try (Client own = new Client(System.getenv("SIGNPOST_URL"), member.getAccessToken())) {
      Member myself = own.members().getMyself(GetMyselfRequest.getDefaultInstance()).getMember();
      check(myself.getEmail().equals(email), myself);
      own.workspaces().delete(DeleteWorkspaceRequest.getDefaultInstance());
    }
  }
}
