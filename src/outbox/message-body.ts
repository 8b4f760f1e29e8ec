import { create, createRegistry } from "@bufbuild/protobuf";
import { DeviceSchema } from "../../gen/signpost/v1/device_pb.js";
import { EventSchema } from "../../gen/signpost/v1/event_pb.js";
import { EventTraceSchema } from "../../gen/signpost/v1/event_trace_pb.js";
import { LinkSchema } from "../../gen/signpost/v1/link_pb.js";
import { VisitorSchema } from "../../gen/signpost/v1/visitor_pb.js";
import { eventMessages, toTrace } from "../api/events/message.ts";
import type { EventRow, TraceRow } from "../api/events/queries.ts";
import { toDevice } from "../api/resources/device.ts";
import { toTag } from "../api/resources/tag.ts";
import { toVisitorAlone } from "../api/resources/visitor.ts";
import type { Db } from "../db/open.ts";
import { entrypointOf } from "../model/links/entrypoint.ts";
import { stepActions } from "../model/steps/kinds.ts";
import { lbidOfEvent } from "../model/visitors/lbid.ts";
import { fallbackStepId } from "../model/workflow/workflow.ts";
import { createMessageWriters } from "../rest/write-message.ts";
import {
  type LinkRow,
  type RecordKey,
  readDevices,
  readEvents,
  readLinks,
  readTraces,
  readVisitors,
  type StepKey,
} from "./message-queries.ts";

/** What a message says, and whose data it holds. */
export interface Content {
  readonly body: string;
  /** Null where the visit has no visitor, and for a test message. */
  readonly visitorId: string | null;
}

const writers = createMessageWriters(createRegistry());
const writeDevice = writers.message(DeviceSchema);
const writeEvent = writers.message(EventSchema);
const writeTrace = writers.message(EventTraceSchema);
const writeVisitor = writers.message(VisitorSchema);
const writeTags = writers.message(LinkSchema);

/**
 * Makes the contents of messages about steps, with the objects as the API returns them now, each read and written once.
 * Gives them in the order of `steps`; undefined for a step whose visit is gone.
 */
export async function contentsOf(
  db: Db,
  steps: readonly StepKey[],
  shortUrl: string,
): Promise<readonly (Content | undefined)[]> {
  if (steps.length === 0) return [];
  // A step is told to each subscriber of its workspace.
  const told = new Map(steps.map((step) => [stepPlace(step), step]));
  const eventKeys = distinct(steps.map(({ workspaceId, eventId }) => ({ workspaceId, id: eventId })));
  const [eventRows, traceRows] = await Promise.all([
    readEvents(db, eventKeys),
    readTraces(db, [...told.values()]),
  ]);
  const events = byKey(eventRows);
  const traces = new Map(traceRows.map((row) => [`${row.workspace_id}/${row.event_id}/${row.step_id}`, row]));
  const keysOf = (read: (row: EventRow) => string | null) =>
    distinct(eventRows.map((row) => ({ workspaceId: row.workspace_id, id: read(row) ?? "" })));
  const [deviceRows, visitorRows, linkRows] = await Promise.all([
    readDevices(
      db,
      keysOf((row) => row.device_id),
    ),
    readVisitors(
      db,
      keysOf((row) => row.visitor_id),
    ),
    readLinks(
      db,
      keysOf((row) => row.link_id),
    ),
  ]);
  const devices = byKey(deviceRows, deviceJson);
  const visitors = byKey(visitorRows, visitorJson);
  const links = byKey(linkRows, (row) => linkJson(row, shortUrl));
  const eventJson = once((row: EventRow) => text(writeEvent(eventMessage(row))));
  const contentOf = (step: StepKey): Content | undefined => {
    const { workspaceId, eventId } = step;
    const event = events.get(`${workspaceId}/${eventId}`);
    const trace = traces.get(stepPlace(step));
    if (event === undefined || trace === undefined) return undefined;
    const body = joined("workflow_step.completed", trace.completed_at ?? trace.updated_at, {
      event: eventJson(event),
      trace: text(writeTrace(create(EventTraceSchema, toTrace(trace, event)))),
      step: stepJson(trace),
      link: links.get(`${workspaceId}/${event.link_id}`),
      visitor: visitors.get(`${workspaceId}/${event.visitor_id}`),
      device: devices.get(`${workspaceId}/${event.device_id}`),
      lbid: JSON.stringify(lbidOfEvent(eventId)),
    });
    return { body, visitorId: event.visitor_id };
  };
  const contents = new Map([...told].map(([place, step]) => [place, contentOf(step)]));
  return steps.map((step) => contents.get(stepPlace(step)));
}

function stepPlace({ workspaceId, eventId, stepId }: StepKey): string {
  return `${workspaceId}/${eventId}/${stepId}`;
}

/** The content of a test message. */
export function testContent(at: Date): Content {
  return { body: joined("webhook.test", at, {}), visitorId: null };
}

/** Objects that do not exist, such as a deleted link, are left out. */
function joined(type: string, at: Date, data: Readonly<Record<string, string | undefined>>): string {
  const members = Object.entries(data).flatMap(([name, json]) =>
    json === undefined ? [] : `"${name}":${json}`,
  );
  return `{"type":"${type}","timestamp":"${at.toISOString()}","data":{${members.join()}}}`;
}

const nothingEmbedded = {
  journey: false,
  leadScore: false,
  traces: undefined,
  visitors: undefined,
  devices: undefined,
  links: undefined,
  workspace: undefined,
};

// Without embedded links, nothing asks for the address of short links.
const eventMessage = eventMessages(nothingEmbedded, "");

function stepJson({ step_id: id, step_action: action }: TraceRow): string {
  const kind = action === null ? "UNSPECIFIED" : stepActions[action].kind;
  // A fallback is no step of the workflow.
  return JSON.stringify({
    id: id === fallbackStepId ? "" : id,
    kind: `KIND_${kind}`,
    eventAction: `EVENT_ACTION_${action ?? "UNSPECIFIED"}`,
  });
}

function deviceJson(row: Awaited<ReturnType<typeof readDevices>>[number]): string {
  return text(writeDevice(create(DeviceSchema, toDevice(row))));
}

function visitorJson(row: Awaited<ReturnType<typeof readVisitors>>[number]): string {
  return text(writeVisitor(create(VisitorSchema, toVisitorAlone(row))));
}

function linkJson({ id, name, shortlink, metadata, domain_name, tags }: LinkRow, shortUrl: string): string {
  const entrypoint = entrypointOf({ host: domain_name, shortlink }, shortUrl);
  // The link's own writer, so that tags look as they do in links.
  const written: { tags: unknown } = JSON.parse(
    text(writeTags(create(LinkSchema, { tags: tags.map(toTag) }))),
  );
  return JSON.stringify({ id, name, shortlink, entrypoint, tags: written.tags, metadata });
}

function text(json: string | Uint8Array): string {
  return typeof json === "string" ? json : Buffer.from(json).toString();
}

interface Row {
  readonly workspace_id: string;
  readonly id: string;
}

function byKey<R extends Row>(rows: readonly R[]): ReadonlyMap<string, R>;
function byKey<R extends Row, Value>(rows: readonly R[], make: (row: R) => Value): ReadonlyMap<string, Value>;
function byKey<R extends Row>(rows: readonly R[], make: (row: R) => unknown = (row) => row) {
  return new Map(rows.map((row) => [`${row.workspace_id}/${row.id}`, make(row)]));
}

function distinct(keys: readonly RecordKey[]): RecordKey[] {
  const some = keys.filter(({ id }) => id !== "");
  return [...new Map(some.map((key) => [`${key.workspaceId}/${key.id}`, key])).values()];
}

function once<Key extends object>(make: (key: Key) => string): (key: Key) => string {
  const made = new Map<Key, string>();
  return (key) => {
    const json = made.get(key) ?? make(key);
    made.set(key, json);
    return json;
  };
}
