"""The step of the journey about a sandbox."""

import os

from signpost import Client
from signpost.v1 import events_service_pb2 as events
from signpost.v1 import links_service_pb2 as links
from signpost.v1 import sandboxes_service_pb2 as sandboxes
from signpost.v1 import workspaces_service_pb2 as workspaces
from smoke import failure


def play_in_sandbox(client: Client) -> None:
    """Makes a sandbox, lets invented people visit a link in it, and deletes it."""
    stub = client.sandboxes
    made = stub.Create(sandboxes.CreateSandboxRequest(name="Journey"))
    id = made.sandbox.id
    assert id in [each.id for each in stub.List(sandboxes.ListSandboxesRequest()).sandboxes]
    assert client.workspaces.GetWorkspace(workspaces.GetWorkspaceRequest(id=id)).workspace.is_sandbox
    with Client(os.environ["SIGNPOST_URL"], made.access_token) as inside:
        wanted = links.CreateLinkRequest(destination="https://example.com/sandbox")
        link_id = inside.links.Create(wanted).link.id
        visits = sandboxes.SimulateVisitsRequest(id=id, count=5, seed=1, link_ids=[link_id])
        simulated = stub.SimulateVisits(visits)
        assert (simulated.visit_count, len(simulated.event_ids)) == (5, 5), simulated
        found = inside.events.ListEvents(events.ListEventsRequest(link_id=link_id)).json.events
        assert len(found) == 5, found
        refused = failure(lambda: inside.sandboxes.Create(sandboxes.CreateSandboxRequest()))
        assert refused.reason == "LIVE_CREDENTIAL_REQUIRED", refused
    stub.Delete(sandboxes.DeleteSandboxRequest(id=id))
    assert id not in [each.id for each in stub.List(sandboxes.ListSandboxesRequest()).sandboxes]
