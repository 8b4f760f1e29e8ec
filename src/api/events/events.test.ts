import { randomUUID } from "node:crypto";
import { fromJson } from "@bufbuild/protobuf";
import { sql } from "kysely";
import { beforeEach, expect, test } from "vitest";
import { EventTraceDataSchema } from "../../../gen/signpost/v1/event_trace_pb.js";
import { EventsService } from "../../../gen/signpost/v1/events_service_pb.js";
import { WorkflowStepPayloadSchema } from "../../../gen/signpost/v1/workflow_step_payload_pb.js";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { newId } from "../../lib/ids.ts";
import { stepActions } from "../../model/steps/kinds.ts";

const api = await startApi();
const { db, now } = api;

let workspace: TestWorkspace;
let workspaceId: string;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  workspaceId = workspace.workspaceId;
});

interface Seed {
  readonly linkId?: string;
  readonly visitorId?: string;
  readonly deviceId?: string;
  readonly at?: Date;
  /** Counted where there is none. */
  readonly uncountedReason?: "CRAWLER" | "PREFETCH";
}

/** An event as the drain of the scan runtime writes it. */
async function addEvent({
  linkId,
  visitorId,
  deviceId,
  uncountedReason,
  at = now(),
}: Seed = {}): Promise<string> {
  const id = newId(at);
  const values = {
    workspace_id: workspaceId,
    id,
    link_id: linkId ?? randomUUID(),
    device_id: deviceId ?? randomUUID(),
    visitor_id: visitorId ?? null,
    action: "SCAN",
    visit_type: "FIRST",
    counted: uncountedReason === undefined,
    uncounted_reason: uncountedReason ?? null,
    entrypoint: "https://short.test/menu",
    destination: "https://example.com/menu",
    destination_action: "CLIENT_REDIRECT",
    steps_total: 2,
    steps_reached: 2,
    last_step_id: randomUUID(),
    outcome: "COMPLETED",
    ended_at: at,
    created_at: at,
    updated_at: at,
  } as const;
  await db.insertInto("events").values(values).execute();
  return id;
}

async function addLink(): Promise<{ readonly id: string }> {
  return (await workspace.rest("POST", "/v1/links", { destination: "https://example.com" })).json.link;
}

async function addVisitor(): Promise<string> {
  const visitor = { $email: `${randomUUID()}@example.com` };
  return (await workspace.rest("POST", "/v1/visitor/identify", { visitor })).json.visitor.id;
}

interface TraceSeed {
  readonly eventId: string;
  readonly action: "LINK_VISIT" | "CLIENT_REDIRECT" | "FORM_SUBMIT" | null;
  readonly data: object;
  readonly saved?: object;
  readonly completedAt: Date | null;
  readonly at: Date;
}

async function addTrace({ eventId, action, data, saved, completedAt, at }: TraceSeed): Promise<void> {
  const values = {
    workspace_id: workspaceId,
    event_id: eventId,
    step_id: randomUUID(),
    id: newId(at),
    step_action: action,
    data: JSON.stringify(data),
    saved_attributes: saved === undefined ? null : JSON.stringify(saved),
    completed_at: completedAt,
    created_at: at,
    updated_at: at,
  };
  await db.insertInto("traces").values(values).execute();
}

async function addDevice(facts: { readonly country: string; readonly userAgent?: string }): Promise<string> {
  const id = randomUUID();
  const values = {
    workspace_id: workspaceId,
    id,
    device_type: "MOBILE",
    device_actor: "HUMAN",
    country: facts.country,
    user_agent: facts.userAgent ?? "",
    asn: 3320n,
    last_used_at: now(),
    created_at: now(),
    updated_at: now(),
  } as const;
  await db.insertInto("devices").values(values).execute();
  return id;
}

async function list(query: Record<string, string> = {}) {
  const { status, json } = await workspace.rest("GET", `/v1/events?${new URLSearchParams(query)}`);
  expect(status).toBe(200);
  return json.json;
}

const ids = (events: { readonly id: string }[]) => events.map(({ id }) => id);

test("answers an event with the facts that all events share", async () => {
  const linkId = randomUUID();
  const id = await addEvent({ linkId });
  const { events, hasMore, nextPageToken, totalCount } = await list();
  expect({ hasMore, nextPageToken, totalCount }).toEqual({
    hasMore: false,
    nextPageToken: "",
    totalCount: "1",
  });
  const [event] = events;
  expect(event).toMatchObject({
    id,
    workspaceId,
    linkId,
    visitorId: "",
    leadScoreId: "",
    action: "ACTION_SCAN",
    visitType: "VISIT_TYPE_FIRST",
    triggeredBy: "TRIGGERED_BY_VISITOR",
    httpMethod: "HTTP_METHOD_GET",
    entrypoint: "https://short.test/menu",
    destination: "https://example.com/menu",
    destinationAction: "EVENT_ACTION_CLIENT_REDIRECT",
    scannedAt: event.createdAt,
    traces: [],
  });
  for (const absent of ["journey", "leadScore", "visitor", "device", "link", "workspace"])
    expect(event).not.toHaveProperty(absent);
});

test("pages through 2,500 events, many of one millisecond, newest first without loss or repetition", async () => {
  // The ids have random tails behind the same few milliseconds, like visits that arrive together.
  await sql`insert into events (workspace_id, id, link_id, device_id, action, visit_type, counted, entrypoint,
      steps_total, steps_reached, outcome, created_at, updated_at)
    select ${workspaceId}::uuid, (left(${newId(now())}, 13) || substr(gen_random_uuid()::text, 14))::uuid,
      gen_random_uuid(), gen_random_uuid(), 'CLICK', 'FIRST', true, '', 2, 2, 'COMPLETED', ${now()}, ${now()}
    from generate_series(1, 2500)`.execute(db);
  const sizes = ["137", "1000", "1", "333"];
  const listed: string[] = [];
  let pageToken = "";
  do {
    const page = await list({ pageSize: sizes.shift() ?? "500", pageToken });
    listed.push(...ids(page.events));
    pageToken = page.nextPageToken;
    expect(page.hasMore).toBe(pageToken !== "");
    expect(page.totalCount).toBe("2500");
  } while (pageToken !== "");
  expect(new Set(listed).size).toBe(2_500);
  expect(listed).toEqual(listed.toSorted((a, b) => (a < b ? 1 : -1)));
});

test("filters by link, visitor and time, both ends inclusive", async () => {
  const { id: linkId } = await addLink();
  const visitorId = await addVisitor();
  const at = (ms: number) => new Date(start + ms);
  const start = now().getTime();
  const first = await addEvent({ at: at(0), linkId });
  const second = await addEvent({ at: at(1000), linkId, visitorId });
  const third = await addEvent({ at: at(2000), visitorId });
  expect(ids((await list({ linkId })).events)).toEqual([second, first]);
  expect(ids((await list({ visitorId })).events)).toEqual([third, second]);
  expect(ids((await list({ linkId, visitorId })).events)).toEqual([second]);
  const between = async (startMs: number, endMs: number) =>
    ids((await list({ startDate: at(startMs).toISOString(), endDate: at(endMs).toISOString() })).events);
  expect(await between(0, 2000)).toEqual([third, second, first]);
  expect(await between(1, 1999)).toEqual([second]);
  expect(await between(1000, 1000)).toEqual([second]);
  expect(await between(-5000, -1)).toEqual([]);
  const finer = { startDate: at(1000).toISOString().replace("Z", "001Z") };
  expect(ids((await list(finer)).events)).toEqual([third]);
  expect(ids((await list({ endDate: "1900-01-01T00:00:00Z" })).events)).toEqual([]);
});

test.each(["linkId", "visitorId"] as const)(
  "a filter by a %s that is unknown or another workspace's is refused, as CSV and over gRPC too",
  async (field) => {
    const other = await api.newWorkspace();
    const { json } = await other.rest("POST", "/v1/links", { destination: "https://example.com" });
    const identified = await other.rest("POST", "/v1/visitor/identify", {
      visitor: { $phone: "+4930123456" },
    });
    const foreign = { linkId: json.link.id, visitorId: identified.json.visitor.id };
    for (const id of [randomUUID(), foreign[field]]) {
      for (const responseFormat of ["RESPONSE_FORMAT_JSON", "RESPONSE_FORMAT_CSV"]) {
        const query = new URLSearchParams({ [field]: id, responseFormat });
        const answer = await workspace.rest("GET", `/v1/events?${query}`);
        expect([answer.status, answer.json.error.codeType]).toEqual([404, "NOT_FOUND"]);
        expect(answer.json.error.message).toBe(
          `${field}: there is no ${field.slice(0, -2)} ${id} in this workspace`,
        );
      }
      const call = workspace.client(EventsService).listEvents({ [field]: id });
      await expect(call).rejects.toThrow(/there is no/);
    }
  },
);

test.each(["deleted", "expired"])(
  "the events of a link that is %s can still be listed by it, without the link",
  async (how) => {
    const { id: linkId } = await addLink();
    const eventId = await addEvent({ linkId });
    if (how === "deleted") await workspace.rest("DELETE", `/v1/links/${linkId}`);
    else
      await db
        .updateTable("links")
        .set({ expires_at: new Date(0) })
        .where("id", "=", linkId)
        .execute();
    const { events } = await list({ linkId, include: "link" });
    expect(events).toMatchObject([{ id: eventId, linkId }]);
    expect(events[0]).not.toHaveProperty("link");
  },
);

test("tells of each event whether it is counted and why not, in JSON, CSV and filters", async () => {
  const link = await addLink();
  const seeds = [undefined, "CRAWLER", undefined, "PREFETCH"] as const;
  for (const uncountedReason of seeds)
    await addEvent({ linkId: link.id, ...(uncountedReason && { uncountedReason }) });
  const list = async (query: string) =>
    (await workspace.rest("GET", `/v1/events?linkId=${link.id}${query}`)).json;
  const reasonsOf = async (query: string) => {
    const { json } = await list(query);
    const reasons = json.events.map((event: { counted: boolean; uncountedReason: string }) =>
      event.counted ? "counted" : event.uncountedReason,
    );
    expect(json.totalCount).toBe(String(reasons.length));
    return reasons;
  };
  const [crawler, prefetch] = ["UNCOUNTED_REASON_CRAWLER", "UNCOUNTED_REASON_PREFETCH"];
  expect(await reasonsOf("")).toEqual([prefetch, "counted", crawler, "counted"]);
  expect(await reasonsOf("&counted=true")).toEqual(["counted", "counted"]);
  expect(await reasonsOf("&counted=false")).toEqual([prefetch, crawler]);
  expect(await reasonsOf(`&uncountedReason=${crawler}`)).toEqual([crawler]);
  expect(await reasonsOf(`&uncountedReason=${crawler}&counted=true`)).toEqual([]);
  const { csv } = await list(`&uncountedReason=${prefetch}&responseFormat=RESPONSE_FORMAT_CSV`);
  const [header = "", row = ""] = csv.csvData.split("\r\n").map((line: string) => line.split(","));
  expect(row[header.indexOf("counted")]).toBe("false");
  expect(row[header.indexOf("uncountedReason")]).toBe(prefetch);
});

test("refuses bounds in the wrong order, unknown includes and tokens of other filters", async () => {
  const refused = async (query: Record<string, string>) => {
    const { status, json } = await workspace.rest("GET", `/v1/events?${new URLSearchParams(query)}`);
    return [status, json.error.codeType];
  };
  const backwards = { startDate: "2026-01-02T00:00:00Z", endDate: "2026-01-01T00:00:00Z" };
  expect(await refused(backwards)).toEqual([400, "INVALID_ARGUMENT"]);
  expect(await refused({ include: "device,secrets" })).toEqual([400, "INVALID_ARGUMENT"]);
  await addEvent();
  await addEvent();
  const { nextPageToken: pageToken } = await list({ pageSize: "1" });
  expect(await refused({ pageToken, linkId: randomUUID() })).toEqual([400, "INVALID_PAGE_TOKEN"]);
  const client = workspace.client(EventsService);
  const endless = { seconds: 9_000_000_000_000_000n, nanos: 0 };
  await expect(client.listEvents({ endDate: endless })).rejects.toThrow(/endDate/);
});

test("embeds what is asked for, and leaves out deleted links", async () => {
  const destination = "https://example.com";
  const expiry = { expiresAt: new Date(now().getTime() + 86_400_000), expiredDestination: destination };
  const { link } = (await workspace.rest("POST", "/v1/links", { destination, ...expiry })).json;
  const deviceId = await addDevice({ country: "DE" });
  const visitorId = randomUUID();
  const person = { email: "ada@example.com", first_name: "Ada", created_at: now(), updated_at: now() };
  await db
    .insertInto("visitors")
    .values({ workspace_id: workspaceId, id: visitorId, ...person })
    .execute();
  const visits = { workspace_id: workspaceId, visitor_id: visitorId, link_id: link.id, event_count: 3n };
  const times = { first_visited_at: now(), last_visited_at: now() };
  await db
    .insertInto("visitor_links")
    .values({ ...visits, ...times })
    .execute();
  await db.updateTable("devices").set({ visitor_id: visitorId }).where("id", "=", deviceId).execute();
  const eventId = await addEvent({ linkId: link.id, deviceId, visitorId });
  const at = now();
  const data = { entryAccess: { action: "SCAN", visitType: "FIRST" } };
  await addTrace({ eventId, action: "LINK_VISIT", data, completedAt: at, at });

  const attributes = { plan: "pro", seats: 3, active: true, joined: "2026-11-21" };
  await workspace.rest("PATCH", `/v1/visitors/${visitorId}`, { visitor: attributes });

  const include = "visitor,device,link,workspace,leadScore,journey,traces";
  const [event] = (await list({ include })).events;
  expect(event.visitor).toEqual((await workspace.rest("GET", `/v1/visitors/${visitorId}`)).json);
  expect(event.visitor).toMatchObject({
    id: visitorId,
    workspaceId,
    email: "ada@example.com",
    firstName: "Ada",
    phone: "",
    deviceCount: "1",
    qrcodeCount: "1",
    visitCount: "3",
  });
  expect(event.device).toMatchObject({
    id: deviceId,
    deviceType: "DEVICE_TYPE_MOBILE",
    deviceActor: "DEVICE_ACTOR_HUMAN",
    country: "DE",
    asn: 3320,
  });
  const read = await workspace.rest("GET", `/v1/links/${link.id}`);
  expect(event.link).toEqual(read.json.link);
  expect(event.workspace).toMatchObject({ id: workspaceId });
  expect(event.journey).toEqual({ stepsReached: 2, stepsTotal: 2, completed: true });
  expect(event).not.toHaveProperty("leadScore");
  expect(event.traces).toMatchObject([{ eventId, stepData: { entryAccess: { action: "SCAN" } } }]);

  await workspace.rest("DELETE", `/v1/links/${link.id}`);
  const [after] = (await list({ include: "link" })).events;
  expect(after.linkId).toBe(link.id);
  expect(after).not.toHaveProperty("link");
});

test("embeds the score of events that have one, under the event's id", async () => {
  const visitorId = await addVisitor();
  const scored = await addEvent({ visitorId });
  const at = now();
  await db
    .updateTable("events")
    .set({ lead_score: 55, engagement_level: 80, recurring_interest: 30, scored_at: at })
    .where("id", "=", scored)
    .execute();
  await addEvent();
  const [without, event] = (await list({ include: "leadScore" })).events;
  expect(without.leadScoreId).toBe("");
  expect(without).not.toHaveProperty("leadScore");
  expect(event.leadScoreId).toBe(scored);
  expect(event.leadScore).toEqual({
    id: scored,
    workspaceId,
    linkId: event.linkId,
    visitorId,
    leadScore: 55,
    engagementLevel: 80,
    recurringInterest: 30,
    createdAt: at.toISOString(),
    updatedAt: at.toISOString(),
  });
  const [bare] = (await list({ visitorId })).events;
  expect(bare.leadScoreId).toBe(scored);
  expect(bare).not.toHaveProperty("leadScore");
});

test("lists traces by completion, open ones last", async () => {
  const linkId = randomUUID();
  const eventId = await addEvent({ linkId });
  const [opened, entered, redirected] = [now(), now(), now()];
  const form = { form: { title: "Who are you?" } };
  await addTrace({ eventId, action: "FORM_SUBMIT", data: form, completedAt: null, at: opened });
  const redirect = { redirect: { destination: "https://example.com", fallback: false } };
  const saved = { plan: "pro" };
  await addTrace({
    eventId,
    action: "CLIENT_REDIRECT",
    data: redirect,
    saved,
    completedAt: redirected,
    at: opened,
  });
  const identify = { identifyVisitor: { setOnce: true, fieldsUpdated: 2 }, addedLater: {} };
  await addTrace({ eventId, action: null, data: identify, completedAt: entered, at: redirected });
  const { status, json } = await workspace.rest("GET", `/v1/events/${eventId}/traces`);
  expect(status).toBe(200);
  expect(json.traces).toMatchObject([
    {
      workspaceId,
      eventId,
      linkId,
      visitorId: "",
      stepAction: "EVENT_ACTION_UNSPECIFIED",
      stepKind: "KIND_UNSPECIFIED",
      stepData: { identifyVisitor: { setOnce: true, fieldsUpdated: 2 } },
    },
    {
      stepAction: "EVENT_ACTION_CLIENT_REDIRECT",
      stepKind: "KIND_EXIT",
      stepData: {
        redirect: { destination: "https://example.com", conversionTracking: false, fallback: false },
      },
      savedAttributes: saved,
    },
    {
      stepAction: "EVENT_ACTION_FORM_SUBMIT",
      stepKind: "KIND_INTERACTION",
      stepData: form,
      savedAttributes: {},
    },
  ]);
  const grpc = await workspace.client(EventsService).listEventTraces({ eventId });
  expect(grpc.traces.map(({ savedAttributes }) => savedAttributes)).toEqual([{}, saved, {}]);
  expect(json.traces[2]).not.toHaveProperty("completedAt");
  const bare = await workspace.rest("GET", `/v1/events/${await addEvent()}/traces`);
  expect(bare.json).toEqual({ traces: [] });
});

test("never shows events or traces of another workspace", async () => {
  const eventId = await addEvent();
  const other = await api.newWorkspace();
  const { json } = await other.rest("GET", "/v1/events");
  expect(json.json).toMatchObject({ events: [], totalCount: "0" });
  const unknown = randomUUID();
  const theirs = await other.rest("GET", `/v1/events/${eventId}/traces`);
  const nobodys = await other.rest("GET", `/v1/events/${unknown}/traces`);
  expect(theirs.status).toBe(404);
  expect(theirs.json.error.message).toBe(nobodys.json.error.message.replace(unknown, eventId));
});

test("writes CSV with a column for every single value, and pages of it", async () => {
  const deviceId = await addDevice({ country: "FR", userAgent: '=cmd|"calc"' });
  const eventId = await addEvent({ deviceId });
  const latest = await addEvent();
  const query = { responseFormat: "RESPONSE_FORMAT_CSV", include: "device,journey,traces", pageSize: "1" };
  const page = async (pageToken: string) => {
    const { json } = await workspace.rest(
      "GET",
      `/v1/events?${new URLSearchParams({ ...query, pageToken })}`,
    );
    expect(json).not.toHaveProperty("json");
    expect(json.csv.contentType).toBe("text/csv");
    const [header = "", row = "", ...rest] = json.csv.csvData.split("\r\n");
    expect(rest).toEqual([""]);
    return { header: header.split(","), row, nextPageToken: json.csv.nextPageToken };
  };
  const first = await page("");
  expect(first.row).toContain(latest);
  const second = await page(first.nextPageToken);
  expect(second.nextPageToken).toBe("");
  expect(second.header).toEqual(first.header);
  for (const column of ["id", "scannedAt", "device.country", "device.asn", "journey.completed", "traces"])
    expect(second.header).toContain(column);
  for (const column of ["visitor.email", "link.name", "device", "leadScore.leadScore"])
    expect(second.header).not.toContain(column);
  expect(second.row.split(",")[second.header.indexOf("id")]).toBe(eventId);
  expect(second.row).toContain(`"'=cmd|""calc"""`);
  expect(second.row.split(",")[second.header.indexOf("device.country")]).toBe("FR");
});

test("writes a CSV header without events", async () => {
  const { json } = await workspace.rest("GET", "/v1/events?responseFormat=RESPONSE_FORMAT_CSV");
  expect(json.csv.csvData).toMatch(/^id,workspaceId,linkId,[A-Za-z,]+\r\n$/);
});

test("every step action names variants that payloads and traces have", () => {
  for (const { payload, trace } of Object.values(stepActions)) {
    expect(fromJson(WorkflowStepPayloadSchema, { [payload]: {} }).variant.case).toBe(payload);
    expect(fromJson(EventTraceDataSchema, { [trace]: {} }).data.case).toBe(trace);
  }
});
