import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { AllowancesService } from "../../gen/signpost/v1/allowances_service_pb.js";
import { AnalyticsDashboardService } from "../../gen/signpost/v1/analytics_dashboard_service_pb.js";
import { AnalyticsDataService } from "../../gen/signpost/v1/analytics_data_service_pb.js";
import { DirectoriesService } from "../../gen/signpost/v1/directories_service_pb.js";
import { EventsService } from "../../gen/signpost/v1/events_service_pb.js";
import { LinksService } from "../../gen/signpost/v1/links_service_pb.js";
import { MetricsService } from "../../gen/signpost/v1/metrics_service_pb.js";
import { PageThemeTemplatesService } from "../../gen/signpost/v1/page_theme_templates_service_pb.js";
import { PageThemesService } from "../../gen/signpost/v1/page_themes_service_pb.js";
import { QrcodeDesignService } from "../../gen/signpost/v1/qrcode_design_service_pb.js";
import { QrcodeTemplatesService } from "../../gen/signpost/v1/qrcode_templates_service_pb.js";
import { TagsService } from "../../gen/signpost/v1/tags_service_pb.js";
import { TimeSeriesService } from "../../gen/signpost/v1/time_series_service_pb.js";
import { VisitorsService } from "../../gen/signpost/v1/visitors_service_pb.js";
import { WorkflowStepsService } from "../../gen/signpost/v1/workflow_steps_service_pb.js";
import { WorkspacesService } from "../../gen/signpost/v1/workspaces_service_pb.js";
import { type FactsOf, type Tool, toolOf } from "./tools.ts";

/** What a conversation can be about. */
export type Subject =
  | "ANALYTICS_DASHBOARD"
  | "WORKFLOW"
  | "LINK"
  | "QRCODE_DESIGN"
  | "PAGE_THEME"
  | "LINK_ANALYTICS"
  | "LEAD_SCORE"
  | "WORKSPACE";

/** The record that a conversation is about. */
export interface Record {
  readonly id: string;
  /** The link of an event, of a design or of a dashboard that has one. Empty for others. */
  readonly linkId: string;
}

interface SubAssistant {
  /** What the model is told of its work. */
  readonly duty: string;
  /** The operations that it may call. The record decides some fields of their requests. */
  readonly tools: (record: Record) => readonly (readonly [method: DescMethodUnary, pinned?: JsonObject])[];
}

const { method: links } = LinksService;
const { method: steps } = WorkflowStepsService;
const { method: data } = AnalyticsDataService;
const { method: designs } = QrcodeDesignService;
const { method: themes } = PageThemesService;
const { method: dashboards } = AnalyticsDashboardService;

const questions = [
  data.getBreakdown,
  data.getGeoBreakdown,
  data.getDeviceDistribution,
  data.getHourOfDayDistribution,
  data.getVisitorTrends,
  data.getGroupedTimeSeries,
];

const ofWorkflow = (linkId: string) =>
  [
    steps.list,
    steps.get,
    steps.validateWorkflow,
    steps.create,
    steps.update,
    steps.delete,
    steps.connectStep,
    steps.disconnectStep,
    steps.autoLayoutWorkflow,
  ].map((method) => [method, { linkId }] as const);

const ofVisits = (linkId: string) =>
  [
    ...questions,
    data.getStepFunnel,
    MetricsService.method.getEventsMetric,
    EventsService.method.listEvents,
  ].map((method) => [method, linkId === "" ? {} : { linkId }] as const);

/** The sub-assistants. Each has the tools of its own subject only, and those of one record touch no other. */
const subAssistants: { readonly [Name in Subject]: SubAssistant } = {
  LINK: {
    duty: "You help with one short link: its name, its settings, its workflow and its visits.",
    tools: ({ id }) => [
      [links.get, { id }],
      [links.update, { id }],
      [links.delete, { id }],
      ...ofWorkflow(id),
      [MetricsService.method.getEventsMetric, { linkId: id }],
      [TagsService.method.list],
    ],
  },
  WORKFLOW: {
    duty: "You help with the workflow of one short link: which steps its visitors see, and what leads where.",
    tools: ({ id }) => [[links.get, { id }], ...ofWorkflow(id)],
  },
  LINK_ANALYTICS: {
    duty: "You explain the visits of one short link. You change nothing.",
    tools: ({ id }) => [[links.get, { id }], ...ofVisits(id)],
  },
  LEAD_SCORE: {
    duty: "You explain the lead score of one visit. The score and its factors are given; you never calculate them anew.",
    tools: ({ id, linkId }) => [
      [links.getLeadScore, { linkId, eventId: id }],
      [EventsService.method.listEventTraces, { eventId: id }],
    ],
  },
  QRCODE_DESIGN: {
    duty: "You help with the design of one QR code, which has to stay readable.",
    tools: ({ id, linkId }) => [
      [designs.get, { id }],
      [designs.update, { id }],
      [designs.verify, { id }],
      ...(linkId === "" ? [] : [[designs.applyTemplate, { linkId }] as const]),
      [designs.delete, { id }],
      [QrcodeTemplatesService.method.listQrcodeTemplates],
    ],
  },
  PAGE_THEME: {
    duty: "You help with the look of the pages that one theme gives: its colors, fonts and pictures.",
    tools: ({ id }) => [
      [themes.getPageTheme, { id }],
      [themes.updatePageTheme, { id }],
      [PageThemeTemplatesService.method.listPageThemeTemplates],
    ],
  },
  ANALYTICS_DASHBOARD: {
    duty: "You help with one dashboard: what its widgets show, and what their numbers mean.",
    tools: ({ id, linkId }) => [
      [dashboards.listDashboards, linkId === "" ? {} : { linkId }],
      [dashboards.updateDashboard, { id }],
      [dashboards.getWidgetSummary, { dashboardId: id }],
      [dashboards.deleteDashboard, { id }],
      ...ofVisits(linkId),
    ],
  },
  WORKSPACE: {
    duty: "You help with a whole workspace: its links, folders, tags, visitors and visits.",
    tools: ({ id }) => [
      [links.list],
      [links.get],
      [links.create],
      [links.update],
      [links.delete],
      [steps.list],
      [DirectoriesService.method.list],
      [DirectoriesService.method.create],
      [DirectoriesService.method.update],
      [DirectoriesService.method.delete],
      [TagsService.method.list],
      [TagsService.method.delete],
      [VisitorsService.method.list],
      [VisitorsService.method.search],
      [VisitorsService.method.get],
      [data.getTopLinks],
      ...questions.map((method) => [method] as const),
      [TimeSeriesService.method.getEventsTimeSeries],
      [MetricsService.method.getEventsMetric],
      [AllowancesService.method.list],
      [WorkspacesService.method.getWorkspace, { id }],
    ],
  },
};

/** What the sub-assistant of a subject is told of its work. */
export function dutyOf(subject: Subject): string {
  return subAssistants[subject].duty;
}

/** The tools of a conversation, by name. */
export function toolsOf(subject: Subject, record: Record, factsOf: FactsOf): ReadonlyMap<string, Tool> {
  const tools = subAssistants[subject].tools(record);
  return new Map(
    tools.flatMap(([method, pinned = {}]) => {
      const tool = toolOf(method, pinned, factsOf);
      return tool === undefined ? [] : [[tool.name, tool] as const];
    }),
  );
}
