"""Walks through every group of the service at SIGNPOST_URL, with SIGNPOST_TOKEN, by the steps of sdk/JOURNEY.md; ends with an
error when an answer is not as it should be."""

import os
import time
import urllib.parse
import uuid

from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp
from journey_agents import claim_as_person
from journey_analytics import analyse
from journey_assistant import ask_assistant
from journey_dashboards import present
from journey_directories import make_many_links, nest_directories
from journey_domains import bring_domain
from journey_exports import take_away
from journey_google_forms import ask_for_forms
from journey_page_themes import wear_template
from journey_people import invite, sign_in
from journey_sandbox import play_in_sandbox
from journey_slack import ask_for_slack
from journey_support import PICTURE, follow, until
from journey_webhooks import subscribe
from journey_workspace import close_workspace, open_workspace
from signpost import Client, SignpostError, items
from signpost.options.v1.access_pb2 import API_SCOPE_LINKS_READ
from signpost.v1 import api_scopes_service_pb2 as api_scopes
from signpost.v1 import events_service_pb2 as events
from signpost.v1 import link_settings_service_pb2 as link_settings
from signpost.v1 import links_service_pb2 as links
from signpost.v1 import media_service_pb2 as media
from signpost.v1 import qrcode_design_service_pb2 as designs
from signpost.v1 import qrcode_templates_service_pb2 as templates
from signpost.v1 import visitors_service_pb2 as visitors
from signpost.v1 import workflow_steps_service_pb2 as steps
from signpost.v1 import workspace_tokens_service_pb2 as tokens
from signpost.v1.event_pb2 import Event
from signpost.v1.link_pb2 import Link
from signpost.v1.media_pb2 import Media
from signpost.v1.qrcode_design_pb2 import DOTS_TYPE_DOTS, DOTS_TYPE_ROUNDED, DotsOptions
from signpost.v1.visitor_pb2 import VISITOR_ATTRIBUTE_FILTER_OPERATOR_NUMBER_GREATER_THAN
from signpost.v1.workflow_simulation_pb2 import SimulatedAnswer, SimulatedFieldAnswer, SimulatedFormAnswer, SimulatedVisit
from signpost.v1.workflow_step_payload_page_pb2 import FormField, FormPayload, VCardPayload
from signpost.v1.workflow_step_payload_pb2 import WorkflowStepPayload
from signpost.v1.workflow_step_pb2 import EVENT_ACTION_CLIENT_REDIRECT, EVENT_ACTION_FORM_SUBMIT
from signpost.v1.workspace_token_pb2 import WORKSPACE_TOKEN_KEY_TYPE_SECRET
from smoke import failure

URL, TOKEN = os.environ["SIGNPOST_URL"], os.environ["SIGNPOST_TOKEN"]
RUN = f"journey-{uuid.uuid4()}"


def main() -> None:
    with Client(URL, TOKEN) as client:
        scopes = client.api_scopes.List(api_scopes.ListApiScopesRequest()).scopes
        assert any(each.scope == API_SCOPE_LINKS_READ for each in scopes)
        open_workspace(client, RUN)
        template_id = make_template(client)
        keep_media(client)
        link = make_link(client, template_id)
        restyle(client, link)
        wear_template(client, RUN, link.id)
        lbid = visit(client, link)
        analyse(client, link)
        present(client, link)
        take_away(client, link)
        subscribe(client)
        bring_domain(client, RUN)
        ask_for_slack(client)
        ask_for_forms(client)
        ask_assistant(client, link.id)
        expire(client)
        tell_visitors(client, lbid)
        wire(client, link.id)
        delegate(client)
        directory_id = nest_directories(client, RUN)
        make_many_links(client, RUN, directory_id)
        sign_in(client)
        invite(client, RUN)
        claim_as_person(client, RUN)
        play_in_sandbox(client)
        client.links.Delete(links.DeleteLinkRequest(id=link.id))
        client.qrcode_templates.DeleteQrcodeTemplate(templates.DeleteQrcodeTemplateRequest(id=template_id))
        close_workspace(client)
    print("python: walked the journey")


def make_template(client: Client) -> str:
    rounded = DotsOptions(type=DOTS_TYPE_ROUNDED)
    design = client.qrcode_design.PublicCreate(designs.PublicCreateQrcodeDesignRequest(dots_options=rounded))
    stub = client.qrcode_templates
    wanted = templates.CreateQrcodeTemplateRequest(
        name="Journey", description="Round dots", tags="menu", qrcode_design_id=design.qrcode_design.id
    )
    id = stub.CreateQrcodeTemplate(wanted).qrcode_template.id
    read = stub.GetQrcodeTemplate(templates.GetQrcodeTemplateRequest(id=id, include=["qrcodeDesign"]))
    assert read.qrcode_template.qrcode_design.dots_options == rounded, read
    changed = stub.UpdateQrcodeTemplate(
        templates.UpdateQrcodeTemplateRequest(
            id=id, name="Renamed", slug=RUN, tags="ignored", update_mask=FieldMask(paths=["name", "slug"])
        )
    ).qrcode_template
    assert (changed.name, changed.tags) == ("Renamed", "menu"), changed
    own = templates.ListQrcodeTemplatesRequest(scope=templates.QRCODE_TEMPLATE_SCOPE_WORKSPACE)
    assert id in [each.id for each in items(stub.ListQrcodeTemplates, own, lambda page: page.qrcode_templates)]
    published = stub.PublishQrcodeTemplate(templates.PublishQrcodeTemplateRequest(id=id)).qrcode_template
    assert published.HasField("published_at"), published
    public = templates.PublicListQrcodeTemplatesRequest()
    shown = next(iter(items(stub.PublicListQrcodeTemplates, public, lambda page: page.qrcode_templates)))
    by_slug = stub.PublicGetQrcodeTemplate(templates.PublicGetQrcodeTemplateRequest(slug=shown.slug))
    assert by_slug.qrcode_template.name == shown.name, by_slug
    images = templates.ResolveQrcodeTemplateImagesRequest(template_ids=[id])
    until("a thumbnail", lambda: stub.ResolveQrcodeTemplateImages(images).thumbnail_signed_urls.get(id))
    copied = stub.ImportQrcodeTemplate(templates.ImportQrcodeTemplateRequest(slug=shown.slug))
    stub.DeleteQrcodeTemplate(templates.DeleteQrcodeTemplateRequest(id=copied.qrcode_template.id))
    return id


def keep_media(client: Client) -> None:
    made = client.media.Create(
        media.CreateMediaRequest(file_data=PICTURE, media_type=Media.TYPE_BADGE, file_name="badge.png")
    )
    id = made.media.id
    assert client.media.Get(media.GetMediaRequest(id=id)).media.mime_type == "image/png"
    listed = items(client.media.List, media.ListMediaRequest(), lambda page: page.media)
    assert id in [each.id for each in listed]
    client.media.Delete(media.DeleteMediaRequest(id=id))


def make_link(client: Client, template_id: str) -> Link:
    stub = client.links
    shortlink = stub.ShortlinkRandom(links.ShortlinkRandomRequest()).shortlink
    assert stub.ShortlinkAvailability(links.ShortlinkAvailabilityRequest(shortlink=shortlink)).available
    made = stub.Create(
        links.CreateLinkRequest(
            destination="https://example.com/menu",
            shortlink=shortlink,
            qrcode_template_id=template_id,
            name="Menu",
            purpose="sales leads",
            tags=[RUN],
            metadata={"table": "7"},
            conversion_tracking=True,
            expires_at=Timestamp(seconds=int(time.time()) + 86_400),
            wait_for_qrcode=True,
        )
    ).link
    read = stub.Get(links.GetLinkRequest(id=made.id, include=["tags", "qrcodeDesign"])).link
    assert read.metadata["table"] == "7" and read.tags[0].name == RUN, read
    assert read.qrcode_design.dots_options.type == DOTS_TYPE_ROUNDED, read
    link = stub.Update(
        links.UpdateLinkRequest(id=made.id, name="Lunch", tags=[RUN, "lunch"], expires_at_delete=True)
    ).link
    assert link.name == "Lunch" and not link.HasField("expires_at"), link

    card = VCardPayload(first_name="Ada", last_name="Lovelace", phone="+15551234567")
    contact = stub.CreateContactLink(links.CreateContactLinkRequest(vcard_data=card, name="Ada", tags=[RUN])).link
    thanks = stub.CreateThankYouLink(
        links.CreateThankYouLinkRequest(title="Thank you", name="Thanks", tags=[RUN])
    ).link
    found = items(stub.List, links.ListLinksRequest(tags=[RUN], page_size=2), lambda page: page.links)
    assert [each.name for each in found] == ["Thanks", "Ada", "Lunch"]
    images = links.ResolveQrcodeImagesRequest(link_ids=[link.id, contact.id, thanks.id])
    until("every image", lambda: len(stub.ResolveQrcodeImages(images).qrcode_signed_urls) == 3)
    for each in (contact, thanks):
        stub.Delete(links.DeleteLinkRequest(id=each.id))
    assert failure(lambda: stub.Get(links.GetLinkRequest(id=thanks.id))).reason == "NOT_FOUND"
    return link


def restyle(client: Client, link: Link) -> None:
    stub, id = client.qrcode_design, link.qrcode_design_id
    expected = stub.Get(designs.GetQrcodeDesignRequest(id=id)).qrcode_design.dots_options
    expected.type = DOTS_TYPE_DOTS
    changed = stub.Update(
        designs.UpdateQrcodeDesignRequest(
            id=id,
            dots_options=DotsOptions(type=DOTS_TYPE_DOTS),
            update_mask=FieldMask(paths=["dots_options.type"]),
        )
    )
    assert changed.qrcode_design.dots_options == expected, changed
    assert stub.Verify(designs.VerifyQrcodeDesignRequest(id=id)).scannability.readable
    applied = stub.ApplyTemplate(
        designs.ApplyQrcodeTemplateRequest(link_id=link.id, qrcode_template_id=link.qrcode_template_id)
    )
    assert applied.qrcode_design.dots_options.type == DOTS_TYPE_ROUNDED, applied
    unused = stub.PublicCreate(designs.PublicCreateQrcodeDesignRequest()).qrcode_design
    stub.Delete(designs.DeleteQrcodeDesignRequest(id=unused.id))


def visit(client: Client, link: Link) -> str:
    lbid = urllib.parse.parse_qs(follow(link.entrypoint).query)["lbid"][0]

    def first() -> Event | None:
        request = events.ListEventsRequest(link_id=link.id, include=["device", "workspace"])
        return next(iter(client.events.ListEvents(request).json.events), None)

    event = until("an event", first)
    assert event.device.browser_name == "Firefox", event
    traces = client.events.ListEventTraces(events.ListEventTracesRequest(event_id=event.id)).traces
    assert EVENT_ACTION_CLIENT_REDIRECT in [trace.step_action for trace in traces]

    def score() -> links.GetLeadScoreResponse | None:
        try:
            return client.links.GetLeadScore(links.GetLeadScoreRequest(link_id=link.id, event_id=event.id))
        except SignpostError as error:
            assert error.reason == "LEAD_SCORE_NOT_FOUND", error
            return None

    until("a lead score", score)
    id, settings = event.workspace.link_setting_id, client.link_settings
    before = settings.GetLinkSetting(link_settings.GetLinkSettingRequest(id=id)).link_setting
    same = link_settings.UpdateLinkSettingRequest(id=id, data_collection=before.data_collection)
    after = settings.UpdateLinkSetting(same).link_setting
    assert after.data_collection == before.data_collection, after
    return lbid


def expire(client: Client) -> None:
    link = client.links.Create(
        links.CreateLinkRequest(
            destination="https://example.com/now",
            expired_destination="https://example.com/over",
            expires_at=Timestamp(seconds=int(time.time()) + 3),
        )
    ).link
    assert follow(link.entrypoint).path == "/now"
    until("the expiry", lambda: follow(link.entrypoint).path == "/over")


def tell_visitors(client: Client, lbid: str) -> None:
    stub, email = client.visitors, f"{RUN}@example.com"
    known = stub.Identify(visitors.IdentifyRequest(lbid=lbid, visitor=struct({"$email": email, "seats": 4})))
    id = known.visitor.id
    page = stub.List(visitors.ListVisitorsRequest(email=email)).json
    assert [each.id for each in page.visitors] == [id], page
    seated = visitors.AttributeFilter(
        key="seats", operator=VISITOR_ATTRIBUTE_FILTER_OPERATOR_NUMBER_GREATER_THAN, value="3"
    )
    searched = stub.Search(visitors.SearchVisitorsRequest(email=email, attribute_filters=[seated]))
    assert len(searched.json.visitors) == 1, searched
    assert "seats" in stub.ListAttributeKeys(visitors.ListVisitorAttributeKeysRequest()).attribute_keys
    changed = stub.Update(visitors.UpdateVisitorRequest(id=id, visitor=struct({"$firstName": "Ada"})))
    assert changed.visitor.first_name == "Ada", changed
    assert stub.DeleteAttribute(visitors.DeleteAttributeRequest(id=id, attribute_key="seats")).success
    read = stub.Get(visitors.GetVisitorRequest(id=id, include=["events"])).visitor
    assert read.email == email and read.events, read
    assert stub.Delete(visitors.DeleteVisitorRequest(id=id)).success


def wire(client: Client, link_id: str) -> None:
    stub = client.workflow_steps
    listed = stub.List(steps.ListWorkflowStepsRequest(link_id=link_id)).workflow_steps
    exit = next(step for step in listed if step.event_action == EVENT_ACTION_CLIENT_REDIRECT)
    form = FormPayload(form_title="Old", form_fields=[FormField(id="mail", key="$email", label="E-mail")])
    id = stub.Create(
        steps.CreateWorkflowStepRequest(
            link_id=link_id,
            event_action=EVENT_ACTION_FORM_SUBMIT,
            insert_before=exit.id,
            payload=WorkflowStepPayload(form=form),
        )
    ).workflow_step.id
    stub.Update(
        steps.UpdateWorkflowStepRequest(
            link_id=link_id,
            id=id,
            payload=WorkflowStepPayload(form=FormPayload(form_title="Who are you?")),
            update_mask=FieldMask(paths=["payload.form.form_title"]),
        )
    )
    read = stub.Get(steps.GetWorkflowStepRequest(link_id=link_id, id=id)).workflow_step.payload.form
    assert (read.form_title, read.form_fields[0].label) == ("Who are you?", "E-mail"), read
    cut = stub.DisconnectStep(
        steps.DisconnectWorkflowStepRequest(link_id=link_id, step_id=id, branch_id="next")
    )
    assert cut.unconnected_branch_ids == ["next"], cut
    whole = stub.ConnectStep(
        steps.ConnectWorkflowStepRequest(link_id=link_id, step_id=id, branch_id="next", next_step_id=exit.id)
    )
    assert not whole.unconnected_branch_ids, whole
    stub.ResolveStepCollisions(steps.ResolveStepCollisionsRequest(link_id=link_id, step_id=id))
    stub.AutoLayoutWorkflow(steps.AutoLayoutWorkflowRequest(link_id=link_id))
    assert not stub.ValidateWorkflow(steps.ValidateWorkflowRequest(link_id=link_id)).issues
    answered = SimulatedFormAnswer(fields=[SimulatedFieldAnswer(field="mail", values=["ada@example.com"])])
    simulated = stub.Simulate(
        steps.SimulateWorkflowRequest(
            link_id=link_id,
            visit=SimulatedVisit(country="DE"),
            answers=[SimulatedAnswer(step_id=id, form=answered)],
        )
    )
    assert simulated.path[-1].step_id == exit.id, simulated
    stub.Delete(steps.DeleteWorkflowStepRequest(link_id=link_id, id=id))


def delegate(client: Client) -> None:
    stub = client.workspace_tokens
    made = stub.Create(
        tokens.CreateWorkspaceTokenRequest(
            key_type=WORKSPACE_TOKEN_KEY_TYPE_SECRET, name="reader", scopes=[API_SCOPE_LINKS_READ]
        )
    )
    id = made.token.id
    assert not stub.Get(tokens.GetWorkspaceTokenRequest(id=id)).token.full_access
    listed = items(stub.List, tokens.ListWorkspaceTokensRequest(), lambda page: page.tokens)
    assert id in [each.id for each in listed]
    assert stub.Update(tokens.UpdateWorkspaceTokenRequest(id=id, name="guest")).token.name == "guest"
    with Client(URL, made.access_token) as reader:
        reader.links.List(links.ListLinksRequest())
        refused = failure(
            lambda: reader.links.Create(links.CreateLinkRequest(destination="https://example.com"))
        )
        assert refused.reason == "INSUFFICIENT_SCOPE", refused
    stub.Delete(tokens.DeleteWorkspaceTokenRequest(id=id))


def struct(values: dict[str, str | float]) -> Struct:
    message = Struct()
    message.update(values)
    return message


if __name__ == "__main__":
    main()
