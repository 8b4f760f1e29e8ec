import { create, fromJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { DeviceSchema } from "../../../gen/signpost/v1/device_pb.js";
import { type Event, type EventJourneySchema, EventSchema } from "../../../gen/signpost/v1/event_pb.js";
import { EventTraceDataSchema, type EventTraceSchema } from "../../../gen/signpost/v1/event_trace_pb.js";
import type { LeadScoreSchema } from "../../../gen/signpost/v1/lead_score_pb.js";
import { LinkSchema } from "../../../gen/signpost/v1/link_pb.js";
import {
  Action,
  HttpMethod,
  TriggeredBy,
  UncountedReason,
  VisitType,
} from "../../../gen/signpost/v1/visit_pb.js";
import { VisitorSchema } from "../../../gen/signpost/v1/visitor_pb.js";
import { EventAction, WorkflowStep_Kind } from "../../../gen/signpost/v1/workflow_step_pb.js";
import { WorkspaceSchema } from "../../../gen/signpost/v1/workspace_pb.js";
import type { Embedded } from "../../db/within-answer.ts";
import { stepActions } from "../../model/steps/kinds.ts";
import { type DeviceRow, toDevice } from "../resources/device.ts";
import { type LinkRow, toLinkAlone } from "../resources/link.ts";
import { toVisitorAlone, type VisitorRow } from "../resources/visitor.ts";
import { toWorkspace, type WorkspaceRow } from "../resources/workspace.ts";
import type { EventRow, TracedEvent, TraceRow } from "./queries.ts";

/** What events embed, by id. Undefined for objects that the request does not name. */
export interface EmbeddedRows {
  readonly journey: boolean;
  readonly leadScore: boolean;
  readonly traces: Embedded<TraceRow> | undefined;
  readonly visitors: Embedded<VisitorRow> | undefined;
  readonly devices: Embedded<DeviceRow> | undefined;
  /** Deleted links have no row. */
  readonly links: Embedded<LinkRow> | undefined;
  readonly workspace: WorkspaceRow | undefined;
}

/**
 * Whether everything that an event embeds was read. When an answer is full, the page ends before the first event that
 * is not read completely.
 */
export function isRead(row: EventRow, { traces, visitors, devices, links }: EmbeddedRows): boolean {
  const has = (found: ReadonlyMap<string, unknown> | undefined, id: string | null) =>
    found === undefined || id === null || found.has(id);
  return (
    has(traces, row.id) &&
    has(visitors, row.visitor_id) &&
    has(devices, row.device_id) &&
    has(links, row.link_id)
  );
}

/** Makes the messages of one page. An object that many events embed is made once. */
export function eventMessages(embedded: EmbeddedRows, shortUrl: string): (row: EventRow) => Event {
  const visitorOf = once(embedded.visitors, (row) => create(VisitorSchema, toVisitorAlone(row)));
  const deviceOf = once(embedded.devices, (row) => create(DeviceSchema, toDevice(row)));
  const linkOf = once(embedded.links, (row) => create(LinkSchema, toLinkAlone(row, shortUrl)));
  const workspace = embedded.workspace && create(WorkspaceSchema, toWorkspace(embedded.workspace));
  return (row) => {
    const objects = {
      visitor: visitorOf(row.visitor_id),
      device: deviceOf(row.device_id),
      link: linkOf(row.link_id),
      workspace,
    };
    return create(EventSchema, toEvent(row, embedded, objects));
  };
}

function once<Row, Message>(
  found: Embedded<Row> | undefined,
  make: (row: Row) => Message,
): (id: string | null) => Message | undefined {
  const made = new Map<string, Message>();
  return (id) => {
    const [row] = (id !== null && found?.get(id)) || [];
    if (id === null || row === undefined) return undefined;
    const message = made.get(id) ?? make(row);
    made.set(id, message);
    return message;
  };
}

type EmbeddedObjects = { readonly [Name in "visitor" | "device" | "link" | "workspace"]: Event[Name] };

/** An event with what it embeds. What is the same for all events has no column. */
function toEvent(
  row: EventRow,
  embedded: EmbeddedRows,
  { visitor, device, link, workspace }: EmbeddedObjects,
): MessageInitShape<typeof EventSchema> {
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
    ...(visitor && { visitor }),
    ...(device && { device }),
    ...(link && { link }),
    ...(workspace && { workspace }),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
    counted: row.counted,
    uncountedReason: UncountedReason[row.uncounted_reason ?? "UNSPECIFIED"],
  };
}

function actionOf(action: EventRow["destination_action"]): EventAction {
  return action === null ? EventAction.UNSPECIFIED : EventAction[action];
}

function toJourney(row: EventRow): MessageInitShape<typeof EventJourneySchema> {
  return {
    stepsReached: row.steps_reached,
    stepsTotal: row.steps_total,
    completed: row.outcome === "COMPLETED",
  };
}

/** The score of an event. An event has at most one score, which has the event's id. */
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
    // The score is computed once and does not change.
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
    // The data is stored as the message's JSON. A later version may have added fields to it.
    stepData: fromJson(EventTraceDataSchema, row.data as JsonValue, { ignoreUnknownFields: true }),
    // The column is only ever written with such maps.
    savedAttributes: (row.saved_attributes ?? {}) as Record<string, string>,
    ...(row.completed_at && { completedAt: timestampFromDate(row.completed_at) }),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}
