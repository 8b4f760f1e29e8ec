import { expect, test } from "vitest";
import { EventsService } from "../gen/signpost/v1/events_service_pb.js";
import { createEntitlements } from "../src/db/entitlements.ts";
import { readPlanTable } from "../src/model/plans/read-plan-table.ts";
import { tickingClock } from "./support/clock.ts";
import { startApi } from "./support/start-api.ts";
import { startTestScan } from "./support/start-scan.ts";

const plans = readPlanTable({}, true, []);
const clock = tickingClock();
const api = await startApi({
  clock,
  deps: { plans, entitlements: createEntitlements({ plans, now: clock.now }) },
});
const dayMs = 24 * 60 * 60 * 1000;

test("FREE shows the events of two weeks, LIGHT those of three months, and a greater plan shows all again", async () => {
  const { workspaceId, rest, client } = await api.newWorkspace();
  const subscribe = async (subscription_type: "UNSPECIFIED" | "LIGHT_PLAN" | "PRO_PLAN") => {
    await api.db.updateTable("workspaces").set({ subscription_type }).where("id", "=", workspaceId).execute();
    // Processes keep what a workspace is allowed for some seconds.
    clock.advance(10_000);
  };
  await subscribe("UNSPECIFIED");
  const scan = await startTestScan(api.database, { shortUrl: "https://short.test" });
  const { link } = (await rest("POST", "/v1/links", { destination: "https://example.com" })).json;
  await scan.ask(`/${link.shortlink}`, { host: "short.test" });
  await scan.drained();
  const [{ id }] = (await rest("GET", "/v1/events")).json.json.events;

  async function isShown(): Promise<boolean> {
    const { events, totalCount } = (await rest("GET", "/v1/events")).json.json;
    const csv = (await rest("GET", "/v1/events?responseFormat=RESPONSE_FORMAT_CSV")).json.csv.csvData;
    const { status } = await rest("GET", `/v1/events/${id}/traces`);
    const overGrpc = await client(EventsService).listEvents({});
    const said = [events.length, Number(totalCount), csv.includes(id) ? 1 : 0, overGrpc.json?.events.length];
    expect(new Set(said).size, said.join()).toBe(1);
    expect(status).toBe(said[0] === 1 ? 200 : 404);
    return said[0] === 1;
  }

  clock.advance(13 * dayMs);
  expect(await isShown()).toBe(true);
  clock.advance(2 * dayMs);
  expect(await isShown()).toBe(false);
  await subscribe("LIGHT_PLAN");
  expect(await isShown()).toBe(true);
  clock.advance(80 * dayMs);
  expect(await isShown()).toBe(false);
  await subscribe("PRO_PLAN");
  expect(await isShown()).toBe(true);
});

test("a period that ends before the history of the plan has no events", async () => {
  const { workspaceId, rest } = await api.newWorkspace();
  await api.db
    .updateTable("workspaces")
    .set({ subscription_type: "UNSPECIFIED" })
    .where("id", "=", workspaceId)
    .execute();
  const endDate = new Date(clock.now().getTime() - 20 * dayMs).toISOString();
  const { events, totalCount } = (await rest("GET", `/v1/events?endDate=${endDate}`)).json.json;
  expect([events, totalCount]).toEqual([[], "0"]);
});
