import { fromJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type EventJourneySchema,
  type EventSchema,
  JourneyOutcome,
} from "../../../gen/signpost/v1/event_pb.js";
import { EventTraceDataSchema, type EventTraceSchema } from "../../../gen/signpost/v1/event_trace_pb.js";
import type { LeadScoreSchema } from "../../../gen/signpost/v1/lead_score_pb.js";
import type { LinkSchema } from "../../../gen/signpost/v1/link_pb.js";
import { Action, HttpMethod, TriggeredBy, VisitType } from "../../../gen/signpost/v1/visit_pb.js";
import type { VisitorSchema } from "../../../gen/signpost/v1/visitor_pb.js";
import { EventAction, WorkflowStep_Kind } from "../../../gen/signpost/v1/workflow_step_pb.js";
import {
  DigestFrequency,
  SubscriptionType,
  type WorkspaceSchema,
} from "../../../gen/signpost/v1/workspace_pb.js";
import { stepActions } from "../../model/workflow.ts";
import { type DeviceRow, toAttribute, toDevice } from "../visitor-parts.ts";
import type { EventRow, LinkRow, TracedEvent, TraceRow, VisitorRow, WorkspaceRow } from "./queries.ts";

/** What events embed, by id; undefined is what was not asked for. */
export interface Embedded {
  readonly journey: boolean;
  readonly leadScore: boolean;
  readonly traces: ReadonlyMap<string, readonly TraceRow[]> | undefined;
  readonly visitors: ReadonlyMap<string, VisitorRow> | undefined;
  readonly devices: ReadonlyMap<string, DeviceRow> | undefined;
  /** Deleted ones are missing. */
  readonly links: ReadonlyMap<string, LinkRow> | undefined;
  readonly workspace: WorkspaceRow | undefined;
}

/** An event with what it embeds; what is the same for all events is no column. */
export function toEvent(
  row: EventRow,
  embedded: Embedded,
  shortUrl: string,
): MessageInitShape<typeof EventSchema> {
  const visitor = row.visitor_id === null ? undefined : embedded.visitors?.get(row.visitor_id);
  const device = embedded.devices?.get(row.device_id);
  const link = embedded.links?.get(row.link_id);
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    linkId: row.link_id,
    visitorId: row.visitor_id ?? "",
    deviceId: row.device_id,
    leadScoreId: row.lead_score === null ? "" : row.id,
    action: Action[row.action],
    visitType: VisitType[row.visit_type],
    triggeredBy: TriggeredBy.VISITOR,
    httpMethod: HttpMethod.GET,
    entrypoint: row.entrypoint,
    destination: row.destination,
    destinationAction: actionOf(row.destination_action),
    scannedAt: timestampFromDate(row.created_at),
    ...(embedded.journey && { journey: toJourney(row) }),
    ...(embedded.leadScore && row.lead_score !== null && { leadScore: toLeadScore(row, row.lead_score) }),
    traces: embedded.traces?.get(row.id)?.map((trace) => toTrace(trace, row)) ?? [],
    ...(visitor && { visitor: toVisitor(visitor) }),
    ...(device && { device: toDevice(device) }),
    ...(link && { link: toLink(link, shortUrl) }),
    ...(embedded.workspace && { workspace: toWorkspace(embedded.workspace) }),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}

function actionOf(action: EventRow["destination_action"]): EventAction {
  return action === null ? EventAction.UNSPECIFIED : EventAction[action];
}

function toJourney(row: EventRow): MessageInitShape<typeof EventJourneySchema> {
  return {
    stepsReached: row.steps_reached,
    stepsTotal: row.steps_total,
    lastStepId: row.last_step_id ?? "",
    lastStepAction: actionOf(row.last_step_action),
    outcome: JourneyOutcome[row.outcome],
    completed: row.outcome === "COMPLETED",
    startedAt: timestampFromDate(row.created_at),
    ...(row.ended_at && { endedAt: timestampFromDate(row.ended_at) }),
  };
}

/** An event has at most one score, which goes by the event's id. */
function toLeadScore(row: EventRow, leadScore: number): MessageInitShape<typeof LeadScoreSchema> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    linkId: row.link_id,
    visitorId: row.visitor_id ?? "",
    leadScore,
    ...(row.engagement_level !== null && { engagementLevel: row.engagement_level }),
    ...(row.technological_aptitude !== null && { technologicalAptitude: row.technological_aptitude }),
    ...(row.recurring_interest !== null && { recurringInterest: row.recurring_interest }),
    ...(row.brand_supportiveness !== null && { brandSupportiveness: row.brand_supportiveness }),
    ...(row.profile_fit !== null && { profileFit: row.profile_fit }),
    ...(row.recurring_scans !== null && { recurringScans: row.recurring_scans }),
    // It is computed once and does not change.
    ...(row.scored_at && {
      createdAt: timestampFromDate(row.scored_at),
      updatedAt: timestampFromDate(row.scored_at),
    }),
  };
}

export function toTrace(row: TraceRow, event: TracedEvent): MessageInitShape<typeof EventTraceSchema> {
  const kind = row.step_action === null ? "UNSPECIFIED" : stepActions[row.step_action].kind;
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    eventId: row.event_id,
    linkId: event.link_id,
    visitorId: event.visitor_id ?? "",
    stepAction: actionOf(row.step_action),
    stepKind: WorkflowStep_Kind[kind],
    // Stored as the message's JSON, and perhaps by a later version with more in it.
    stepData: fromJson(EventTraceDataSchema, row.data as JsonValue, { ignoreUnknownFields: true }),
    ...(row.completed_at && { completedAt: timestampFromDate(row.completed_at) }),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}

function toVisitor(row: VisitorRow): MessageInitShape<typeof VisitorSchema> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    email: row.email ?? "",
    phone: row.phone ?? "",
    firstName: row.first_name ?? "",
    lastName: row.last_name ?? "",
    attributes: row.attributes.map(toAttribute),
    deviceCount: row.device_count,
    qrcodeCount: row.link_count,
    visitCount: row.visit_count,
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}

// The link as its own reads answer it, without anything embedded.
function toLink(row: LinkRow, shortUrl: string): MessageInitShape<typeof LinkSchema> {
  const origin = row.domain_name === null ? shortUrl : `https://${row.domain_name}`;
  const pending = row.qrcode_pending_update_since;
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    purpose: row.purpose,
    shortlink: row.shortlink,
    entrypoint: `${origin}/${row.shortlink}`,
    customDomainId: row.custom_domain_id ?? "",
    fallbackDestination: row.fallback_destination,
    directoryId: row.directory_id ?? "",
    metadata: row.metadata as Record<string, string>, // written from the same map
    qrcodeDesignId: row.qrcode_design_id,
    qrcodeTemplateId: row.qrcode_template_id ?? "",
    pageThemeId: row.page_theme_id ?? "",
    eventCount: row.event_count ?? 0n,
    ...(pending && { qrcodePendingUpdateSince: timestampFromDate(pending) }),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}

function toWorkspace(row: WorkspaceRow): MessageInitShape<typeof WorkspaceSchema> {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug ?? "",
    shortDescription: row.short_description,
    description: row.description,
    website: row.website,
    tags: row.tags,
    faq: row.faq,
    country: row.country,
    timezone: row.timezone,
    digestFrequency: DigestFrequency[row.digest_frequency],
    enforceMfa: row.enforce_mfa,
    linkSettingId: row.link_setting_id,
    subscriptionType: SubscriptionType[row.subscription_type],
    ...(row.trial_ends_at && { trialEndsAt: timestampFromDate(row.trial_ends_at) }),
    ...(row.verified_at && { verifiedAt: timestampFromDate(row.verified_at) }),
    ...(row.enroll_requested_at && { enrollRequestedAt: timestampFromDate(row.enroll_requested_at) }),
    ...(row.published_at && { publishedAt: timestampFromDate(row.published_at) }),
    ...(row.inactive_since && { inactiveSince: timestampFromDate(row.inactive_since) }),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}
