import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { VisitorsService } from "../../../gen/signpost/v1/visitors_service_pb.js";
import { ask } from "../../../test/support/ask.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { startVisits } from "../../../test/support/visits.ts";
import { newId } from "../../lib/ids.ts";
import { rebuildRollUps } from "../../visitors/roll-ups.ts";

const api = await startApi();
const { db, now } = api;

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await api.newWorkspace();
});

/** A profile made by an identify call. */
async function newVisitor(visitor: Record<string, string | number | boolean>) {
  const { json } = await workspace.rest("POST", "/v1/visitor/identify", { visitor });
  return json.visitor;
}

test("a visitor is read with the objects asked for, newest and latest first, and without those that are not", async () => {
  const visits = await startVisits(api, workspace);
  const [link, gone] = [await visits.newLink(), await visits.newLink()];
  const first = await visits.visit(link.shortlink, "Firefox/140.0");
  await visits.visit(gone.shortlink, "Firefox/140.0");
  const last = await visits.visit(link.shortlink, "Chrome/142.0");
  for (const { lbid } of [first, last])
    await workspace.rest("POST", "/v1/visitor/identify", { lbid, visitor: { $email: "ada@example.com" } });
  await workspace.rest("DELETE", `/v1/links/${gone.id}`);

  const path = `/v1/visitors/${first.visitorId}`;
  const { json: plain } = await workspace.rest("GET", path);
  expect(plain).toMatchObject({
    email: "ada@example.com",
    deviceCount: "2",
    qrcodeCount: "2",
    visitCount: "3",
  });
  expect([plain.devices, plain.events, plain.links]).toEqual([[], [], []]);

  const { json } = await workspace.rest("GET", `${path}?include=devices,events&include=links`);
  expect(json.devices.map(({ id }: { id: string }) => id)).toEqual([last.deviceId, first.deviceId]);
  expect(json.devices[0]).toMatchObject({ deviceActor: "DEVICE_ACTOR_HUMAN" });
  expect(json.events).toHaveLength(3);
  expect(json.events[0]).toMatchObject({ id: last.eventId, linkId: link.id, action: "ACTION_CLICK" });
  expect(json.events[2].id).toBe(first.eventId);
  // A deleted link is not shown, but still counts.
  expect(json.links).toMatchObject([
    { id: link.id, entrypoint: `https://short.test/${link.shortlink}`, eventCount: "2" },
  ]);
});

describe.each(["rest", "grpc"] as const)("changing a visitor over %s", (protocol) => {
  const update = (id: string, visitor: Record<string, string | number | boolean | null>) =>
    ask(api, protocol, VisitorsService.method.update, { id, visitor }, workspace.token);
  // Over gRPC the visitor stands in the response, over REST it is the body.
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape.
  const visitorOf = ({ body }: { body?: any }) => body.visitor ?? body;

  test("changes what is given, deletes what is null and leaves the rest", async () => {
    const { id } = await newVisitor({
      $email: "ada@example.com",
      $firstName: "Ada",
      plan: "free",
      city: "Bonn",
    });
    const answer = await update(id, {
      $email: "Ada@Example.org",
      $firstName: null,
      plan: "pro",
      city: null,
      seats: 3,
    });
    const visitor = visitorOf(answer);
    expect(visitor).toMatchObject({ id, email: "ada@example.org", firstName: "" });
    expect(visitor.attributes).toMatchObject([
      { key: "plan", value: "pro" },
      { key: "seats", value: "3", numberValue: 3 },
    ]);
  });

  test("leaves updatedAt alone when nothing changes", async () => {
    const { id, updatedAt } = await newVisitor({ $email: "ada@example.com", plan: "free" });
    const same = await update(id, { $email: "ADA@example.com", plan: "free", other: null });
    expect(visitorOf(same).updatedAt).toBe(updatedAt);
    expect(visitorOf(await update(id, {})).updatedAt).toBe(updatedAt);
    expect(visitorOf(await update(id, { plan: "pro" })).updatedAt).not.toBe(updatedAt);
  });

  test("refuses the address of another visitor, and keeps nothing of the call", async () => {
    await newVisitor({ $email: "ada@example.com" });
    const { id } = await newVisitor({ $email: "bob@example.com" });
    const answer = await update(id, { $email: "ADA@example.com", plan: "pro" });
    expect(answer.reason).toBe("VISITOR_EMAIL_TAKEN");
    const { json } = await workspace.rest("GET", `/v1/visitors/${id}`);
    expect(json).toMatchObject({ email: "bob@example.com", attributes: [] });
  });

  test("takes values under `data`, and clears a reserved one by an empty text", async () => {
    const { id } = await newVisitor({ $email: "ada@example.com", $phone: "+14155550100" });
    const data = { data: { $phone: "", note: "" } } as unknown as Record<string, string>;
    const visitor = visitorOf(await update(id, data));
    expect(visitor.phone).toBe("");
    expect(visitor.attributes).toMatchObject([{ key: "note", value: "" }]);
  });

  test("makes room by what it deletes, and goes no further than 200 attributes", async () => {
    const many = Object.fromEntries(Array.from({ length: 199 }, (_, index) => [`k${index}`, "x"]));
    const { id } = await newVisitor({ $email: "ada@example.com", ...many });
    expect((await update(id, { a: "1", b: "2" })).reason).toBe("INVALID_ARGUMENT");
    expect((await update(id, { a: "1", b: "2", k0: null })).reason).toBe("OK");
  });

  test("deletes an attribute, once, and no reserved one", async () => {
    const { id } = await newVisitor({ $email: "ada@example.com", "plan B.1_x-y": "pro", email: "other" });
    const remove = (attributeKey: string) =>
      ask(api, protocol, VisitorsService.method.deleteAttribute, { id, attributeKey }, workspace.token);
    expect(await remove("plan B.1_x-y")).toMatchObject({ reason: "OK", body: { success: true } });
    expect((await remove("plan B.1_x-y")).reason).toBe("NOT_FOUND");
    expect((await remove("$email")).reason).toBe("INVALID_ARGUMENT");
    // A custom attribute may have the name of a reserved key. Without such an attribute, the name means the reserved
    // one.
    expect((await remove("email")).reason).toBe("OK");
    expect((await remove("email")).reason).toBe("INVALID_ARGUMENT");
    const { json } = await workspace.rest("GET", `/v1/visitors/${id}`);
    expect(json).toMatchObject({ email: "ada@example.com", attributes: [] });
  });

  test.each(["get", "update", "delete", "deleteAttribute"] as const)(
    "%s of an unknown visitor is not found",
    async (name) => {
      const request = { id: randomUUID(), ...(name === "deleteAttribute" && { attributeKey: "plan" }) };
      const answer = await ask(api, protocol, VisitorsService.method[name], request, workspace.token);
      expect(answer.reason).toBe("NOT_FOUND");
    },
  );
});

test("deleting a visitor erases identity, attributes and answers, and leaves events and devices without one", async () => {
  const visits = await startVisits(api, workspace);
  const { workspaceId } = workspace;
  const { shortlink } = await visits.newLink();
  const visit = await visits.visit(shortlink);
  const { visitorId } = visit;
  const visitor = { $email: "ada@example.com", $firstName: "Ada", diet: "vegan" };
  await workspace.rest("POST", "/v1/visitor/identify", { lbid: visit.lbid, visitor });
  const at = now();
  const answered = [
    { key: "$email", label: "E-mail", type: "EMAIL", required: true, value: "ada@example.com" },
    { key: "diet", label: "Diet", type: "TEXT", order: 1, value: "vegan" },
  ];
  const observed = {
    attributeKey: "diet",
    comparisonValue: "vegan",
    attributeFound: true,
    observedValue: "vegan",
  };
  const seen = [
    { action: "FORM_SUBMIT", data: { form: { title: "Menu", action: "SUBMITTED", fields: answered } } },
    {
      action: "VISITOR_DATA_CONDITION",
      data: { visitorDataCondition: { options: [observed], hasElse: true } },
    },
  ] as const;
  for (const { action, data } of seen)
    await db
      .insertInto("traces")
      .values({
        workspace_id: workspaceId,
        event_id: visit.eventId,
        step_id: randomUUID(),
        id: newId(at),
        step_action: action,
        data: JSON.stringify(data),
        saved_attributes: JSON.stringify({ diet: "vegan" }),
        created_at: at,
        completed_at: at,
        updated_at: at,
      })
      .execute();

  const { status, json } = await workspace.rest("DELETE", `/v1/visitors/${visitorId}`);
  expect([status, json]).toEqual([200, { success: true }]);
  expect((await workspace.rest("DELETE", `/v1/visitors/${visitorId}`)).status).toBe(404);

  const { json: events } = await workspace.rest("GET", "/v1/events?include=visitor,traces");
  const [event] = events.json.events;
  expect(event).toMatchObject({ id: visit.eventId, visitorId: "" });
  expect(event.visitor).toBeUndefined();
  const traced = JSON.stringify(event.traces);
  expect(traced).not.toContain("ada@example.com");
  expect(event.traces.map((trace: { savedAttributes: object }) => trace.savedAttributes)).not.toContainEqual({
    diet: "vegan",
  });
  expect(traced).toContain('"label":"Diet"');
  const form = event.traces.find((trace: { stepData: object }) => "form" in trace.stepData).stepData.form;
  expect(form.fields.map(({ key, value }: { key: string; value: string }) => [key, value])).toEqual([
    ["$email", ""],
    ["diet", ""],
  ]);
  const condition = event.traces.find(
    (trace: { stepData: object }) => "visitorDataCondition" in trace.stepData,
  );
  expect(condition.stepData.visitorDataCondition.options).toMatchObject([
    { attributeKey: "diet", comparisonValue: "vegan", observedValue: "" },
  ]);
  for (const table of ["visitor_attributes", "visitor_links"] as const) {
    const rows = await db
      .selectFrom(table)
      .select("visitor_id")
      .where("workspace_id", "=", workspaceId)
      .execute();
    expect(rows).toEqual([]);
  }
  await rebuildRollUps(db, workspaceId);
  const rebuilt = await db
    .selectFrom("visitor_links")
    .select("visitor_id")
    .where("workspace_id", "=", workspaceId)
    .execute();
  expect(rebuilt).toEqual([]);

  // The same browser now belongs to a new visitor.
  const again = await visits.visit(shortlink);
  expect(again.deviceId).toBe(visit.deviceId);
  expect([visitorId, null]).not.toContain(again.visitorId);
});

test("visitors that are deleted while their browsers visit leave nothing that is theirs", async () => {
  const visits = await startVisits(api, workspace);
  const { workspaceId } = workspace;
  const { shortlink } = await visits.newLink();
  const browsers = ["Firefox/140.0", "Firefox/141.0", "Chrome/142.0"];
  const visiting = Promise.all(
    browsers.map(async (browser) => {
      for (let count = 0; count < 25; count++) await visits.visit(shortlink, browser);
      return "done" as const;
    }),
  );
  let deleted = 0;
  for (let isDone = false; !isDone; ) {
    const { json } = await workspace.rest("GET", "/v1/visitors");
    for (const { id } of json.json.visitors)
      deleted += (await workspace.rest("DELETE", `/v1/visitors/${id}`)).status === 200 ? 1 : 0;
    isDone = (await Promise.race([visiting, "visiting" as const])) !== "visiting";
  }
  expect(deleted).toBeGreaterThan(3);
  for (const table of ["events", "devices", "visitor_links"] as const) {
    const rows = await db
      .selectFrom(table)
      .select("visitor_id")
      .where("workspace_id", "=", workspaceId)
      .where("visitor_id", "is not", null)
      .where(
        "visitor_id",
        "not in",
        db.selectFrom("visitors").select("id").where("workspace_id", "=", workspaceId),
      )
      .execute();
    expect(rows).toEqual([]);
  }
});
