import { randomUUID } from "node:crypto";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { VisitorsService } from "../../../gen/signpost/v1/visitors_service_pb.js";
import { ask } from "../../../test/support/ask.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { startTestScan } from "../../../test/support/start-scan.ts";
import { type Visits, visitsThrough } from "../../../test/support/visits.ts";
import { newId } from "../../lib/ids.ts";
import { lbidOfEvent } from "../../model/visitors/lbid.ts";
import { rebuildRollUps } from "../../visitors/roll-ups.ts";

const api = await startApi();
const { db } = api;
const scan = await startTestScan(api.database, {}, afterAll);

let workspace: TestWorkspace;
let workspaceId: string;
let visits: Visits;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  workspaceId = workspace.workspaceId;
  visits = visitsThrough(scan, api, workspace);
});

type Protocol = "rest" | "grpc";
type Values = Record<string, string | number | boolean | null>;

interface Identified {
  readonly created: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape.
  readonly visitor: any;
}

/** Identifies over a protocol, and gives everything that a secret token may read. */
async function identify(
  protocol: Protocol,
  visitor: Values,
  lbid = "",
  setOnce = false,
): Promise<Identified> {
  const method = VisitorsService.method.identify;
  const answer = await ask(api, protocol, method, { lbid, setOnce, visitor }, workspace.token);
  expect(answer.reason).toBe("OK");
  return answer.body as Identified;
}

const attributesOf = (visitor: { attributes: { key: string; value: string }[] }) =>
  Object.fromEntries(visitor.attributes.map(({ key, value }) => [key, value]));

async function visitorIds(): Promise<string[]> {
  const rows = await db
    .selectFrom("visitors")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .orderBy("id")
    .execute();
  return rows.map(({ id }) => id);
}

async function ownerOf(table: "events" | "devices", id: string): Promise<string | null> {
  const { visitor_id } = await db
    .selectFrom(table)
    .select("visitor_id")
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return visitor_id;
}

const visitorLinks = () =>
  db
    .selectFrom("visitor_links")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .orderBy("visitor_id")
    .orderBy("link_id")
    .execute();

async function expectCountsOfARebuild(): Promise<void> {
  const kept = await visitorLinks();
  await rebuildRollUps(db, workspaceId);
  expect(await visitorLinks()).toEqual(kept);
}

async function setLevel(level: "NONE" | "BASIC" | "ADVANCED"): Promise<void> {
  await db
    .updateTable("link_settings")
    .set({ data_collection: level })
    .where("workspace_id", "=", workspaceId)
    .execute();
}

describe.each(["rest", "grpc"] as const)("merge table over %s", (protocol) => {
  test("anonymous, nobody: promoted in place, and not created", async () => {
    const { shortlink } = await visits.newLink();
    const { lbid, visitorId } = await visits.visit(shortlink);
    const { created, visitor } = await identify(protocol, { $email: "Ada@Example.com", plan: "pro" }, lbid);
    expect(created).toBe(false);
    expect(visitor).toMatchObject({
      id: visitorId,
      email: "ada@example.com",
      visitCount: "1",
      deviceCount: "1",
    });
    expect(attributesOf(visitor)).toEqual({ plan: "pro" });
    expect(await visitorIds()).toEqual([visitorId]);
  });

  test.each([
    { by: "$email", known: { $email: "ada@example.com" }, given: { $email: "ADA@example.com" } },
    { by: "$phone", known: { $phone: "+14155550100" }, given: { $phone: "+1 (415) 555-0100" } },
  ])(
    "anonymous, a profile by $by: devices, events and missing attributes move, and the row goes",
    async (each) => {
      const profile = await identify(protocol, { ...each.known, plan: "pro" });
      const [link, other] = [await visits.newLink(), await visits.newLink()];
      const visit = await visits.visit(link.shortlink);
      await identify(protocol, { plan: "free", city: "Bonn", $firstName: "Ada" }, visit.lbid);
      await visits.visit(other.shortlink);
      const { created, visitor } = await identify(protocol, each.given, visit.lbid);
      expect(created).toBe(false);
      expect(visitor).toMatchObject({
        id: profile.visitor.id,
        firstName: "Ada",
        visitCount: "2",
        qrcodeCount: "2",
        deviceCount: "1",
      });
      expect(attributesOf(visitor)).toEqual({ plan: "pro", city: "Bonn" });
      expect(await visitorIds()).toEqual([profile.visitor.id]);
      expect(await ownerOf("events", visit.eventId)).toBe(profile.visitor.id);
      expect(await ownerOf("devices", visit.deviceId)).toBe(profile.visitor.id);
      await expectCountsOfARebuild();
      // From now on the browser is theirs.
      expect((await visits.visit(link.shortlink)).visitorId).toBe(profile.visitor.id);
    },
  );

  test.each([
    { match: "itself", given: { $email: "ada@example.com", plan: "pro" }, email: "ada@example.com" },
    {
      match: "nobody",
      given: { $email: "countess@example.com", plan: "pro" },
      email: "countess@example.com",
    },
    { match: "nobody, without identity", given: { plan: "pro" }, email: "ada@example.com" },
  ])("identified, $match: updated", async ({ given, email }) => {
    const { shortlink } = await visits.newLink();
    const { lbid, visitorId } = await visits.visit(shortlink);
    await identify(protocol, { $email: "ada@example.com", plan: "free" }, lbid);
    const { created, visitor } = await identify(protocol, given, lbid);
    expect(created).toBe(false);
    expect(visitor).toMatchObject({ id: visitorId, email });
    expect(attributesOf(visitor)).toEqual({ plan: "pro" });
    expect(await visitorIds()).toEqual([visitorId]);
  });

  test("identified, another profile: event and device move to the match, and profiles are not merged", async () => {
    const { shortlink } = await visits.newLink();
    const before = await visits.visit(shortlink);
    const visit = await visits.visit(shortlink);
    await identify(protocol, { $email: "ada@example.com", city: "Bonn" }, visit.lbid);
    const match = await identify(protocol, { $email: "bob@example.com" });
    const { created, visitor } = await identify(
      protocol,
      { $email: "bob@example.com", plan: "pro" },
      visit.lbid,
    );
    expect(created).toBe(false);
    expect(visitor).toMatchObject({ id: match.visitor.id, visitCount: "1", deviceCount: "1" });
    expect(attributesOf(visitor)).toEqual({ plan: "pro" });
    expect(await ownerOf("events", visit.eventId)).toBe(match.visitor.id);
    expect(await ownerOf("devices", visit.deviceId)).toBe(match.visitor.id);
    expect(await ownerOf("events", before.eventId)).toBe(visit.visitorId);
    const { json } = await workspace.rest("GET", `/v1/visitors/${visit.visitorId}`);
    expect(json).toMatchObject({ email: "ada@example.com", visitCount: "1", deviceCount: "0" });
    expect(attributesOf(json)).toEqual({ city: "Bonn" });
    await expectCountsOfARebuild();
  });

  test("none (no lbid), nobody: a row is inserted and created", async () => {
    const { created, visitor } = await identify(protocol, { $phone: "+4915112345678", plan: "pro" });
    expect(created).toBe(true);
    expect(visitor).toMatchObject({ workspaceId, phone: "+4915112345678", visitCount: "0" });
    expect(await visitorIds()).toEqual([visitor.id]);
  });

  test("none (deleted), nobody: a row is inserted and the event and its device attached", async () => {
    const { shortlink } = await visits.newLink();
    const visit = await visits.visit(shortlink);
    await workspace.rest("DELETE", `/v1/visitors/${visit.visitorId}`);
    const { created, visitor } = await identify(protocol, { plan: "pro" }, visit.lbid);
    expect(created).toBe(true);
    expect(visitor).toMatchObject({ email: "", visitCount: "1", deviceCount: "1" });
    expect(visitor.id).not.toBe(visit.visitorId);
    expect(await ownerOf("events", visit.eventId)).toBe(visitor.id);
    await expectCountsOfARebuild();
  });

  test("none (level NONE), nobody: a row is inserted, and the event is not attached", async () => {
    await setLevel("NONE");
    const { shortlink } = await visits.newLink();
    const visit = await visits.visit(shortlink);
    const { created, visitor } = await identify(protocol, { $email: "ada@example.com" }, visit.lbid);
    expect(created).toBe(true);
    expect(visitor).toMatchObject({ email: "ada@example.com", visitCount: "0", deviceCount: "0" });
    expect(await ownerOf("events", visit.eventId)).toBe(null);
    expect(await ownerOf("devices", visit.deviceId)).toBe(null);
  });

  test("none (no lbid), a profile: updated", async () => {
    const first = await identify(protocol, { $email: "ada@example.com", plan: "free" });
    const { created, visitor } = await identify(protocol, { $email: "ada@example.com", plan: "pro" });
    expect(created).toBe(false);
    expect(visitor.id).toBe(first.visitor.id);
    expect(attributesOf(visitor)).toEqual({ plan: "pro" });
  });

  test("none (deleted), a profile: updated, and the event attached", async () => {
    const { shortlink } = await visits.newLink();
    const visit = await visits.visit(shortlink);
    await workspace.rest("DELETE", `/v1/visitors/${visit.visitorId}`);
    const first = await identify(protocol, { $email: "ada@example.com" });
    const { created, visitor } = await identify(protocol, { $email: "ada@example.com" }, visit.lbid);
    expect(created).toBe(false);
    expect(visitor).toMatchObject({ id: first.visitor.id, visitCount: "1", deviceCount: "1" });
    await expectCountsOfARebuild();
  });

  test("$email comes before $phone, and of profiles with the same $phone the oldest wins", async () => {
    const byPhone = await identify(protocol, { $email: "old@example.com", $phone: "+14155550100" });
    await identify(protocol, { $email: "young@example.com" });
    const { json: young } = await workspace.rest("GET", "/v1/visitors?email=young@example.com");
    const [{ id }] = young.json.visitors;
    await workspace.rest("PATCH", `/v1/visitors/${id}`, { visitor: { $phone: "+14155550100" } });
    expect((await identify(protocol, { $phone: "+14155550100" })).visitor.id).toBe(byPhone.visitor.id);
    const both = await identify(protocol, { $email: "young@example.com", $phone: "+14155550100" });
    expect(both.visitor.id).toBe(id);
  });

  test("with setOnce the stored value wins and empty ones are filled, else the newest write", async () => {
    const known = { $email: "ada@example.com", $firstName: "Ada", plan: "pro", note: "" };
    await identify(protocol, known);
    const again = {
      $email: "ada@example.com",
      $firstName: "Augusta",
      $lastName: "King",
      plan: "free",
      note: "hi",
    };
    const once = await identify(protocol, again, "", true);
    expect(once.visitor).toMatchObject({ firstName: "Ada", lastName: "King" });
    expect(attributesOf(once.visitor)).toEqual({ note: "hi", plan: "pro" });
    const newest = await identify(protocol, again);
    expect(newest.visitor).toMatchObject({ firstName: "Augusta", lastName: "King" });
    expect(attributesOf(newest.visitor)).toEqual({ note: "hi", plan: "free" });
  });

  test("the type comes from how the value was given", async () => {
    const { visitor } = await identify(protocol, {
      $email: "ada@example.com",
      seats: 12.5,
      active: true,
      birthday: "1815-12-10",
      seen: "2026-11-21T10:00:00+01:00",
      plan: "pro",
      gone: null,
    });
    expect(visitor.attributes).toEqual([
      { key: "active", type: "VISITOR_ATTRIBUTE_TYPE_BOOLEAN", value: "true", boolValue: true },
      {
        key: "birthday",
        type: "VISITOR_ATTRIBUTE_TYPE_DATE",
        value: "1815-12-10",
        dateValue: "1815-12-10T00:00:00Z",
      },
      { key: "plan", type: "VISITOR_ATTRIBUTE_TYPE_STRING", value: "pro" },
      { key: "seats", type: "VISITOR_ATTRIBUTE_TYPE_NUMBER", value: "12.5", numberValue: 12.5 },
      {
        key: "seen",
        type: "VISITOR_ATTRIBUTE_TYPE_DATE",
        value: "2026-11-21T10:00:00+01:00",
        dateValue: "2026-11-21T09:00:00Z",
      },
    ]);
  });

  test("two calls with the same address at once make one profile", async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        identify(protocol, { $email: "ada@example.com", [`k${index}`]: index }),
      ),
    );
    expect(answers.filter(({ created }) => created)).toHaveLength(1);
    const [id] = await visitorIds();
    expect(new Set(answers.map(({ visitor }) => visitor.id))).toEqual(new Set([id]));
    const { json } = await workspace.rest("GET", `/v1/visitors/${id}`);
    expect(Object.keys(attributesOf(json))).toHaveLength(6);
  });

  test("a visit that is identified has the trace of each call", async () => {
    const { shortlink } = await visits.newLink();
    const { lbid, eventId } = await visits.visit(shortlink);
    await identify(protocol, { $email: "ada@example.com", plan: "free", city: "Bonn" }, lbid);
    await identify(protocol, { $email: "ada@example.com", plan: "pro", city: "Rome" }, lbid, true);
    const { json } = await workspace.rest("GET", `/v1/events/${eventId}/traces`);
    const traces = json.traces.filter((trace: { stepData: object }) => "identifyVisitor" in trace.stepData);
    expect(traces).toMatchObject([
      {
        stepAction: "EVENT_ACTION_UNSPECIFIED",
        stepKind: "KIND_UNSPECIFIED",
        stepData: {
          identifyVisitor: {
            setOnce: false,
            systemFields: ["$email"],
            customAttributes: 2,
            fieldsUpdated: 3,
          },
        },
      },
      {
        stepData: {
          identifyVisitor: { setOnce: true, systemFields: ["$email"], customAttributes: 2, fieldsUpdated: 0 },
        },
      },
    ]);
  });

  test.each([
    { fault: "a damaged lbid", request: { lbid: "nonsense" }, reason: "INVALID_LBID" },
    { fault: "an unknown lbid", request: { lbid: "AAAAAAAAcACAAAAAAAAAAA" }, reason: "LBID_NOT_FOUND" },
    { fault: "neither", request: { visitor: { plan: "pro", $email: "" } }, reason: "ONE_OF_REQUIRED" },
    { fault: "nothing", request: {}, reason: "ONE_OF_REQUIRED" },
  ])("$fault is refused with $reason", async ({ request, reason }) => {
    const answer = await ask(api, protocol, VisitorsService.method.identify, request, workspace.token);
    expect(answer.reason).toBe(reason);
  });

  test.each([
    { visitor: { $nickname: "Ada" }, fault: "an unknown key with $", field: 'visitor["$nickname"]' },
    { fault: "no address", visitor: { $email: "ada at example.com" }, field: 'visitor["$email"]' },
    { fault: "a number as address", visitor: { $email: 7 }, field: 'visitor["$email"]' },
    { fault: "a phone without country", visitor: { $phone: "0151 1234567" }, field: 'visitor["$phone"]' },
    { fault: "a long name", visitor: { $firstName: "A".repeat(256) }, field: 'visitor["$firstName"]' },
    { fault: "a list", visitor: { list: [1] }, field: "visitor.list" },
    { fault: "an object", visitor: { data: { tags: { a: 1 } } }, field: "visitor.data.tags" },
    { fault: "a key with a slash", visitor: { "a/b": "x" }, field: 'visitor["a/b"]' },
    { fault: "an empty key", visitor: { "": "x" }, field: 'visitor[""]' },
    { fault: "a long key", visitor: { [`k${"x".repeat(64)}`]: "x" }, field: `visitor.k${"x".repeat(64)}` },
    { fault: "more than 4 KB", visitor: { note: "é".repeat(2_049) }, field: "visitor.note" },
    {
      fault: "more than 200 attributes",
      visitor: Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`k${index}`, "x"])),
      field: "visitor",
    },
  ])("$fault is refused, and the field named", async ({ visitor, field }) => {
    const answer = await ask(api, protocol, VisitorsService.method.identify, { visitor }, workspace.token);
    expect(answer.reason).toBe("INVALID_ARGUMENT");
    expect(answer.message.startsWith(`${field}: `)).toBe(true);
  });
});

test("values may stand under `data`, and `data` beside others is an attribute like any", async () => {
  const { visitor } = await identify("rest", { data: { $email: "ada@example.com" } } as unknown as Values);
  expect(visitor.email).toBe("ada@example.com");
  const flat = await identify("rest", { $email: "ada@example.com", data: "x" });
  expect(attributesOf(flat.visitor)).toEqual({ data: "x" });
});

test("an lbid counts in every form that visitors may carry it in", async () => {
  const { shortlink } = await visits.newLink();
  const { lbid, eventId, visitorId } = await visits.visit(shortlink);
  const bytes = Buffer.from(eventId.replaceAll("-", ""), "hex");
  const forms = [
    lbid,
    bytes.toString("base64"),
    bytes.toString("base64").replaceAll("=", ""),
    Buffer.from(eventId).toString("base64"),
    Buffer.from(eventId).toString("base64url"),
  ];
  for (const form of forms) expect((await identify("rest", {}, form)).visitor.id).toBe(visitorId);
});

test("an lbid of another workspace is unknown", async () => {
  const { shortlink } = await visits.newLink();
  const { lbid } = await visits.visit(shortlink);
  const other = await api.newWorkspace();
  api.clock.advance(60_000);
  const { status, json } = await other.rest("POST", "/v1/visitor/identify", { lbid });
  expect([status, json.error.codeType]).toEqual([404, "LBID_NOT_FOUND"]);
});

test("a visit that is about to be stored is waited for", async () => {
  const { id: linkId } = await visits.newLink();
  const at = api.now();
  const [id, lbid] = [
    newId(at),
    (uuid: string) => Buffer.from(uuid.replaceAll("-", ""), "hex").toString("base64url"),
  ];
  const answering = identify("rest", { $email: "ada@example.com" }, lbid(id));
  const storing = db
    .insertInto("events")
    .values({
      workspace_id: workspaceId,
      id,
      link_id: linkId,
      device_id: randomUUID(),
      action: "CLICK",
      visit_type: "FIRST",
      counted: true,
      entrypoint: "https://short.test/x",
      steps_total: 2,
      steps_reached: 2,
      outcome: "COMPLETED",
      created_at: at,
      updated_at: at,
    })
    .execute();
  await storing;
  expect((await answering).created).toBe(true);
});

test("a profile that would have more than 200 attributes is refused, and nothing of the call is kept", async () => {
  const many = Object.fromEntries(Array.from({ length: 199 }, (_, index) => [`k${index}`, "x"]));
  const { visitor } = await identify("rest", { $email: "ada@example.com", ...many });
  const body = { visitor: { $email: "ada@example.com", $firstName: "Ada", a: "1", b: "2" } };
  const { status } = await workspace.rest("POST", "/v1/visitor/identify", body);
  expect(status).toBe(400);
  const { json } = await workspace.rest("GET", `/v1/visitors/${visitor.id}`);
  expect(json).toMatchObject({ firstName: "" });
  expect(json.attributes).toHaveLength(199);
});

describe("a publishable token", () => {
  let publishable: string;
  beforeEach(async () => {
    const { json } = await workspace.rest("POST", "/v1/workspace-tokens", {
      keyType: "WORKSPACE_TOKEN_KEY_TYPE_PUBLISHABLE",
    });
    publishable = json.accessToken;
  });

  test("learns nothing of the profile that it finds", async () => {
    const secret = { $phone: "+14155550100", $firstName: "Ada", plan: "pro" };
    const { visitor } = await identify("rest", { $email: "ada@example.com", ...secret });
    const sent = { $email: "Ada@example.com", plan: "free", seats: 3 };
    for (const setOnce of [true, false]) {
      const request = { visitor: sent, setOnce };
      const { status, json, text } = await api.rest(publishable)("POST", "/v1/visitor/identify", request);
      expect(status).toBe(200);
      expect(json.created).toBe(false);
      expect(json.visitor).toEqual({
        id: visitor.id,
        workspaceId: "",
        email: "ada@example.com",
        phone: "",
        firstName: "",
        lastName: "",
        attributes: [
          { key: "plan", type: "VISITOR_ATTRIBUTE_TYPE_STRING", value: "free" },
          { key: "seats", type: "VISITOR_ATTRIBUTE_TYPE_NUMBER", value: "3", numberValue: 3 },
        ],
        deviceCount: "0",
        qrcodeCount: "0",
        visitCount: "0",
        devices: [],
        events: [],
        links: [],
      });
      expect(text).not.toMatch(/4155550100|"Ada"/);
    }
    const grpc = await ask(api, "grpc", VisitorsService.method.identify, { visitor: sent }, publishable);
    expect(JSON.stringify(grpc.body)).not.toMatch(/4155550100|"Ada"/);
  });

  test("is not answered what a secret one was, under the same idempotency key", async () => {
    const body = { visitor: { $email: "ada@example.com" } };
    const key = { "idempotency-key": "once" };
    await workspace.rest("POST", "/v1/visitor/identify", {
      visitor: { $email: "ada@example.com", plan: "pro" },
    });
    const secret = await workspace.rest("POST", "/v1/visitor/identify", body, key);
    expect(secret.text).toContain('"pro"');
    const { text, headers } = await api.rest(publishable)("POST", "/v1/visitor/identify", body, key);
    expect(headers["idempotent-replayed"]).toBeUndefined();
    expect(text).not.toContain('"pro"');
  });

  test.each([
    ["GET", "/v1/visitors"],
    ["POST", "/v1/visitors/search"],
    ["GET", "/v1/visitors/attributes"],
    ["GET", `/v1/visitors/${randomUUID()}`],
    ["PATCH", `/v1/visitors/${randomUUID()}`],
    ["DELETE", `/v1/visitors/${randomUUID()}`],
    ["DELETE", `/v1/visitors/${randomUUID()}/attributes/plan`],
  ])("is refused %s %s", async (method, path) => {
    const { status, json } = await api.rest(publishable)(method, path, /^P/.test(method) ? {} : undefined);
    expect([status, json.error.codeType]).toEqual([403, "INSUFFICIENT_SCOPE"]);
  });
});

describe("pages of other origins", () => {
  const origin = { origin: "https://shop.example" };
  const preflight = (path: string, method: string) =>
    api.rest()("OPTIONS", path, undefined, { ...origin, "access-control-request-method": method });

  test("may ask and identify", async () => {
    const asked = await preflight("/v1/visitor/identify", "POST");
    expect(asked.status).toBe(204);
    expect(asked.headers).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "POST",
      "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key",
    });
    const body = { visitor: { $email: "ada@example.com" } };
    const { status, headers } = await workspace.rest("POST", "/v1/visitor/identify", body, origin);
    expect([status, headers["access-control-allow-origin"]]).toEqual([200, "*"]);
  });

  test("may read why they are refused", async () => {
    for (const token of [undefined, workspace.token]) {
      const { status, headers } = await api.rest(token)("POST", "/v1/visitor/identify", "{", origin);
      expect(status).toBe(token === undefined ? 401 : 400);
      expect(headers["access-control-allow-origin"]).toBe("*");
    }
  });

  test("may make the open calls", async () => {
    expect((await preflight("/v1/pricing/plans", "GET")).status).toBe(204);
  });

  test.each([
    ["GET", "/v1/visitors"],
    ["GET", "/v1/links"],
    ["POST", "/v1/links"],
    ["PATCH", `/v1/visitors/${randomUUID()}`],
    ["DELETE", "/v1/visitor/identify"],
    ["POST", "/v1/nowhere"],
  ])("may not %s %s", async (method, path) => {
    const { status, headers } = await preflight(path, method);
    expect([404, 405]).toContain(status);
    expect(headers["access-control-allow-origin"]).toBeUndefined();
    const sent = await workspace.rest(method, path, /^P/.test(method) ? {} : undefined, origin);
    // Only the allowed path answers to CORS.
    if (path !== "/v1/visitor/identify") expect(sent.headers["access-control-allow-origin"]).toBeUndefined();
  });
});

test("a caller waits for at most 20 visits at once, and 100 unknown ones are enough for a while", async () => {
  const { rest } = await api.newWorkspace();
  const lbid = () => Buffer.from(newId(api.now()).replaceAll("-", ""), "hex").toString("base64url");
  const identifyAll = async (count: number) => {
    const calls = Array.from({ length: count }, () => rest("POST", "/v1/visitor/identify", { lbid: lbid() }));
    const reasons = (await Promise.all(calls)).map(({ status, json, headers }) =>
      [status, json.error.codeType, headers["retry-after"]].join(" "),
    );
    return Map.groupBy(reasons, (reason) => reason);
  };
  const first = await identifyAll(50);
  expect(first.get("404 LBID_NOT_FOUND ")).toHaveLength(20);
  expect(first.get("429 RATE_LIMITED 1")).toHaveLength(30);
  // Old visits are looked for once, and charged all the same.
  const old = { lbid: Buffer.alloc(16, 1).toString("base64url") };
  const statuses: number[] = [];
  for (let call = 0; call < 100; call++)
    statuses.push((await rest("POST", "/v1/visitor/identify", old)).status);
  expect(statuses.slice(0, 80)).toEqual(Array(80).fill(404));
  expect(statuses).toContain(429);
  expect((await (await api.newWorkspace()).rest("POST", "/v1/visitor/identify", old)).status).toBe(404);
});

test("at most 20 calls wait for one visit that is not stored, whoever invents it", async () => {
  const lbid = lbidOfEvent(newId(api.now()));
  const method = VisitorsService.method.identify;
  const call = (index: number, protocol: Protocol) =>
    ask(api, protocol, method, { lbid, visitor: { $email: `${index}@example.com` } }, workspace.token);
  const first = await Promise.all(Array.from({ length: 20 }, (_, index) => call(index, "rest")));
  expect(new Set(first.map(({ reason }) => reason))).toEqual(new Set(["OK"]));
  expect((await call(20, "rest")).reason).toBe("RATE_LIMITED");
  expect((await call(21, "grpc")).reason).toBe("RATE_LIMITED");
});
