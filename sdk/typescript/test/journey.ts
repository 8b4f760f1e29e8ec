/**
 * Walks through every group of the service at SIGNPOST_URL, with SIGNPOST_TOKEN, by the steps of sdk/JOURNEY.md; ends with
 * an error when an answer is not as it should be.
 */
import assert from "node:assert/strict";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient, items, SignpostError } from "signpost-client";
import { ApiScope } from "signpost-client/options/v1/access";
import type { Link } from "signpost-client/v1/link";
import { Media_Type } from "signpost-client/v1/media";
import { DotsType } from "signpost-client/v1/qrcode_design";
import { QrcodeTemplateScope } from "signpost-client/v1/qrcode_templates_service";
import { VisitorAttributeFilterOperator } from "signpost-client/v1/visitor";
import { EventAction } from "signpost-client/v1/workflow_step";
import { WorkspaceTokenKeyType } from "signpost-client/v1/workspace_token";
import { claimAsPerson } from "./journey-agents.ts";
import { analyse } from "./journey-analytics.ts";
import { askAssistant } from "./journey-assistant.ts";
import { present } from "./journey-dashboards.ts";
import { makeManyLinks, nestDirectories } from "./journey-directories.ts";
import { bringDomain } from "./journey-domains.ts";
import { takeAway } from "./journey-exports.ts";
import { askForForms } from "./journey-google-forms.ts";
import { wearTemplate } from "./journey-page-themes.ts";
import { invite, signIn } from "./journey-people.ts";
import { playInSandbox } from "./journey-sandbox.ts";
import { askForSlack } from "./journey-slack.ts";
import { all, follow, given, picture, refusalOf, until } from "./journey-support.ts";
import { subscribe } from "./journey-webhooks.ts";
import { closeWorkspace, openWorkspace } from "./journey-workspace.ts";

const { SIGNPOST_URL = "", SIGNPOST_TOKEN = "" } = process.env;
const client = createClient(SIGNPOST_URL, SIGNPOST_TOKEN);
const run = `journey-${crypto.randomUUID()}`;
const { links, qrcodeDesign: designs, qrcodeTemplates: templates, workflowSteps: steps } = client;

const { scopes } = await client.apiScopes.list({});
assert(scopes.some(({ scope }) => scope === ApiScope.LINKS_READ));
await openWorkspace(client, run);
const templateId = await makeTemplate();
await keepMedia();
const link = await makeLink(templateId);
await restyle(link);
await wearTemplate(client, run, link.id);
const lbid = await visit(link);
await analyse(client, link);
await present(client, link);
await takeAway(client, link);
await subscribe(client);
await bringDomain(client, run);
await askForSlack(client);
await askForForms(client);
await askAssistant(client, link.id);
await expire();
await tellVisitors(lbid);
await wire(link);
await delegate();
const directoryId = await nestDirectories(client, run);
await makeManyLinks(client, run, directoryId);
await signIn(client);
await invite(client, run);
await claimAsPerson(client, run);
await playInSandbox(client);
await links.delete({ id: link.id });
await templates.deleteQrcodeTemplate({ id: templateId });
await closeWorkspace(client);
process.stdout.write("typescript: walked the journey\n");

async function makeTemplate(): Promise<string> {
  const { qrcodeDesign } = await designs.publicCreate({ dotsOptions: { type: DotsType.ROUNDED } });
  const qrcodeDesignId = given(qrcodeDesign).id;
  const made = await templates.createQrcodeTemplate({
    name: "Journey",
    description: "Round dots",
    tags: "menu",
    qrcodeDesignId,
  });
  const { id } = given(made.qrcodeTemplate);
  const read = await templates.getQrcodeTemplate({ id, include: ["qrcodeDesign"] });
  assert.equal(read.qrcodeTemplate?.qrcodeDesign?.dotsOptions?.type, DotsType.ROUNDED);
  const changed = await templates.updateQrcodeTemplate({
    id,
    name: "Renamed",
    slug: run,
    tags: "ignored",
    updateMask: { paths: ["name", "slug"] },
  });
  assert.deepEqual([changed.qrcodeTemplate?.name, changed.qrcodeTemplate?.tags], ["Renamed", "menu"]);
  const scope = QrcodeTemplateScope.WORKSPACE;
  const own = items(templates.listQrcodeTemplates, { scope }, (page) => page.qrcodeTemplates);
  assert((await all(own)).some((template) => template.id === id));
  const published = await templates.publishQrcodeTemplate({ id });
  assert.notEqual(published.qrcodeTemplate?.publishedAt, undefined);
  const shown = await all(items(templates.publicListQrcodeTemplates, {}, (page) => page.qrcodeTemplates));
  const { slug, name } = given(shown[0]);
  assert.equal((await templates.publicGetQrcodeTemplate({ slug })).qrcodeTemplate?.name, name);
  await until("a thumbnail", async () => {
    const { thumbnailSignedUrls } = await templates.resolveQrcodeTemplateImages({ templateIds: [id] });
    return thumbnailSignedUrls[id];
  });
  const copied = await templates.importQrcodeTemplate({ slug });
  await templates.deleteQrcodeTemplate({ id: given(copied.qrcodeTemplate).id });
  return id;
}

async function keepMedia(): Promise<void> {
  const { media } = await client.media.create({
    fileData: picture,
    mediaType: Media_Type.BADGE,
    fileName: "badge.png",
  });
  const { id } = given(media);
  assert.equal((await client.media.get({ id })).media?.mimeType, "image/png");
  const listed = await all(items(client.media.list, {}, (page) => page.media));
  assert(listed.some((each) => each.id === id));
  await client.media.delete({ id });
}

async function makeLink(qrcodeTemplateId: string): Promise<Link> {
  const { shortlink } = await links.shortlinkRandom({});
  assert((await links.shortlinkAvailability({ shortlink })).available);
  const made = await links.create({
    destination: "https://example.com/menu",
    shortlink,
    qrcodeTemplateId,
    name: "Menu",
    purpose: "sales leads",
    tags: [run],
    metadata: { table: "7" },
    conversionTracking: true,
    expiresAt: timestampFromMs(Date.now() + 86_400_000),
    waitForQrcode: true,
  });
  const { id } = given(made.link);
  const read = await links.get({ id, include: ["tags", "qrcodeDesign"] });
  assert.deepEqual(
    [read.link?.metadata.table, read.link?.tags[0]?.name, read.link?.qrcodeDesign?.dotsOptions?.type],
    ["7", run, DotsType.ROUNDED],
  );
  const changed = await links.update({ id, name: "Lunch", tags: [run, "lunch"], expiresAtDelete: true });
  assert.deepEqual([changed.link?.name, changed.link?.expiresAt], ["Lunch", undefined]);

  const contact = await links.createContactLink({
    vcardData: { firstName: "Ada", lastName: "Lovelace", phone: "+15551234567" },
    name: "Ada",
    tags: [run],
  });
  const thanks = await links.createThankYouLink({ title: "Thank you", name: "Thanks", tags: [run] });
  const found = items(links.list, { tags: [run], pageSize: 2n }, (page) => page.links);
  const names = (await all(found)).map(({ name }) => name);
  assert.deepEqual(names, ["Thanks", "Ada", "Lunch"]);
  const linkIds = [id, given(contact.link).id, given(thanks.link).id];
  await until("every image", async () => {
    const { qrcodeSignedUrls } = await links.resolveQrcodeImages({ linkIds });
    return linkIds.every((each) => qrcodeSignedUrls[each]) || undefined;
  });
  for (const each of linkIds.slice(1)) await links.delete({ id: each });
  const gone = await refusalOf(links.get({ id: given(thanks.link).id }));
  assert.equal(gone.reason, "NOT_FOUND");
  return given(changed.link);
}

async function restyle({ id: linkId, qrcodeDesignId: id, qrcodeTemplateId }: Link): Promise<void> {
  const before = given((await designs.get({ id })).qrcodeDesign);
  const { qrcodeDesign: after } = await designs.update({
    id,
    dotsOptions: { type: DotsType.DOTS },
    updateMask: { paths: ["dots_options.type"] },
  });
  assert.deepEqual(after?.dotsOptions, { ...before.dotsOptions, type: DotsType.DOTS });
  assert((await designs.verify({ id })).scannability?.readable);
  const applied = await designs.applyTemplate({ linkId, qrcodeTemplateId });
  assert.equal(applied.qrcodeDesign?.dotsOptions?.type, DotsType.ROUNDED);
  const unused = given((await designs.publicCreate({})).qrcodeDesign);
  await designs.delete({ id: unused.id });
}

async function visit(link: Link): Promise<string> {
  const destination = await follow(link.entrypoint);
  const lbid = given(destination.searchParams.get("lbid") ?? undefined);
  const event = await until("an event", async () => {
    const { json } = await client.events.listEvents({ linkId: link.id, include: ["device", "workspace"] });
    return json?.events[0];
  });
  assert.equal(event.device?.browserName, "Firefox");
  const { traces } = await client.events.listEventTraces({ eventId: event.id });
  assert(traces.some(({ stepAction }) => stepAction === EventAction.CLIENT_REDIRECT));
  await until("a lead score", async () => {
    const score = links.getLeadScore({ linkId: link.id, eventId: event.id });
    return score.catch((error: unknown) => {
      assert(error instanceof SignpostError);
      assert.equal(error.reason, "LEAD_SCORE_NOT_FOUND");
      return undefined;
    });
  });
  const id = given(event.workspace).linkSettingId;
  const { linkSetting } = await client.linkSettings.getLinkSetting({ id });
  const { dataCollection } = given(linkSetting);
  const kept = await client.linkSettings.updateLinkSetting({ id, dataCollection });
  assert.equal(kept.linkSetting?.dataCollection, dataCollection);
  return lbid;
}

async function expire(): Promise<void> {
  const { link } = await links.create({
    destination: "https://example.com/now",
    expiredDestination: "https://example.com/over",
    expiresAt: timestampFromMs(Date.now() + 2_000),
  });
  const { entrypoint } = given(link);
  assert.equal((await follow(entrypoint)).pathname, "/now");
  await until("the expiry", async () => (await follow(entrypoint)).pathname === "/over" || undefined);
}

async function tellVisitors(lbid: string): Promise<void> {
  const $email = `${run}@example.com`;
  const { visitor } = await client.visitors.identify({ lbid, visitor: { $email, seats: 4 } });
  const { id } = given(visitor);
  const page = await client.visitors.list({ email: $email });
  assert.deepEqual(
    page.json?.visitors.map((each) => each.id),
    [id],
  );
  const operator = VisitorAttributeFilterOperator.NUMBER_GREATER_THAN;
  const searched = await client.visitors.search({
    email: $email,
    attributeFilters: [{ key: "seats", operator, value: "3" }],
  });
  assert.equal(searched.json?.visitors.length, 1);
  assert((await client.visitors.listAttributeKeys({})).attributeKeys.includes("seats"));
  const changed = await client.visitors.update({ id, visitor: { $firstName: "Ada" } });
  assert.equal(changed.visitor?.firstName, "Ada");
  assert((await client.visitors.deleteAttribute({ id, attributeKey: "seats" })).success);
  const read = await client.visitors.get({ id, include: ["events"] });
  assert.equal(read.visitor?.email, $email);
  assert.notEqual(read.visitor.events.length, 0);
  assert((await client.visitors.delete({ id })).success);
}

async function wire({ id: linkId }: Link): Promise<void> {
  const { workflowSteps } = await steps.list({ linkId });
  const exit = given(workflowSteps.find(({ eventAction }) => eventAction === EventAction.CLIENT_REDIRECT));
  const formFields = [{ id: "mail", key: "$email", label: "E-mail" }];
  const { workflowStep } = await steps.create({
    linkId,
    eventAction: EventAction.FORM_SUBMIT,
    insertBefore: exit.id,
    payload: { variant: { case: "form", value: { formTitle: "Old", formFields } } },
  });
  const { id } = given(workflowStep);
  await steps.update({
    linkId,
    id,
    payload: { variant: { case: "form", value: { formTitle: "Who are you?" } } },
    updateMask: { paths: ["payload.form.form_title"] },
  });
  const { variant } = given((await steps.get({ linkId, id })).workflowStep?.payload);
  assert(variant.case === "form");
  assert.deepEqual([variant.value.formTitle, variant.value.formFields[0]?.label], ["Who are you?", "E-mail"]);
  const cut = await steps.disconnectStep({ linkId, stepId: id, branchId: "next" });
  assert.deepEqual(cut.unconnectedBranchIds, ["next"]);
  const whole = await steps.connectStep({ linkId, stepId: id, branchId: "next", nextStepId: exit.id });
  assert.deepEqual(whole.unconnectedBranchIds, []);
  await steps.resolveStepCollisions({ linkId, stepId: id });
  await steps.autoLayoutWorkflow({ linkId });
  assert.deepEqual((await steps.validateWorkflow({ linkId })).issues, []);
  const fields = [{ field: "mail", values: ["ada@example.com"] }];
  const { path } = await steps.simulate({
    linkId,
    visit: { country: "DE" },
    answers: [{ stepId: id, answer: { case: "form", value: { fields } } }],
  });
  assert.equal(path.at(-1)?.stepId, exit.id);
  await steps.delete({ linkId, id });
}

async function delegate(): Promise<void> {
  const made = await client.workspaceTokens.create({
    keyType: WorkspaceTokenKeyType.SECRET,
    name: "reader",
    scopes: [ApiScope.LINKS_READ],
  });
  const { id } = given(made.token);
  assert.equal((await client.workspaceTokens.get({ id })).token?.fullAccess, false);
  const listed = await all(items(client.workspaceTokens.list, {}, (page) => page.tokens));
  assert(listed.some((token) => token.id === id));
  assert.equal((await client.workspaceTokens.update({ id, name: "guest" })).token?.name, "guest");
  const reader = createClient(SIGNPOST_URL, made.accessToken);
  await reader.links.list({});
  const refused = await refusalOf(reader.links.create({ destination: "https://example.com" }));
  assert.equal(refused.reason, "INSUFFICIENT_SCOPE");
  await client.workspaceTokens.delete({ id });
}
