"""Tests the client that openapi-python-client makes, on the service at SIGNPOST_URL with SIGNPOST_TOKEN."""

import os
import uuid

from signpost_client import AuthenticatedClient, models
from signpost_client.api.links import links_service_create, links_service_delete, links_service_get, links_service_list
from signpost_client.api.workflow_steps import workflow_steps_service_connect_step, workflow_steps_service_create


def main() -> None:
    with AuthenticatedClient(base_url=os.environ["SIGNPOST_URL"], token=os.environ["SIGNPOST_TOKEN"]) as client:
        tag = f"client-{uuid.uuid4()}"
        request = models.CreateLinkRequest(destination="https://example.com/menu", name="Menu", tags=[tag])
        created = links_service_create.sync(client=client, body=request)
        assert isinstance(created, models.CreateLinkResponse) and created.link, created
        listed = links_service_list.sync(client=client, tags=[tag])
        assert isinstance(listed, models.ListLinksResponse), listed
        assert [link.id for link in listed.links] == [created.link.id]
        link_id = uuid.UUID(created.link.id)
        wire(client, link_id, uuid.UUID(created.workflow_steps[1].id))
        refuse(client)
        links_service_delete.sync(link_id, client=client)


def wire(client: AuthenticatedClient, link_id: uuid.UUID, exit_id: uuid.UUID) -> None:
    page = models.MessagePagePayload(
        title="Welcome", navigation_type=models.MessagePageNavigationType.MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON
    )
    request = models.CreateWorkflowStepRequest(
        event_action=models.EventAction.EVENT_ACTION_MESSAGE_PAGE, payload=models.WorkflowStepPayload(message_page=page)
    )
    added = workflow_steps_service_create.sync(link_id, client=client, body=request)
    assert isinstance(added, models.CreateWorkflowStepResponse) and added.workflow_step, added
    connected = workflow_steps_service_connect_step.sync(
        link_id,
        uuid.UUID(added.workflow_step.id),
        "next",
        client=client,
        body=models.ConnectWorkflowStepRequest(next_step_id=exit_id),
    )
    assert isinstance(connected, models.ConnectWorkflowStepResponse) and connected.workflow_step, connected
    branches = connected.workflow_step.branches
    assert branches and branches[0].next_step_id == str(exit_id), branches


def refuse(client: AuthenticatedClient) -> None:
    unknown = uuid.uuid4()
    refused = links_service_get.sync(unknown, client=client)
    assert isinstance(refused, models.ErrorResponse), refused
    assert refused.error.code_type == models.ErrorReason.NOT_FOUND
    assert str(unknown) in refused.error.message
    info = refused.error.details[0]
    assert isinstance(info, models.ErrorInfo) and info.reason == models.ErrorReason.NOT_FOUND


main()
