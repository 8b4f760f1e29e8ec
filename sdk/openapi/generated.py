"""Tests the Python client that openapi-generator makes, on the service at SIGNPOST_URL with SIGNPOST_TOKEN."""

import os
import uuid

import openapi_client as signpost
from openapi_client.exceptions import NotFoundException


def main() -> None:
    configuration = signpost.Configuration(host=os.environ["SIGNPOST_URL"], access_token=os.environ["SIGNPOST_TOKEN"])
    with signpost.ApiClient(configuration) as client:
        links = signpost.LinksApi(client)
        tag = f"generated-{uuid.uuid4()}"
        created = links.links_service_create(
            signpost.CreateLinkRequest(destination="https://example.com/menu", name="Menu", tags=[tag])
        )
        found = [link.id for link in links.links_service_list(tags=[tag]).links]
        assert found == [created.link.id], found
        wire(signpost.WorkflowStepsApi(client), created)
        refuse(links)
        links.links_service_delete(created.link.id)


def wire(steps: signpost.WorkflowStepsApi, created: signpost.CreateLinkResponse) -> None:
    link_id, exit_id = created.link.id, created.workflow_steps[1].id
    page = signpost.MessagePagePayload(
        title="Welcome", navigationType=signpost.MessagePageNavigationType.MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON
    )
    added = steps.workflow_steps_service_create(
        link_id,
        signpost.CreateWorkflowStepRequest(
            eventAction=signpost.EventAction.EVENT_ACTION_MESSAGE_PAGE,
            payload=signpost.WorkflowStepPayload(messagePage=page),
        ),
    ).workflow_step
    connected = steps.workflow_steps_service_connect_step(
        link_id, added.id, "next", signpost.ConnectWorkflowStepRequest(nextStepId=exit_id)
    )
    assert connected.workflow_step.branches[0].next_step_id == exit_id


def refuse(links: signpost.LinksApi) -> None:
    unknown = str(uuid.uuid4())
    try:
        links.links_service_get(unknown)
    except NotFoundException as refused:
        assert refused.data.error.code_type == signpost.ErrorReason.NOT_FOUND
        assert unknown in refused.data.error.message
        info = refused.data.error.details[0].actual_instance
        assert isinstance(info, signpost.ErrorInfo) and info.reason == signpost.ErrorReason.NOT_FOUND
    else:
        raise AssertionError("an unknown link was found")


main()
