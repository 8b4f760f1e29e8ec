import { AgentIdentityService } from "../../gen/signpost/v1/agent_identity_service_pb.js";
import { AllowancesService } from "../../gen/signpost/v1/allowances_service_pb.js";
import { AnalyticsDashboardService } from "../../gen/signpost/v1/analytics_dashboard_service_pb.js";
import { AnalyticsDataService } from "../../gen/signpost/v1/analytics_data_service_pb.js";
import { ApiScopesService } from "../../gen/signpost/v1/api_scopes_service_pb.js";
import { AssistantService } from "../../gen/signpost/v1/assistant_service_pb.js";
import { CustomDomainsService } from "../../gen/signpost/v1/custom_domains_service_pb.js";
import { DirectoriesService } from "../../gen/signpost/v1/directories_service_pb.js";
import { EventsService } from "../../gen/signpost/v1/events_service_pb.js";
import { ExportsService } from "../../gen/signpost/v1/exports_service_pb.js";
import { GoogleFormsIntegrationsService } from "../../gen/signpost/v1/google_forms_integrations_service_pb.js";
import { GrantsService } from "../../gen/signpost/v1/grants_service_pb.js";
import { JobsService } from "../../gen/signpost/v1/jobs_service_pb.js";
import { LinkSettingsService } from "../../gen/signpost/v1/link_settings_service_pb.js";
import { LinksService } from "../../gen/signpost/v1/links_service_pb.js";
import { MediaService } from "../../gen/signpost/v1/media_service_pb.js";
import { MembersService } from "../../gen/signpost/v1/members_service_pb.js";
import { MetricsService } from "../../gen/signpost/v1/metrics_service_pb.js";
import { PageThemeTemplatesService } from "../../gen/signpost/v1/page_theme_templates_service_pb.js";
import { PageThemesService } from "../../gen/signpost/v1/page_themes_service_pb.js";
import { PricingService } from "../../gen/signpost/v1/pricing_service_pb.js";
import { QrcodeDesignService } from "../../gen/signpost/v1/qrcode_design_service_pb.js";
import { QrcodeTemplatesService } from "../../gen/signpost/v1/qrcode_templates_service_pb.js";
import { SandboxesService } from "../../gen/signpost/v1/sandboxes_service_pb.js";
import { SlackIntegrationsService } from "../../gen/signpost/v1/slack_integrations_service_pb.js";
import { TagsService } from "../../gen/signpost/v1/tags_service_pb.js";
import { TimeSeriesService } from "../../gen/signpost/v1/time_series_service_pb.js";
import { VisitorsService } from "../../gen/signpost/v1/visitors_service_pb.js";
import { WebhooksService } from "../../gen/signpost/v1/webhooks_service_pb.js";
import { WorkflowStepsService } from "../../gen/signpost/v1/workflow_steps_service_pb.js";
import { WorkspaceTokensService } from "../../gen/signpost/v1/workspace_tokens_service_pb.js";
import { WorkspacesService } from "../../gen/signpost/v1/workspaces_service_pb.js";
import { type RegisteredService, register } from "../rpc/handlers.ts";
import type { AgentIdentityDeps } from "./agent-identity/claim-workspace.ts";
import { agentIdentityService } from "./agent-identity/service.ts";
import { allowancesService } from "./allowances/service.ts";
import { summaryWriter } from "./analytics-dashboard/model-summary.ts";
import { analyticsDashboardService } from "./analytics-dashboard/service.ts";
import { analyticsDataService } from "./analytics-data/service.ts";
import { apiScopesService } from "./api-scopes/service.ts";
import type { AssistantDeps } from "./assistant/deps.ts";
import { assistantService } from "./assistant/service.ts";
import type { DomainDeps } from "./custom-domains/create-domain.ts";
import { customDomainsService } from "./custom-domains/service.ts";
import type { Deps } from "./deps.ts";
import { directoriesService } from "./directories/service.ts";
import { eventsService } from "./events/service.ts";
import { exportsService } from "./exports/service.ts";
import { type GoogleFormsDeps, googleFormsIntegrationsService } from "./google-forms-integrations/service.ts";
import { type GrantsDeps, grantsService } from "./grants/service.ts";
import { jobsService } from "./jobs/service.ts";
import { linkSettingsService } from "./link-settings/service.ts";
import { linksService } from "./links/service.ts";
import { mediaService } from "./media/service.ts";
import { toMember } from "./members/message.ts";
import { findMember } from "./members/queries.ts";
import { type MembersDeps, membersService } from "./members/service.ts";
import { metricsService } from "./metrics/service.ts";
import { pageThemeTemplatesService } from "./page-theme-templates/service.ts";
import { pageThemesService } from "./page-themes/service.ts";
import { pricingService } from "./pricing/service.ts";
import { qrcodeDesignService } from "./qrcode-design/service.ts";
import { qrcodeTemplatesService } from "./qrcode-templates/service.ts";
import { shownAnalytics } from "./resources/history.ts";
import { type SandboxesDeps, sandboxesService } from "./sandboxes/service.ts";
import type { SlackDeps } from "./slack-integrations/deps.ts";
import { slackIntegrationsService } from "./slack-integrations/service.ts";
import { tagsService } from "./tags/service.ts";
import { timeSeriesService } from "./time-series/service.ts";
import { visitorsService } from "./visitors/service.ts";
import { webhooksService } from "./webhooks/service.ts";
import { workflowStepsService } from "./workflow-steps/service.ts";
import { type WorkspaceTokensDeps, workspaceTokensService } from "./workspace-tokens/service.ts";
import { workspacesService } from "./workspaces/service.ts";

/**
 * Every service of the API with its handlers. A service that is registered here is served by every protocol.
 */
export function createServices(
  given: Deps &
    Omit<AgentIdentityDeps, "memberOf"> &
    AssistantDeps &
    DomainDeps &
    GoogleFormsDeps &
    GrantsDeps &
    MembersDeps &
    SandboxesDeps &
    SlackDeps &
    WorkspaceTokensDeps,
): readonly RegisteredService[] {
  const deps = { ...given, analytics: shownAnalytics(given) };
  return [
    register(AgentIdentityService, agentIdentityService({ ...deps, memberOf: findMemberMessage })),
    register(AllowancesService, allowancesService(deps)),
    register(AnalyticsDashboardService, analyticsDashboardService(deps, summaryWriter(deps.model))),
    register(AnalyticsDataService, analyticsDataService(deps)),
    register(ApiScopesService, apiScopesService()),
    register(AssistantService, assistantService(deps)),
    register(CustomDomainsService, customDomainsService(deps)),
    register(DirectoriesService, directoriesService(deps)),
    register(EventsService, eventsService(deps)),
    register(ExportsService, exportsService(deps)),
    register(GoogleFormsIntegrationsService, googleFormsIntegrationsService(deps)),
    register(GrantsService, grantsService(deps)),
    register(JobsService, jobsService(deps)),
    register(LinkSettingsService, linkSettingsService(deps)),
    register(LinksService, linksService(deps)),
    register(MediaService, mediaService(deps)),
    register(MembersService, membersService(deps)),
    register(MetricsService, metricsService(deps)),
    register(PageThemeTemplatesService, pageThemeTemplatesService(deps)),
    register(PageThemesService, pageThemesService(deps)),
    register(PricingService, pricingService(deps)),
    register(QrcodeDesignService, qrcodeDesignService(deps)),
    register(QrcodeTemplatesService, qrcodeTemplatesService(deps)),
    register(SandboxesService, sandboxesService(deps)),
    register(SlackIntegrationsService, slackIntegrationsService(deps)),
    register(TagsService, tagsService()),
    register(TimeSeriesService, timeSeriesService(deps)),
    register(VisitorsService, visitorsService(deps)),
    register(WebhooksService, webhooksService(deps)),
    register(WorkflowStepsService, workflowStepsService(deps)),
    register(WorkspaceTokensService, workspaceTokensService(deps)),
    register(WorkspacesService, workspacesService(deps)),
  ];
}

/** A member as the API shows it, for the slices that answer with one. */
const findMemberMessage: AgentIdentityDeps["memberOf"] = async (db, { workspaceId, memberId }) => {
  const row = await findMember(db, workspaceId, memberId);
  return row && toMember(row);
};
