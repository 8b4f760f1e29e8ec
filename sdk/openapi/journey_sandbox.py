"""The step of the journey about a sandbox."""

import os

import openapi_client as signpost
from refusal import reason_of


def play_in_sandbox(client: signpost.ApiClient) -> None:
    """Makes a sandbox, lets invented people visit a link in it, and deletes it."""
    calls = signpost.SandboxesApi(client)
    made = calls.sandboxes_service_create(create_sandbox_request=signpost.CreateSandboxRequest(name="Journey"))
    id = made.sandbox.id
    assert id in [each.id for each in calls.sandboxes_service_list().sandboxes]
    assert signpost.WorkspacesApi(client).workspaces_service_get_workspace(id).is_sandbox
    configuration = signpost.Configuration(host=os.environ["SIGNPOST_URL"], access_token=made.access_token)
    with signpost.ApiClient(configuration) as inside:
        wanted = signpost.CreateLinkRequest(destination="https://example.com/sandbox")
        link_id = signpost.LinksApi(inside).links_service_create(wanted).link.id
        visits = signpost.SimulateVisitsRequest(count=5, seed=1, linkIds=[link_id])
        simulated = calls.sandboxes_service_simulate_visits(id, visits)
        assert (simulated.visit_count, len(simulated.event_ids)) == (5, 5), simulated
        found = signpost.EventsApi(inside).events_service_list_events(link_id=link_id).var_json.events
        assert len(found) == 5, found
        refused = reason_of(signpost.SandboxesApi(inside).sandboxes_service_create)
        assert refused == signpost.ErrorReason.LIVE_CREDENTIAL_REQUIRED, refused
    calls.sandboxes_service_delete(id)
    assert id not in [each.id for each in calls.sandboxes_service_list().sandboxes]
