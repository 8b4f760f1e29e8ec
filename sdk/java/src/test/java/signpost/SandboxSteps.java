package signpost;

import static signpost.JourneySupport.check;
import static signpost.JourneySupport.reasonOf;

import java.util.List;
import signpost.v1.*;

/** The step of {@link Journey} about a sandbox. */
final class SandboxSteps {
  private final Client client;

  SandboxSteps(Client client) {
    this.client = client;
  }

  /** Makes a sandbox, lets invented people visit a link in it, and deletes it. */
  void play() {
    var calls = client.sandboxes();
    CreateSandboxRequest.Builder wanted = CreateSandboxRequest.newBuilder().setName("Journey");
    CreateSandboxResponse made = calls.create(wanted.build());
    String id = made.getSandbox().getId();
    check(isListed(id), id);
    GetWorkspaceRequest asked = GetWorkspaceRequest.newBuilder().setId(id).build();
    Workspace workspace = client.workspaces().getWorkspace(asked).getWorkspace();
    check(workspace.getIsSandbox(), workspace);
    try (Client inside = new Client(System.getenv("SIGNPOST_URL"), made.getAccessToken())) {
      visit(id, inside);
      String reason =
          reasonOf(() -> inside.sandboxes().create(CreateSandboxRequest.getDefaultInstance()));
      check(reason.equals("LIVE_CREDENTIAL_REQUIRED"), reason);
    }
    calls.delete(DeleteSandboxRequest.newBuilder().setId(id).build());
    check(!isListed(id), id);
  }

  private void visit(String id, Client inside) {
    CreateLinkRequest.Builder link =
        CreateLinkRequest.newBuilder().setDestination("https://example.com/sandbox");
    String linkId = inside.links().create(link.build()).getLink().getId();
    SimulateVisitsRequest.Builder visits =
        SimulateVisitsRequest.newBuilder().setId(id).setCount(5).setSeed(1).addLinkIds(linkId);
    SimulateVisitsResponse simulated = client.sandboxes().simulateVisits(visits.build());
    check(simulated.getVisitCount() == 5 && simulated.getEventIdsCount() == 5, simulated);
    ListEventsRequest ofLink = ListEventsRequest.newBuilder().setLinkId(linkId).build();
    List<Event> found = inside.events().listEvents(ofLink).getJson().getEventsList();
    check(found.size() == 5, found);
  }

  private boolean isListed(String id) {
    ListSandboxesRequest all = ListSandboxesRequest.getDefaultInstance();
    return client.sandboxes().list(all).getSandboxesList().stream()
        .anyMatch(each -> each.getId().equals(id));
  }
}
