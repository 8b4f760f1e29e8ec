import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { newId } from "../../src/lib/ids.ts";
import { addDirectory } from "./add-directory.ts";
import { onePixel } from "./one-pixel.ts";
import type { Api, TestWorkspace } from "./start-api.ts";
import { connectGoogle } from "./test-google.ts";

/** The link of each workflow step and event made here; requests name them together with their link. */
const linkIds = new Map<string, string>();

/** The webhook of each delivery made here. */
const webhookIds = new Map<string, string>();

/** The steps that the branches `next` of workflow steps lead to. */
const nextStepIds = new Map<string, string>();

/** The link that a workflow step or an event of `makers` belongs to. */
export function linkOf(id: string): string {
  return linkIds.get(id) ?? "";
}

function nextOf(workflowStep: string): string {
  return nextStepIds.get(workflowStep) ?? "";
}

type Make = (api: Api, workspace: TestWorkspace) => Promise<string>;

/**
 * How a workspace gets a record of each kind that ids refer to: through the API where the API can make one, or else as
 * the responsible part of the service writes it.
 */
export const makers = {
  link: async (_api, { rest }) => {
    const { json } = await rest("POST", "/v1/links", { destination: "https://example.com" });
    return json.link.id;
  },
  workflowStep: async (_api, { rest }) => {
    const { json } = await rest("POST", "/v1/links", { destination: "https://example.com" });
    const linkId = json.link.id;
    const nextStepId = json.workflowSteps[1].id;
    const added = await rest("POST", `/v1/links/${linkId}/workflow-steps`, {
      eventAction: "EVENT_ACTION_PASSWORD_VERIFY",
      payload: { password: { title: "Members" } },
      insertBefore: nextStepId,
    });
    const { id } = added.json.workflowStep;
    linkIds.set(id, linkId);
    nextStepIds.set(id, nextStepId);
    return id;
  },
  // With everything that becoming public requires.
  workspace: async (_api, { rest, workspaceId }) => {
    await rest("PUT", "/v1/workspace", { slug: `w-${workspaceId}`, description: "Menus" });
    return workspaceId;
  },
  dashboard: async (_api, { rest }) => {
    // A workspace has one dashboard, and so has each link.
    const link = await rest("POST", "/v1/links", { destination: "https://example.com" });
    const { json } = await rest("POST", "/v1/analytics/dashboards", {
      linkId: link.json.link.id,
      useDefaultWidgets: true,
    });
    return json.dashboard.id;
  },
  linkSetting: async ({ db }, { workspaceId }) => {
    const { id } = await db
      .selectFrom("link_settings")
      .select("id")
      .where("workspace_id", "=", workspaceId)
      .executeTakeFirstOrThrow();
    return id;
  },
  token: async (_api, { rest }) => {
    const { json } = await rest("POST", "/v1/workspace-tokens", {
      keyType: "WORKSPACE_TOKEN_KEY_TYPE_SECRET",
    });
    return json.token.id;
  },
  sandbox: async (api, { rest }) => {
    const { json } = await rest("GET", "/v1/sandboxes");
    // A workspace has few, and calls that make some need room.
    if (json.sandboxes.length > 0) return json.sandboxes[0].id;
    const made = await rest("POST", "/v1/sandboxes", {});
    const destination = "https://example.com";
    await api.rest(made.json.accessToken)("POST", "/v1/links", { destination });
    return made.json.sandbox.id;
  },
  customDomain: async ({ db, now }, { workspaceId }) => {
    const [id, at] = [newId(now()), now()];
    const name = `${id}.example.com`;
    const own = { workspace_id: workspaceId, id, created_at: at, updated_at: at };
    await db
      .insertInto("custom_domains")
      .values({ ...own, name, status: "ACTIVE", points_here: true, verified_at: at, activated_at: at })
      .execute();
    await db
      .insertInto("domain_names")
      .values({ name, workspace_id: workspaceId, custom_domain_id: id })
      .execute();
    return id;
  },
  directory: async (_api, workspace) => addDirectory(workspace),
  job: async (_api, { rest }) => {
    const { json } = await rest("POST", "/v1/links/bulk/jobs", {
      links: [{ destination: "https://example.com" }],
    });
    return json.id;
  },
  export: async ({ db, now }, { rest, workspaceId }) => {
    // A workspace has one that is not finished.
    await db
      .updateTable("exports")
      .set({ status: "FAILED", completed_at: now() })
      .where("workspace_id", "=", workspaceId)
      .execute();
    const { json } = await rest("POST", "/v1/exports", { format: "EXPORT_FORMAT_CSV" });
    return json.id;
  },
  tag: async (_api, { rest }) => {
    const name = `tag ${randomUUID()}`;
    await rest("POST", "/v1/links", { destination: "https://example.com", tags: [name] });
    return name;
  },
  // What Google gives a browser whose person allowed the connection.
  googleCode: async ({ google }, { rest }) => {
    const { json } = await rest("GET", "/v1/google-forms-integrations/oauth-url");
    return JSON.stringify(await (await google.server()).allow(json.oauthUrl, "owner@example.com"));
  },
  pageTheme: async (api, workspace) => {
    const linkId = await makers.link(api, workspace);
    const made = await workspace.rest("POST", "/v1/page-theme-templates", {});
    const pageThemeTemplateId = made.json.pageThemeTemplate.id;
    const request = { linkId, pageThemeTemplateId };
    const { json } = await workspace.rest("POST", "/v1/page-themes/apply-template", request);
    await workspace.rest("DELETE", `/v1/page-theme-templates/${pageThemeTemplateId}`);
    return json.pageTheme.id;
  },
  // Private, with everything that publishing requires.
  pageThemeTemplate: async ({ db, now }, { rest, workspaceId }) => {
    const texts = { name: "Ours", description: "For menus" };
    const { json } = await rest("POST", "/v1/page-theme-templates", texts);
    const { id } = json.pageThemeTemplate;
    await rest("PATCH", `/v1/page-theme-templates/${id}`, { slug: `ours-${id}` });
    await db.updateTable("workspaces").set({ published_at: now() }).where("id", "=", workspaceId).execute();
    return id;
  },
  qrcodeDesign: async ({ db, now }, { workspaceId }) => {
    const [id, at] = [newId(now()), now()];
    const own = { workspace_id: workspaceId, id, created_at: at, updated_at: at };
    await db
      .insertInto("qrcode_designs")
      .values({ ...own, options: "{}" })
      .execute();
    return id;
  },
  // Private, with everything that publishing requires.
  qrcodeTemplate: async ({ db, now }, { rest, workspaceId }) => {
    const { json } = await rest("POST", "/v1/qrcode-templates", { name: "Ours", description: "For menus" });
    const { id } = json.qrcodeTemplate;
    await rest("PATCH", `/v1/qrcode-templates/${id}`, { slug: `ours-${id}` });
    await db.updateTable("workspaces").set({ published_at: now() }).where("id", "=", workspaceId).execute();
    return id;
  },
  member: async (_api, { rest }) => {
    const { json } = await rest("POST", "/v1/members/invite", { email: `${randomUUID()}@example.com` });
    return json.id;
  },
  media: async (_api, { rest }) => {
    const { json } = await rest("POST", "/v1/media", { fileData: onePixel, mediaType: "TYPE_BADGE" });
    return json.media.id;
  },
  visitor: async ({ now }, { rest }) => {
    const visitor = { $email: `${newId(now())}@example.com`, plan: "free" };
    const { json } = await rest("POST", "/v1/visitor/identify", { visitor });
    return json.visitor.id;
  },
  webhook: async (_api, { rest }) => {
    const { json } = await rest("POST", "/v1/webhooks", {
      name: "CRM",
      endpointUrl: "https://1.0.0.1/hooks",
    });
    return json.webhook.id;
  },
  webhookDelivery: async (api, workspace) => {
    const webhook = await makers.webhook(api, workspace);
    // The list of a webhook's messages shows two pages.
    await workspace.rest("POST", `/v1/webhooks/${webhook}:test`);
    const { json } = await workspace.rest("POST", `/v1/webhooks/${webhook}:test`);
    webhookIds.set(json.delivery.id, webhook);
    return json.delivery.id;
  },
  event: async (api, workspace) => {
    const { db, now } = api;
    const link_id = await makers.link(api, workspace);
    const visitor_id = await makers.visitor(api, workspace);
    const at = now();
    const [id, device_id] = [newId(at), newId(at)];
    const own = { workspace_id: workspace.workspaceId, created_at: at, updated_at: at };
    await db
      .insertInto("devices")
      .values({
        ...own,
        id: device_id,
        visitor_id,
        device_type: "MOBILE",
        device_actor: "HUMAN",
        last_used_at: at,
      })
      .execute();
    await db
      .insertInto("events")
      .values({
        ...own,
        id,
        link_id,
        device_id,
        visitor_id,
        action: "SCAN",
        visit_type: "FIRST",
        counted: true,
        entrypoint: "https://short.test/x",
        steps_total: 2,
        steps_reached: 2,
        outcome: "COMPLETED",
        ended_at: at,
        scored_at: at,
        lead_score: 50,
        engagement_level: 100,
        technological_aptitude: 0,
        recurring_interest: 50,
        recurring_scans: 1,
      })
      .execute();
    linkIds.set(id, link_id);
    return id;
  },
  // A channel that the bot is in, of the team that the workspace is connected to. Needs a stand-in of Slack.
  slackChannel: async (api, workspace) => {
    const { rest, workspaceId } = workspace;
    const connected = await rest("GET", "/v1/slack-integrations");
    if (connected.json.slackIntegration === undefined) {
      const state = await makers.slackState(api, workspace);
      const code = `team ${workspaceId}.${randomUUID()}`;
      await rest("POST", "/v1/slack-integrations/oauth/complete", { code, state });
    }
    const { json } = await rest("GET", "/v1/slack-integrations/channels");
    const { id } = json.channels.find((channel: { isMember: boolean }) => channel.isMember);
    await rest("PATCH", "/v1/slack-integrations", { slackChannelId: id });
    return id;
  },
  slackState: async (_api, { rest }) => {
    const { json } = await rest("GET", "/v1/slack-integrations/oauth-url");
    return new URL(json.oauthUrl).searchParams.get("state") ?? "";
  },
} as const satisfies Record<string, Make>;

export type RecordKind = keyof typeof makers;

/** The kind of record that an id field of a request refers to, by the field's name; `id` by the message or the service. */
export const kindsByField: Readonly<Record<string, RecordKind>> = {
  "AnalyticsDashboardService id": "dashboard",
  dashboardId: "dashboard",
  // A widget is no record of its own: any id that the dashboard's widgets lack is unknown.
  widgetId: "dashboard",
  "DirectoriesService id": "directory",
  parentDirectoryId: "directory",
  "ExportsService id": "export",
  "JobsService id": "job",
  "LinksService id": "link",
  "LinkSettingsService id": "linkSetting",
  "WorkflowStepsService id": "workflowStep",
  "VisitorsService id": "visitor",
  "WorkspaceTokensService id": "token",
  "SandboxesService id": "sandbox",
  "WorkspacesService id": "workspace",
  "CustomDomainsService id": "customDomain",
  moveLinksTo: "customDomain",
  "MediaService id": "media",
  "MediaSelection id": "media",
  "MembersService id": "member",
  "PageThemesService id": "pageTheme",
  "PageThemeTemplatesService id": "pageThemeTemplate",
  "PageThemeTemplatesService templateIds": "pageThemeTemplate",
  "QrcodeDesignService id": "qrcodeDesign",
  "QrcodeTemplatesService id": "qrcodeTemplate",
  "WebhooksService id": "webhook",
  deliveryId: "webhookDelivery",
  "SlackIntegrationsService id": "slackChannel",
  slackChannelId: "slackChannel",
  templateIds: "qrcodeTemplate",
  // A conversation with the assistant about a link.
  contextId: "link",
  linkId: "link",
  linkIds: "link",
  stepId: "workflowStep",
  nextStepId: "workflowStep",
  elseNextStepId: "workflowStep",
  insertBefore: "workflowStep",
  // A branch is no record of its own: any id that is not a branch of the step is unknown.
  branchId: "workflowStep",
  customDomainId: "customDomain",
  directoryId: "directory",
  pageThemeId: "pageTheme",
  sourcePageThemeId: "pageTheme",
  pageThemeTemplateId: "pageThemeTemplate",
  qrcodeDesignId: "qrcodeDesign",
  qrcodeTemplateId: "qrcodeTemplate",
  visitorId: "visitor",
  eventId: "event",
};

/** Makes a valid request as JSON, given the ids of the caller's own records. */
type Request = (own: Readonly<Record<RecordKind, string>>) => Record<string, unknown>;

/** Makes a record that a list shows; two of them make two pages. */
export interface Seed {
  readonly request: Request;
  readonly lists?: RecordKind;
  /** Makes room for what the request makes, where a workspace has only one. */
  readonly makeRoom?: (api: Api, workspaceId: string) => Promise<unknown>;
}

const aboutLink = (link: string) => ({ contextType: "ASSISTANT_CONTEXT_TYPE_LINK", contextId: link });

/** A valid request for every RPC that needs a scope; a new RPC needs an entry here. */
export const seeds: Readonly<Record<string, Seed>> = {
  "AllowancesService.List": { request: () => ({}) },
  "AnalyticsDashboardService.CreateDashboard": {
    request: ({ link }) => ({ linkId: link, useDefaultWidgets: true }),
    makeRoom: ({ db }, workspaceId) =>
      db.deleteFrom("dashboards").where("workspace_id", "=", workspaceId).execute(),
  },
  "AnalyticsDashboardService.DeleteDashboard": { request: ({ dashboard }) => ({ id: dashboard }) },
  "AnalyticsDashboardService.GenerateWidgetSummary": {
    request: ({ dashboard }) => ({ dashboardId: dashboard, widgetId: "visits" }),
  },
  "AnalyticsDashboardService.GetWidgetSummary": {
    request: ({ dashboard }) => ({ dashboardId: dashboard, widgetId: "visits" }),
  },
  "AnalyticsDashboardService.GetWidgetPicture": {
    request: ({ dashboard }) => ({ dashboardId: dashboard, picture: "countries.svg" }),
  },
  "AnalyticsDashboardService.ListDashboards": { request: () => ({}), lists: "dashboard" },
  "AssistantService.GetConversation": { request: ({ link }) => aboutLink(link) },
  "AssistantService.ClearConversation": { request: ({ link }) => aboutLink(link) },
  "AssistantService.MarkConversationRead": { request: ({ link }) => aboutLink(link) },
  "AssistantService.SendMessage": { request: ({ link }) => ({ ...aboutLink(link), message: "Hello" }) },
  "AssistantService.UploadFile": {
    request: () => ({ content: Buffer.from("a,b\n1,2\n").toString("base64"), mimeType: "text/csv" }),
    makeRoom: ({ db }, workspaceId) =>
      db.deleteFrom("assistant_uploads").where("workspace_id", "=", workspaceId).execute(),
  },
  "AnalyticsDashboardService.UpdateDashboard": {
    request: ({ dashboard }) => ({ id: dashboard, name: "Renamed" }),
  },
  "AnalyticsDataService.ExplainCount": { request: ({ link }) => ({ linkId: link, dimension: "city" }) },
  "AnalyticsDataService.GetAttributeDistribution": { request: ({ link }) => ({ key: "plan", linkId: link }) },
  "AnalyticsDataService.GetAttributeMetric": { request: ({ link }) => ({ key: "plan", linkId: link }) },
  "AnalyticsDataService.GetAttributeValues": { request: ({ link }) => ({ key: "plan", linkId: link }) },
  "AnalyticsDataService.GetBreakdown": { request: ({ link }) => ({ dimension: "city", linkId: link }) },
  "AnalyticsDataService.GetDeviceDistribution": { request: ({ link }) => ({ linkId: link }) },
  "AnalyticsDataService.GetGeoBreakdown": { request: ({ link }) => ({ linkId: link }) },
  "AnalyticsDataService.GetGroupedTimeSeries": {
    request: ({ link }) => ({ groupBy: "GROUP_BY_DIMENSION_CITY", linkId: link }),
  },
  "AnalyticsDataService.GetHourOfDayDistribution": { request: ({ link }) => ({ linkId: link }) },
  "AnalyticsDataService.GetStepFunnel": { request: ({ link }) => ({ linkId: link }) },
  "AnalyticsDataService.GetTopLinks": { request: ({ link }) => ({ linkId: link }) },
  "AnalyticsDataService.GetVisitorTrends": { request: ({ link }) => ({ linkId: link }) },
  "CustomDomainsService.Check": {
    request: ({ customDomain }) => ({ id: customDomain }),
    makeRoom: ({ db }, workspaceId) =>
      db
        .updateTable("domain_names")
        .set({ check_began_at: null })
        .where("workspace_id", "=", workspaceId)
        .execute(),
  },
  "CustomDomainsService.Create": { request: () => ({ name: `${randomUUID()}.example.com` }) },
  "CustomDomainsService.Delete": { request: ({ customDomain }) => ({ id: customDomain }) },
  "CustomDomainsService.Get": { request: ({ customDomain }) => ({ id: customDomain }) },
  "CustomDomainsService.GetSetupGuide": { request: ({ customDomain }) => ({ id: customDomain }) },
  "CustomDomainsService.List": { request: () => ({}), lists: "customDomain" },
  "CustomDomainsService.Update": {
    request: ({ customDomain }) => ({ id: customDomain, rootDestination: "https://example.com/home" }),
  },
  "CustomDomainsService.ValidationInstructions": { request: ({ customDomain }) => ({ id: customDomain }) },
  "DirectoriesService.Create": { request: () => ({ name: `Menus ${randomUUID()}` }) },
  "DirectoriesService.Delete": { request: ({ directory }) => ({ id: directory }) },
  "DirectoriesService.Get": { request: ({ directory }) => ({ id: directory }) },
  "DirectoriesService.List": { request: () => ({}), lists: "directory" },
  "DirectoriesService.Update": {
    request: ({ directory }) => ({ id: directory, name: `Renamed ${randomUUID()}` }),
  },
  "EventsService.ListEvents": { request: () => ({}), lists: "event" },
  "EventsService.ListEventTraces": { request: ({ event }) => ({ eventId: event }) },
  "ExportsService.Create": {
    request: () => ({ format: "EXPORT_FORMAT_CSV" }),
    makeRoom: ({ db }, workspaceId) =>
      db.deleteFrom("exports").where("workspace_id", "=", workspaceId).execute(),
  },
  "ExportsService.Delete": { request: ({ export: id }) => ({ id }) },
  "ExportsService.Get": { request: ({ export: id }) => ({ id }) },
  "ExportsService.List": { request: () => ({}), lists: "export" },
  "GoogleFormsIntegrationsService.CompleteOAuth": {
    request: ({ googleCode }) => JSON.parse(googleCode || "{}"),
  },
  "GoogleFormsIntegrationsService.Delete": {
    request: () => ({}),
    makeRoom: connectGoogle,
  },
  "GoogleFormsIntegrationsService.Get": { request: () => ({}) },
  "GoogleFormsIntegrationsService.GetOAuthURL": { request: () => ({}) },
  "GoogleFormsIntegrationsService.ListDetectedForms": { request: () => ({}) },
  "GoogleFormsIntegrationsService.SyncNow": {
    request: () => ({}),
    makeRoom: connectGoogle,
  },
  "GoogleFormsIntegrationsService.Update": {
    request: () => ({ status: "GOOGLE_FORMS_INTEGRATION_STATUS_ACTIVE" }),
    makeRoom: connectGoogle,
  },
  "LinkSettingsService.GetLinkSetting": { request: ({ linkSetting }) => ({ id: linkSetting }) },
  "LinkSettingsService.UpdateLinkSetting": {
    request: ({ linkSetting }) => ({ id: linkSetting, dataCollection: "DATA_COLLECTION_ADVANCED" }),
  },
  "JobsService.Get": { request: ({ job }) => ({ id: job }) },
  "LinksService.CreateBatch": { request: () => ({ links: [{ destination: "https://example.com/menu" }] }) },
  "LinksService.CreateBulk": { request: () => ({ links: [{ destination: "https://example.com/menu" }] }) },
  "LinksService.CreateBulkJob": { request: () => ({ links: [{ destination: "https://example.com/menu" }] }) },
  "LinksService.Create": { request: () => ({ destination: "https://example.com/menu" }) },
  "LinksService.CreateContactLink": {
    request: () => ({ vcardData: { firstName: "Ada", lastName: "Lovelace" } }),
  },
  "LinksService.CreateThankYouLink": { request: () => ({ title: "Thank you" }) },
  "LinksService.Delete": { request: ({ link }) => ({ id: link }) },
  "LinksService.Get": { request: ({ link }) => ({ id: link }) },
  "LinksService.GetLeadScore": { request: ({ event }) => ({ linkId: linkOf(event), eventId: event }) },
  "LinksService.List": { request: () => ({}), lists: "link" },
  "LinksService.ResolveQrcodeImages": { request: ({ link }) => ({ linkIds: [link] }) },
  "LinksService.ShortlinkAvailability": { request: () => ({ shortlink: "summer-menu" }) },
  "LinksService.ShortlinkRandom": { request: () => ({}) },
  "LinksService.Update": { request: ({ link }) => ({ id: link, name: "Renamed" }) },
  "MediaService.Create": { request: () => ({ fileData: onePixel, mediaType: "TYPE_BADGE" }) },
  "MediaService.Delete": { request: ({ media }) => ({ id: media }) },
  "MediaService.Get": { request: ({ media }) => ({ id: media }) },
  "MetricsService.GetEventsMetric": { request: ({ link }) => ({ linkId: link }) },
  "MetricsService.GetWorkspaceInsight": { request: () => ({}) },
  "MetricsService.GetWorkspaceMetric": { request: () => ({}) },
  "MediaService.List": { request: () => ({}), lists: "media" },
  "MembersService.AllowAccess": { request: ({ member }) => ({ id: member }) },
  "MembersService.Delete": { request: ({ member }) => ({ id: member }) },
  "MembersService.ForceSignout": { request: ({ member }) => ({ id: member }) },
  "MembersService.Get": { request: ({ member }) => ({ id: member }) },
  "MembersService.Invite": { request: () => ({ email: `${randomUUID()}@example.com` }) },
  "MembersService.List": { request: () => ({}), lists: "member" },
  "MembersService.RevokeAccess": { request: ({ member }) => ({ id: member }) },
  "MembersService.Update": { request: ({ member }) => ({ id: member, firstName: "Renamed" }) },
  "WorkflowStepsService.AutoLayoutWorkflow": {
    request: ({ workflowStep }) => ({ linkId: linkOf(workflowStep) }),
  },
  "WorkflowStepsService.ConnectStep": {
    request: ({ workflowStep }) => ({
      linkId: linkOf(workflowStep),
      stepId: workflowStep,
      branchId: "next",
      nextStepId: nextOf(workflowStep),
    }),
  },
  "WorkflowStepsService.Create": {
    request: ({ workflowStep }) => ({
      linkId: linkOf(workflowStep),
      eventAction: "EVENT_ACTION_PASSWORD_VERIFY",
      payload: { password: { title: "Members" } },
    }),
  },
  "WorkflowStepsService.Delete": {
    request: ({ workflowStep }) => ({ linkId: linkOf(workflowStep), id: workflowStep }),
  },
  "WorkflowStepsService.DisconnectStep": {
    request: ({ workflowStep }) => ({
      linkId: linkOf(workflowStep),
      stepId: workflowStep,
      branchId: "next",
    }),
  },
  "WorkflowStepsService.Get": {
    request: ({ workflowStep }) => ({ linkId: linkOf(workflowStep), id: workflowStep }),
  },
  "WorkflowStepsService.List": {
    request: ({ workflowStep }) => ({ linkId: linkOf(workflowStep) }),
    lists: "workflowStep",
  },
  "WorkflowStepsService.ResolveStepCollisions": {
    request: ({ workflowStep }) => ({ linkId: linkOf(workflowStep), stepId: workflowStep }),
  },
  "WorkflowStepsService.Simulate": {
    request: ({ workflowStep }) => ({ linkId: linkOf(workflowStep) }),
  },
  "WorkflowStepsService.Update": {
    request: ({ workflowStep }) => ({
      linkId: linkOf(workflowStep),
      id: workflowStep,
      payload: { password: { title: "Renamed" } },
    }),
  },
  "WorkflowStepsService.ValidateWorkflow": {
    request: ({ workflowStep }) => ({ linkId: linkOf(workflowStep) }),
  },
  "SlackIntegrationsService.CompleteOAuth": {
    request: ({ slackState }) => ({ code: `team ${randomUUID()}.1`, state: slackState }),
  },
  "SlackIntegrationsService.Delete": { request: ({ slackChannel: _ }) => ({}) },
  "SlackIntegrationsService.Get": { request: () => ({}) },
  "SlackIntegrationsService.GetOAuthURL": { request: () => ({}) },
  "SlackIntegrationsService.JoinChannel": { request: ({ slackChannel }) => ({ id: slackChannel }) },
  "SlackIntegrationsService.ListChannels": { request: ({ slackChannel: _ }) => ({}) },
  "SlackIntegrationsService.Test": { request: ({ slackChannel: _ }) => ({}) },
  "SlackIntegrationsService.Update": {
    request: ({ slackChannel }) => ({ slackChannelId: slackChannel, triggers: ["KIND_EXIT"] }),
  },
  "TagsService.Delete": { request: ({ tag }) => ({ name: tag }) },
  "TagsService.List": { request: () => ({}), lists: "tag" },
  "TimeSeriesService.GetEventsTimeSeries": { request: ({ link }) => ({ linkId: link }) },
  "VisitorsService.Delete": { request: ({ visitor }) => ({ id: visitor }) },
  "VisitorsService.DeleteAttribute": { request: ({ visitor }) => ({ id: visitor, attributeKey: "plan" }) },
  "VisitorsService.Get": { request: ({ visitor }) => ({ id: visitor }) },
  "VisitorsService.Identify": { request: () => ({ visitor: { $email: "ada@example.com" } }) },
  "VisitorsService.List": { request: () => ({}), lists: "visitor" },
  "VisitorsService.ListAttributeKeys": { request: () => ({}) },
  "VisitorsService.Search": {
    request: () => ({
      attributeFilters: [
        { key: "$email", operator: "VISITOR_ATTRIBUTE_FILTER_OPERATOR_STRING_IS_NOT_EMPTY" },
      ],
    }),
    lists: "visitor",
  },
  "VisitorsService.Update": { request: ({ visitor }) => ({ id: visitor, visitor: { plan: "pro" } }) },
  "PageThemesService.ApplyTemplate": {
    request: ({ link, pageThemeTemplate }) => ({ linkId: link, pageThemeTemplateId: pageThemeTemplate }),
  },
  "PageThemesService.FindMatchingTemplate": { request: ({ link }) => ({ linkId: link }) },
  "WebhooksService.Create": { request: () => ({ name: "CRM", endpointUrl: "https://1.0.0.1/hooks" }) },
  "WebhooksService.Delete": { request: ({ webhook }) => ({ id: webhook }) },
  "WebhooksService.Get": { request: ({ webhook }) => ({ id: webhook }) },
  "WebhooksService.ListDeliveries": {
    request: ({ webhookDelivery }) => ({ id: webhookIds.get(webhookDelivery) ?? "" }),
    lists: "webhookDelivery",
  },
  "WebhooksService.ReplayDeliveries": {
    request: ({ webhook }) => ({ id: webhook, since: new Date(Date.now() - 3_600_000).toISOString() }),
    makeRoom: ({ db }, workspaceId) =>
      db
        .deleteFrom("jobs")
        .where("workspace_id", "=", workspaceId)
        .where("type", "=", "WEBHOOK_REPLAY")
        .execute(),
  },
  "WebhooksService.ResendDelivery": {
    request: ({ webhookDelivery }) => ({
      id: webhookIds.get(webhookDelivery) ?? "",
      deliveryId: webhookDelivery,
    }),
  },
  "WebhooksService.ListMessages": { request: () => ({ since: new Date().toISOString() }) },
  "WebhooksService.SendTest": { request: ({ webhook }) => ({ id: webhook }) },
  "WebhooksService.List": { request: () => ({}), lists: "webhook" },
  "WebhooksService.Update": { request: ({ webhook }) => ({ id: webhook, name: "Renamed" }) },
  "PageThemesService.GetPageTheme": { request: ({ pageTheme }) => ({ id: pageTheme }) },
  "PageThemesService.ListPageThemes": { request: () => ({}), lists: "pageTheme" },
  "PageThemesService.PreviewPageTheme": { request: ({ pageTheme }) => ({ id: pageTheme, step: "form" }) },
  "PageThemesService.UpdatePageTheme": {
    request: ({ pageTheme }) => ({ id: pageTheme, badgeEnabled: true }),
  },
  "PageThemeTemplatesService.CreatePageThemeTemplate": {
    request: ({ pageTheme }) => ({ name: "Ours", sourcePageThemeId: pageTheme }),
  },
  "PageThemeTemplatesService.DeletePageThemeTemplate": {
    request: ({ pageThemeTemplate }) => ({ id: pageThemeTemplate }),
  },
  "PageThemeTemplatesService.GetPageThemeTemplate": {
    request: ({ pageThemeTemplate }) => ({ id: pageThemeTemplate }),
  },
  "PageThemeTemplatesService.ImportPageThemeTemplate": { request: () => ({ slug: "plain" }) },
  "PageThemeTemplatesService.ListPageThemeTemplates": { request: () => ({}), lists: "pageThemeTemplate" },
  "PageThemeTemplatesService.PublishPageThemeTemplate": {
    request: ({ pageThemeTemplate }) => ({ id: pageThemeTemplate }),
  },
  "PageThemeTemplatesService.ResolvePageThemeTemplateImages": {
    request: ({ pageThemeTemplate }) => ({ templateIds: [pageThemeTemplate] }),
  },
  "PageThemeTemplatesService.UpdatePageThemeTemplate": {
    request: ({ pageThemeTemplate }) => ({ id: pageThemeTemplate, name: "Renamed" }),
  },
  "PageThemeTemplatesService.UpdatePageThemeTemplateStyling": {
    request: ({ pageThemeTemplate }) => ({ id: pageThemeTemplate, badgeEnabled: true }),
  },
  "QrcodeDesignService.ApplyTemplate": {
    request: ({ link, qrcodeTemplate }) => ({ linkId: link, qrcodeTemplateId: qrcodeTemplate }),
  },
  "QrcodeDesignService.Delete": { request: ({ qrcodeDesign }) => ({ id: qrcodeDesign }) },
  "QrcodeDesignService.Get": { request: ({ qrcodeDesign }) => ({ id: qrcodeDesign }) },
  "QrcodeDesignService.Update": { request: ({ qrcodeDesign }) => ({ id: qrcodeDesign, width: 300 }) },
  "QrcodeDesignService.Verify": { request: ({ qrcodeDesign }) => ({ id: qrcodeDesign }) },
  "QrcodeTemplatesService.CreateQrcodeTemplate": { request: () => ({ name: "Ours" }) },
  "QrcodeTemplatesService.DeleteQrcodeTemplate": {
    request: ({ qrcodeTemplate }) => ({ id: qrcodeTemplate }),
  },
  "QrcodeTemplatesService.GetQrcodeTemplate": { request: ({ qrcodeTemplate }) => ({ id: qrcodeTemplate }) },
  "QrcodeTemplatesService.ImportQrcodeTemplate": { request: () => ({ slug: "classic" }) },
  "QrcodeTemplatesService.ListQrcodeTemplates": { request: () => ({}), lists: "qrcodeTemplate" },
  "QrcodeTemplatesService.PublishQrcodeTemplate": {
    request: ({ qrcodeTemplate }) => ({ id: qrcodeTemplate }),
  },
  "QrcodeTemplatesService.ResolveQrcodeTemplateImages": {
    request: ({ qrcodeTemplate }) => ({ templateIds: [qrcodeTemplate] }),
  },
  "QrcodeTemplatesService.UpdateQrcodeTemplate": {
    request: ({ qrcodeTemplate }) => ({ id: qrcodeTemplate, name: "Renamed" }),
  },
  "SandboxesService.Create": { request: () => ({ name: "Integration tests" }) },
  "SandboxesService.Delete": { request: ({ sandbox }) => ({ id: sandbox }) },
  "SandboxesService.SimulateVisits": { request: ({ sandbox }) => ({ id: sandbox, count: 2 }) },
  "SandboxesService.List": { request: () => ({}) },
  "WorkspaceTokensService.Create": { request: () => ({ keyType: "WORKSPACE_TOKEN_KEY_TYPE_SECRET" }) },
  "WorkspaceTokensService.Delete": { request: ({ token }) => ({ id: token }) },
  "WorkspaceTokensService.Get": { request: ({ token }) => ({ id: token }) },
  "WorkspaceTokensService.List": { request: () => ({}), lists: "token" },
  "WorkspaceTokensService.Update": { request: ({ token }) => ({ id: token, name: "Renamed" }) },
  "WorkspacesService.Delete": { request: () => ({}) },
  "WorkspacesService.GetMyWorkspace": { request: () => ({}) },
  "WorkspacesService.GetWorkspace": { request: ({ workspace }) => ({ id: workspace }) },
  "WorkspacesService.RequestEnrollment": {
    request: ({ workspace }) => ({ message: `Please publish ${workspace}` }),
  },
  "WorkspacesService.Update": { request: () => ({ name: "Renamed" }) },
  "WorkspacesService.UpdateOriginInquiry": { request: () => ({ originInquiry: "From a friend" }) },
  "WorkspacesService.UpdateOriginPurpose": { request: () => ({ originPurpose: "Menus" }) },
};

/** The operation's valid request, about records that were made for it alone. */
export async function seedRequest(api: Api, workspace: TestWorkspace, name: string): Promise<JsonObject> {
  const wanted = new Set<RecordKind>();
  // Records which kinds of records the request is about.
  const asks = new Proxy({} as Record<RecordKind, string>, {
    get: (_, kind: RecordKind) => {
      wanted.add(kind);
      return "";
    },
  });
  seeds[name]?.request(asks);
  const made: [RecordKind, string][] = [];
  for (const kind of wanted) made.push([kind, await makers[kind](api, workspace)]);
  return seeds[name]?.request(Object.fromEntries(made) as Record<RecordKind, string>) as JsonObject;
}
