import { Code } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { DeviceType } from "../../../gen/signpost/v1/device_pb.js";
import { SandboxesService } from "../../../gen/signpost/v1/sandboxes_service_pb.js";
import { tickingClock } from "../../../test/support/clock.ts";
import { startApi, type TestSandbox } from "../../../test/support/start-api.ts";

// The middle of a month, because visits count in the month in which they happen.
const today = new Date();
const middle = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 15));
const api = await startApi({ clock: tickingClock(middle) });
const hourMs = 3_600_000;

let sandbox: TestSandbox;
let linkId: string;
beforeAll(async () => {
  sandbox = await api.newSandbox();
  linkId = await newLink(sandbox);
});

async function newLink({ rest }: Pick<TestSandbox, "rest">, more: object = {}): Promise<string> {
  const { status, json } = await rest("POST", "/v1/links", { destination: "https://example.com/", ...more });
  expect(status).toBe(200);
  return json.link.id;
}

function path({ workspaceId }: Pick<TestSandbox, "workspaceId">): string {
  return `/v1/sandboxes/${workspaceId}:simulateVisits`;
}

async function simulate(in_: TestSandbox, body: object, headers: Record<string, string> = {}) {
  const { status, json, text } = await in_.parent.rest("POST", path(in_), body, headers);
  expect(status, text).toBe(200);
  return json as { readonly visitCount: number; readonly eventIds: string[] };
}

async function eventsOf({ rest }: Pick<TestSandbox, "rest">) {
  const { json } = await rest("GET", "/v1/events?include=device&pageSize=1000");
  return json.json.events as {
    readonly id: string;
    readonly linkId: string;
    readonly visitType: string;
    readonly scannedAt: string;
    readonly visitorId: string;
    readonly counted: boolean;
    readonly device: { readonly country: string; readonly deviceType: string; readonly userAgent: string };
  }[];
}

test("the visits are events, traces, devices, visitors and counters like those of people", async () => {
  const own = await api.newSandbox();
  const id = await newLink(own, { conversionTracking: true });
  const before = api.now().getTime();
  const { visitCount, eventIds } = await simulate(own, { count: 40, seed: 7, hours: 5 });
  expect([visitCount, eventIds.length]).toEqual([40, 40]);
  const events = await eventsOf(own);
  expect(new Set(events.map((event) => event.id))).toEqual(new Set(eventIds));
  for (const event of events) {
    expect(event).toMatchObject({ linkId: id, counted: true });
    expect(before - Date.parse(event.scannedAt)).toBeLessThanOrEqual(5 * hourMs);
  }
  // In the order of time.
  expect([...eventIds].sort()).toEqual(eventIds);
  const types = new Set(events.map(({ visitType }) => visitType));
  expect(types).toEqual(new Set(["VISIT_TYPE_FIRST", "VISIT_TYPE_RETURNING"]));
  const { json } = await own.rest("GET", `/v1/links/${id}`);
  expect(json.link.eventCount).toBe("40");
  const visitors = await own.rest("GET", "/v1/visitors?pageSize=200");
  expect(visitors.json.json.visitors.length).toBe(new Set(events.map(({ visitorId }) => visitorId)).size);
  const traces = await own.rest("GET", `/v1/events/${eventIds[0]}/traces`);
  expect(JSON.stringify(traces.json)).toContain("https://example.com/");
  const hours = await own.rest("POST", "/v1/analytics/hours", {});
  expect(hours.json.totalEvents).toBe(40);
});

test("countries, devices and links are those asked for, over gRPC and with the sandbox's own token", async () => {
  const own = await api.newSandbox();
  const [visited, other] = [await newLink(own), await newLink(own)];
  const answer = await own.client(SandboxesService).simulateVisits({
    id: own.workspaceId,
    count: 30,
    linkIds: [visited],
    countries: ["DE", "LU", "NZ"],
    deviceTypes: [DeviceType.TABLET, DeviceType.DESKTOP],
  });
  expect(answer.visitCount).toBe(30);
  const events = await eventsOf(own);
  expect(new Set(events.map((event) => event.linkId))).toEqual(new Set([visited]));
  expect(new Set(events.map(({ device }) => device.country))).toEqual(new Set(["DE", "LU", "NZ"]));
  expect(new Set(events.map(({ device }) => device.deviceType))).toEqual(
    new Set(["DEVICE_TYPE_TABLET", "DEVICE_TYPE_DESKTOP"]),
  );
  expect(other).not.toBe(visited);
});

test("a seed makes the same people in the same order, and another seed others", async () => {
  const own = await api.newSandbox();
  await newLink(own);
  const look = async (seed: number) => {
    const { eventIds } = await simulate(own, { count: 25, seed });
    const byId = new Map((await eventsOf(own)).map((event) => [event.id, event]));
    return eventIds.map((id) => `${byId.get(id)?.device.country} ${byId.get(id)?.device.userAgent}`);
  };
  const [first, again, other] = [await look(1), await look(1), await look(2)];
  expect(again).toEqual(first);
  expect(other).not.toEqual(first);
  const devices = await own.rest("GET", "/v1/visitors?pageSize=200");
  const { json } = await own.rest("GET", "/v1/events?pageSize=1000");
  expect(json.json.totalCount).toBe("75");
  // The people of seed 1 came twice, and there are no others but those of seed 2.
  expect(devices.json.json.visitors.length).toBeLessThanOrEqual(2 * Math.ceil(25 / 1.6));
});

describe("the workflow", () => {
  test("is run with the country, the device and the time of each visit", async () => {
    const own = await api.newSandbox();
    const made = await own.rest("POST", "/v1/links", { destination: "https://else.example/" });
    const id = made.json.link.id;
    const steps = `/v1/links/${id}/workflow-steps`;
    const german = await own.rest("POST", steps, {
      eventAction: "EVENT_ACTION_CLIENT_REDIRECT",
      payload: { clientRedirect: { destination: "https://de.example/" } },
    });
    const [entry, other] = made.json.workflowSteps;
    const asked = await own.rest("POST", steps, {
      eventAction: "EVENT_ACTION_COUNTRY_CONDITION",
      payload: {
        countryCondition: {
          countries: [{ countryCode: "DE", nextStepId: german.json.workflowStep.id }],
          elseNextStepId: other.id,
        },
      },
    });
    expect(asked.status, asked.text).toBe(200);
    await own.rest("PUT", `${steps}/${entry.id}/branches/next/connection`, {
      nextStepId: asked.json.workflowStep.id,
    });
    await simulate(own, { count: 40, countries: ["DE", "FR"] });
    const rows = await api.db
      .selectFrom("events")
      .innerJoin("devices", (join) =>
        join
          .onRef("devices.workspace_id", "=", "events.workspace_id")
          .onRef("devices.id", "=", "events.device_id"),
      )
      .select(["events.destination", "devices.country"])
      .where("events.workspace_id", "=", own.workspaceId)
      .execute();
    expect(rows).toHaveLength(40);
    for (const { destination, country } of rows)
      expect(destination).toContain(country === "DE" ? "https://de.example/" : "https://else.example/");
  });

  test("sees the test clock, also for the expiry of links, whose visits then leave nothing", async () => {
    const own = await api.newSandbox();
    const expiresAt = new Date(api.now().getTime() + 24 * hourMs).toISOString();
    await newLink(own, { expiresAt });
    const late = new Date(api.now().getTime() + 30 * 24 * hourMs).toISOString();
    const clock = { "x-service-test-clock": late };
    const answer = await own.rest("POST", path(own), { count: 5 }, clock);
    expect(answer.json).toEqual({ visitCount: 0, eventIds: [] });
    // A live credential has no test clock.
    expect((await simulate(own, { count: 5 }, clock)).visitCount).toBe(5);
  });
});

test("the visits use up the sandbox's visits of the month, and those beyond them are not recorded", async () => {
  const own = await api.newSandbox();
  await newLink(own);
  expect((await simulate(own, { count: 400, hours: 5 })).visitCount).toBe(400);
  expect((await simulate(own, { count: 200, hours: 5 })).visitCount).toBe(100);
  expect(await simulate(own, { count: 1, hours: 5 })).toEqual({ visitCount: 0, eventIds: [] });
  expect(await eventsOf(own)).toHaveLength(500);
  // Four weeks ago was another month, which has visits of its own.
  const { visitCount } = await simulate(own, { count: 500, hours: 672 });
  expect(visitCount).toBeGreaterThan(100);
});

test("an idempotency key makes the visits once", async () => {
  const own = await api.newSandbox();
  await newLink(own);
  const key = { "idempotency-key": "visits" };
  const first = await simulate(own, { count: 3 }, key);
  expect(await simulate(own, { count: 3 }, key)).toEqual(first);
  expect(await eventsOf(own)).toHaveLength(3);
});

describe("refusals, which record nothing", () => {
  const faults: readonly [string, object, number, string][] = [
    ["no number", {}, 400, "count"],
    ["501 visits", { count: 501 }, 400, "count"],
    ["a negative number", { count: -1 }, 400, "count"],
    ["a seed of 32 bits", { count: 1, seed: 2 ** 31 }, 400, "seed"],
    ["a negative seed", { count: 1, seed: -1 }, 400, "seed"],
    ["a country in lower case", { count: 1, countries: ["de"] }, 400, "countries[0]"],
    ["a country that does not exist", { count: 1, countries: ["DE", "QX"] }, 400, "countries[1]"],
    ["a device that no person has", { count: 1, deviceTypes: ["DEVICE_TYPE_NATIVE"] }, 400, "deviceTypes[0]"],
    ["more than four weeks", { count: 1, hours: 673 }, 400, "hours"],
    [
      "51 links",
      { count: 1, linkIds: Array.from({ length: 51 }, () => crypto.randomUUID()) },
      400,
      "linkIds",
    ],
    ["an unknown link", { count: 1, linkIds: [crypto.randomUUID()] }, 404, "linkIds[0]"],
  ];
  test.each(faults)("%s", async (_, body, status, field) => {
    const reply = await sandbox.parent.rest("POST", path(sandbox), body);
    expect([reply.status, reply.text]).toEqual([status, expect.stringContaining(field)]);
    const over = sandbox.client(SandboxesService);
    if (status === 404) {
      const refused = over.simulateVisits({ id: sandbox.workspaceId, ...body } as never);
      await expect(refused).rejects.toMatchObject({ code: Code.NotFound });
    }
    expect(await eventsOf(sandbox)).toEqual([]);
  });

  test("a link of the parent, and a sandbox without links", async () => {
    const theirs = await newLink(sandbox.parent);
    const foreign = await sandbox.parent.rest("POST", path(sandbox), { count: 1, linkIds: [linkId, theirs] });
    expect([foreign.status, foreign.json.error.message]).toEqual([
      404,
      expect.stringContaining("linkIds[1]"),
    ]);
    const empty = await api.newSandbox();
    const none = await empty.parent.rest("POST", path(empty), { count: 1 });
    expect([none.status, none.json.error.message]).toEqual([400, expect.stringContaining("linkIds")]);
    expect(await eventsOf(sandbox)).toEqual([]);
  });

  test("a sandbox that is not the caller's, a live workspace, and one that was deleted", async () => {
    const stranger = await api.newSandbox();
    const gone = await api.newSandbox(stranger.parent);
    await newLink(gone);
    await stranger.parent.rest("DELETE", `/v1/sandboxes/${gone.workspaceId}`);
    for (const caller of [stranger.rest, stranger.parent.rest])
      expect((await caller("POST", path(sandbox), { count: 1 })).status).toBe(404);
    const { workspaceId, rest } = stranger.parent;
    expect((await rest("POST", path({ workspaceId }), { count: 1 })).status).toBe(404);
    expect((await rest("POST", path(gone), { count: 1 })).status).toBe(404);
    expect(await eventsOf(sandbox)).toEqual([]);
  });
});
