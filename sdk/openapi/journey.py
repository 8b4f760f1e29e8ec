"""Walks through every group of the service at SIGNPOST_URL, with SIGNPOST_TOKEN, by the steps of sdk/JOURNEY.md, with the Python
client that openapi-generator makes; ends with an error when an answer is not as it should be."""

import base64
import os
import urllib.parse
import uuid
from datetime import datetime, timedelta, timezone

import openapi_client as signpost
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
from refusal import reason_of

RUN = f"journey-{uuid.uuid4()}"
REDIRECT = signpost.EventAction.EVENT_ACTION_CLIENT_REDIRECT
ROUNDED = signpost.DotsType.DOTS_TYPE_ROUNDED


def connect(token: str) -> signpost.ApiClient:
    return signpost.ApiClient(signpost.Configuration(host=os.environ["SIGNPOST_URL"], access_token=token))


def main() -> None:
    with connect(os.environ["SIGNPOST_TOKEN"]) as client:
        scopes = signpost.APIScopesApi(client).api_scopes_service_list().scopes
        assert signpost.ApiScope.API_SCOPE_LINKS_READ in [each.scope for each in scopes]
        open_workspace(client, RUN)
        template_id = make_template(client)
        keep_media(client)
        link = make_link(signpost.LinksApi(client), template_id)
        restyle(signpost.QRCodeDesignsApi(client), link)
        wear_template(client, RUN, link.id)
        lbid = visit(client, link)
        analyse(client, link)
        present(client, link.id)
        take_away(signpost.ExportsApi(client), link.id)
        subscribe(client)
        bring_domain(signpost.CustomDomainsApi(client), RUN)
        ask_for_slack(signpost.SlackIntegrationsApi(client))
        ask_assistant(signpost.AssistantApi(client), link.id)
        ask_for_forms(signpost.GoogleFormsIntegrationsApi(client))
        expire(signpost.LinksApi(client))
        tell_visitors(signpost.VisitorsApi(client), lbid)
        wire(signpost.WorkflowStepsApi(client), link.id)
        delegate(signpost.WorkspaceTokensApi(client))
        directory_id = nest_directories(signpost.DirectoriesApi(client), RUN)
        make_many_links(client, RUN, directory_id)
        sign_in(client)
        invite(signpost.MembersApi(client), RUN)
        claim_as_person(signpost.AgentIdentityApi(client), RUN)
        play_in_sandbox(client)
        signpost.LinksApi(client).links_service_delete(link.id)
        signpost.QRCodeTemplatesApi(client).qrcode_templates_service_delete_qrcode_template(template_id)
        close_workspace(client)
    print("openapi-generator python: walked the journey")


def make_template(client: signpost.ApiClient) -> str:
    calls, rounded = signpost.QRCodeTemplatesApi(client), signpost.DotsOptions(type=ROUNDED)
    design = (
        signpost.QRCodeDesignsApi(client)
        .qrcode_design_service_public_create(
            public_create_qrcode_design_request=signpost.PublicCreateQrcodeDesignRequest(dotsOptions=rounded)
        )
        .qrcode_design
    )
    wanted = signpost.CreateQrcodeTemplateRequest(
        name="Journey", description="Round dots", tags="menu", qrcodeDesignId=design.id
    )
    made = calls.qrcode_templates_service_create_qrcode_template(create_qrcode_template_request=wanted)
    id = made.qrcode_template.id
    read = calls.qrcode_templates_service_get_qrcode_template(id, include=["qrcodeDesign"])
    assert read.qrcode_design.dots_options.type == ROUNDED, read
    change = signpost.UpdateQrcodeTemplateRequest(name="Renamed", slug=RUN)
    changed = calls.qrcode_templates_service_update_qrcode_template(
        id, update_qrcode_template_request=change
    ).qrcode_template
    assert (changed.name, changed.tags) == ("Renamed", "menu"), changed
    own = signpost.QrcodeTemplateScope.QRCODE_TEMPLATE_SCOPE_WORKSPACE
    listed = calls.qrcode_templates_service_list_qrcode_templates(scope=own).qrcode_templates
    assert id in [each.id for each in listed]
    published = calls.qrcode_templates_service_publish_qrcode_template(id).qrcode_template
    assert published.published_at is not None, published
    shown = calls.qrcode_templates_service_public_list_qrcode_templates().qrcode_templates[0]
    assert calls.qrcode_templates_service_public_get_qrcode_template(shown.slug).name == shown.name
    images = signpost.ResolveQrcodeTemplateImagesRequest(templateIds=[id])
    resolve = calls.qrcode_templates_service_resolve_qrcode_template_images
    until("a thumbnail", lambda: resolve(images).thumbnail_signed_urls.get(id))
    source = signpost.ImportQrcodeTemplateRequest(slug=shown.slug)
    copied = calls.qrcode_templates_service_import_qrcode_template(source).qrcode_template
    calls.qrcode_templates_service_delete_qrcode_template(copied.id)
    return id


def keep_media(client: signpost.ApiClient) -> None:
    calls = signpost.MediaApi(client)
    upload = signpost.CreateMediaRequest(
        fileData=base64.b64encode(PICTURE).decode(),
        mediaType=signpost.MediaType.MEDIA_TYPE_BADGE,
        fileName="badge.png",
    )
    id = calls.media_service_create(upload).media.id
    assert calls.media_service_get(id).media.mime_type == "image/png"
    assert id in [each.id for each in calls.media_service_list().media]
    calls.media_service_delete(id)


def make_link(calls: signpost.LinksApi, template_id: str) -> signpost.Link:
    shortlink = calls.links_service_shortlink_random().shortlink
    assert calls.links_service_shortlink_availability(shortlink).available
    wanted = signpost.CreateLinkRequest(
        destination="https://example.com/menu",
        shortlink=shortlink,
        qrcodeTemplateId=template_id,
        name="Menu",
        purpose="sales leads",
        tags=[RUN],
        metadata={"table": "7"},
        conversionTracking=True,
        expiresAt=datetime.now(timezone.utc) + timedelta(days=1),
        waitForQrcode=True,
    )
    id = calls.links_service_create(wanted).link.id
    read = calls.links_service_get(id, include=["tags", "qrcodeDesign"]).link
    assert (read.metadata["table"], read.tags[0].name) == ("7", RUN), read
    assert read.qrcode_design.dots_options.type == ROUNDED, read
    change = signpost.UpdateLinkRequest(name="Lunch", tags=[RUN, "lunch"], expiresAtDelete=True)
    link = calls.links_service_update(id, update_link_request=change).link
    assert link.name == "Lunch" and link.expires_at is None, link

    card = signpost.VCardPayload(firstName="Ada", lastName="Lovelace", phone="+15551234567")
    ada = signpost.CreateContactLinkRequest(vcardData=card, name="Ada", tags=[RUN])
    contact = calls.links_service_create_contact_link(ada).link
    page = signpost.CreateThankYouLinkRequest(title="Thank you", name="Thanks", tags=[RUN])
    thanks = calls.links_service_create_thank_you_link(page).link
    first = calls.links_service_list(tags=[RUN], page_size=2)
    second = calls.links_service_list(tags=[RUN], page_size=2, page_token=first.next_page_token)
    assert [each.name for each in first.links + second.links] == ["Thanks", "Ada", "Lunch"]
    images = signpost.ResolveQrcodeImagesRequest(linkIds=[id, contact.id, thanks.id])
    resolve = calls.links_service_resolve_qrcode_images
    until("every image", lambda: len(resolve(images).qrcode_signed_urls) == 3)
    for each in (contact, thanks):
        calls.links_service_delete(each.id)
    assert reason_of(lambda: calls.links_service_get(thanks.id)) == signpost.ErrorReason.NOT_FOUND
    return link


def restyle(calls: signpost.QRCodeDesignsApi, link: signpost.Link) -> None:
    id = link.qrcode_design_id
    dots = calls.qrcode_design_service_get(id).qrcode_design.dots_options
    dots.type = signpost.DotsType.DOTS_TYPE_DOTS
    change = signpost.UpdateQrcodeDesignRequest(dotsOptions=dots)
    changed = calls.qrcode_design_service_update(id, update_qrcode_design_request=change).qrcode_design
    assert changed.dots_options == dots, changed
    assert calls.qrcode_design_service_verify(id).scannability.readable
    template = signpost.ApplyQrcodeTemplateRequest(linkId=link.id, qrcodeTemplateId=link.qrcode_template_id)
    applied = calls.qrcode_design_service_apply_template(template).qrcode_design
    assert applied.dots_options.type == ROUNDED, applied
    unused = calls.qrcode_design_service_public_create().qrcode_design
    calls.qrcode_design_service_delete(unused.id)


def visit(client: signpost.ApiClient, link: signpost.Link) -> str:
    lbid = urllib.parse.parse_qs(follow(link.entrypoint).query)["lbid"][0]
    events, settings = signpost.EventsApi(client), signpost.LinkSettingsApi(client)

    def first() -> signpost.Event | None:
        page = events.events_service_list_events(link_id=link.id, include=["device", "workspace"])
        return next(iter(page.var_json.events), None)

    event = until("an event", first)
    assert event.device.browser_name == "Firefox", event
    traces = events.events_service_list_event_traces(event.id).traces
    assert REDIRECT in [trace.step_action for trace in traces]
    score = signpost.LinksApi(client).links_service_get_lead_score
    until(
        "a lead score",
        lambda: reason_of(lambda: score(link.id, event.id), signpost.ErrorReason.LEAD_SCORE_NOT_FOUND) is None,
    )
    id = event.workspace.link_setting_id
    before = settings.link_settings_service_get_link_setting(id).link_setting
    same = signpost.UpdateLinkSettingRequest(dataCollection=before.data_collection)
    after = settings.link_settings_service_update_link_setting(id, same).link_setting
    assert after.data_collection == before.data_collection, after
    return lbid


def expire(calls: signpost.LinksApi) -> None:
    wanted = signpost.CreateLinkRequest(
        destination="https://example.com/now",
        expiredDestination="https://example.com/over",
        expiresAt=datetime.now(timezone.utc) + timedelta(seconds=2),
    )
    link = calls.links_service_create(wanted).link
    assert follow(link.entrypoint).path == "/now"
    until("the expiry", lambda: follow(link.entrypoint).path == "/over")


def tell_visitors(calls: signpost.VisitorsApi, lbid: str) -> None:
    email = f"{RUN}@example.com"
    identity = signpost.IdentifyRequest(lbid=lbid, visitor={"$email": email, "seats": 4})
    id = calls.visitors_service_identify(identify_request=identity).visitor.id
    page = calls.visitors_service_list(email=email).var_json
    assert [each.id for each in page.visitors] == [id], page
    seated = signpost.AttributeFilter(
        key="seats",
        operator=signpost.VisitorAttributeFilterOperator.VISITOR_ATTRIBUTE_FILTER_OPERATOR_NUMBER_GREATER_THAN,
        value="3",
    )
    search = signpost.SearchVisitorsRequest(email=email, attributeFilters=[seated])
    assert len(calls.visitors_service_search(search_visitors_request=search).var_json.visitors) == 1
    assert "seats" in calls.visitors_service_list_attribute_keys().attribute_keys
    named = signpost.UpdateVisitorRequest(visitor={"$firstName": "Ada"})
    assert calls.visitors_service_update(id, update_visitor_request=named).first_name == "Ada"
    assert calls.visitors_service_delete_attribute(id, "seats").success
    read = calls.visitors_service_get(id, include=["events"])
    assert read.email == email and read.events, read
    assert calls.visitors_service_delete(id).success


def wire(calls: signpost.WorkflowStepsApi, link_id: str) -> None:
    listed = calls.workflow_steps_service_list(link_id).workflow_steps
    exit = next(step for step in listed if step.event_action == REDIRECT)
    form = signpost.FormPayload(
        formTitle="Old", formFields=[signpost.FormField(id="mail", key="$email", label="E-mail")]
    )
    wanted = signpost.CreateWorkflowStepRequest(
        eventAction=signpost.EventAction.EVENT_ACTION_FORM_SUBMIT,
        insertBefore=exit.id,
        payload=signpost.WorkflowStepPayload(form=form),
    )
    id = calls.workflow_steps_service_create(link_id, wanted).workflow_step.id
    payload = calls.workflow_steps_service_get(link_id, id).workflow_step.payload
    payload.form.form_title = "Who are you?"
    change = signpost.UpdateWorkflowStepRequest(payload=payload)
    changed = calls.workflow_steps_service_update(link_id, id, update_workflow_step_request=change)
    read = changed.workflow_step.payload.form
    assert (read.form_title, read.form_fields[0].label) == ("Who are you?", "E-mail"), read
    cut = calls.workflow_steps_service_disconnect_step(link_id, id, "next")
    assert cut.unconnected_branch_ids == ["next"], cut
    way = signpost.ConnectWorkflowStepRequest(nextStepId=exit.id)
    whole = calls.workflow_steps_service_connect_step(link_id, id, "next", way)
    assert whole.unconnected_branch_ids == [], whole
    calls.workflow_steps_service_resolve_step_collisions(link_id, id)
    calls.workflow_steps_service_auto_layout_workflow(link_id)
    assert calls.workflow_steps_service_validate_workflow(link_id).issues == []
    mail = signpost.SimulatedFieldAnswer(field="mail", values=["ada@example.com"])
    answer = signpost.SimulatedAnswer(stepId=id, form=signpost.SimulatedFormAnswer(fields=[mail]))
    journey = signpost.SimulateWorkflowRequest(visit=signpost.SimulatedVisit(country="DE"), answers=[answer])
    path = calls.workflow_steps_service_simulate(link_id, simulate_workflow_request=journey).path
    assert path[-1].step_id == exit.id, path
    calls.workflow_steps_service_delete(link_id, id)


def delegate(calls: signpost.WorkspaceTokensApi) -> None:
    wanted = signpost.CreateWorkspaceTokenRequest(
        keyType=signpost.WorkspaceTokenKeyType.WORKSPACE_TOKEN_KEY_TYPE_SECRET,
        name="reader",
        scopes=[signpost.ApiScope.API_SCOPE_LINKS_READ],
    )
    made = calls.workspace_tokens_service_create(wanted)
    id = made.token.id
    assert not calls.workspace_tokens_service_get(id).token.full_access
    assert id in [each.id for each in calls.workspace_tokens_service_list().tokens]
    change = signpost.UpdateWorkspaceTokenRequest(name="guest")
    renamed = calls.workspace_tokens_service_update(id, update_workspace_token_request=change)
    assert renamed.token.name == "guest", renamed
    with connect(made.access_token) as reader:
        links = signpost.LinksApi(reader)
        links.links_service_list()
        link = signpost.CreateLinkRequest(destination="https://example.com")
        refused = reason_of(lambda: links.links_service_create(link))
        assert refused == signpost.ErrorReason.INSUFFICIENT_SCOPE, refused
    calls.workspace_tokens_service_delete(id)


main()
