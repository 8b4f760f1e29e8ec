import { beforeEach, expect, test } from "vitest";
import { MetricsService } from "../../../gen/signpost/v1/metrics_service_pb.js";
import { randomFrom } from "../../../test/fuzz/random.ts";
import { storeVisits, storeWorld } from "../../../test/support/analytics/store-world.ts";
import { randomVisit, randomWorld } from "../../../test/support/analytics/world.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { createEntitlements } from "../../db/entitlements.ts";
import { newId } from "../../lib/ids.ts";
import { readPlanTable } from "../../model/plans/read-plan-table.ts";

const api = await startApi();

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
});

const destination = "https://example.com";

async function newLink(): Promise<string> {
  return (await rest("POST", "/v1/links", { destination })).json.link.id;
}

test("the workspace's numbers are those of its lists, and count visits of deleted links", async () => {
  const ids = [await newLink(), await newLink(), await newLink()];
  await rest("POST", "/v1/directories", { name: "Menus" });
  await rest("POST", "/v1/qrcode-templates", { name: "Ours" });
  const links = ids.map((id) => ({ id, name: id, shortlink: id, tags: [], isDeleted: false }));
  const random = randomFrom(3);
  const world = randomWorld(random, "UTC", links, 40);
  await storeWorld(api.db, workspace.workspaceId, world);
  const recent = [1, 29, 31].map((days) => {
    const at = new Date(api.now().getTime() - days * 86_400_000);
    return { ...randomVisit(random, world), counted: true, lockedNumber: undefined, id: newId(at), at };
  });
  await storeVisits(api.db, workspace.workspaceId, recent);
  await rest("DELETE", `/v1/links/${ids[0]}`);
  const expected = {
    totalLinks: 2,
    totalEvents: world.visits.filter(({ counted }) => counted).length + 3,
    totalMonthlyEvents: 2,
    totalMembers: 1,
    totalDirectories: 1,
    totalQrcodeTemplates: 1,
    totalPageThemeTemplates: 0,
    // No plan limits credits.
    tokenCreditsLimit: 0,
    tokenCreditsUsed: 0,
    topupCreditsLimit: 0,
    topupCreditsUsed: 0,
  };
  const { dataThrough, ...numbers } = (await rest("GET", "/v1/metrics/workspace")).json;
  expect(numbers).toEqual(expected);
  expect(dataThrough).toMatch(/^2/);
  const { workspaceMetric } = await workspace.client(MetricsService).getWorkspaceMetric({});
  expect(workspaceMetric).toMatchObject(expected);
});

test("credits of the plan and bought ones are told with what was used of them", async () => {
  const plans = readPlanTable({ plans: { LIGHT: { limits: { PLATFORM_CREDITS: 3 } } } }, true, []);
  const entitlements = createEntitlements({ plans, now: api.now });
  const limited = await startApi({ database: api.database, deps: { plans, entitlements } });
  const { workspaceId, token } = await limited.newWorkspace();
  await api.db
    .updateTable("workspaces")
    .set({ subscription_type: "LIGHT_PLAN" })
    .where("id", "=", workspaceId)
    .execute();
  const call = limited.rest(token);
  const credits = async () => {
    const { json } = await call("GET", "/v1/metrics/workspace");
    const { tokenCreditsLimit, tokenCreditsUsed, topupCreditsLimit, topupCreditsUsed } = json;
    return [tokenCreditsLimit, tokenCreditsUsed, topupCreditsLimit, topupCreditsUsed];
  };
  expect(await credits()).toEqual([3, 0, 0, 0]);
  expect((await call("POST", "/v1/links", { destination })).status).toBe(200);
  expect(await credits()).toEqual([3, plans.linkCreatedCreditCost, 0, 0]);
  await api.db
    .updateTable("credit_accounts")
    .set({ topup_bought: 10n })
    .where("workspace_id", "=", workspaceId)
    .execute();
  expect((await call("POST", "/v1/links", { destination })).status).toBe(200);
  expect(await credits()).toEqual([3, 3, 10, 2 * plans.linkCreatedCreditCost - 3]);
  await api.db
    .updateTable("credit_accounts")
    .set({ cycle: "2020-01" })
    .where("workspace_id", "=", workspaceId)
    .execute();
  expect(await credits()).toEqual([3, 0, 10, 2 * plans.linkCreatedCreditCost - 3]);
});

async function insight(): Promise<string> {
  return (await rest("GET", "/v1/metrics/workspace/insight")).json.preferredLinkType;
}

test("links lead to what at least 60 percent of them lead to, and otherwise to a mix", async () => {
  expect(await insight()).toBe("PREFERRED_LINK_TYPE_URL");
  const contact = () => rest("POST", "/v1/links/contact", { vcardData: { firstName: "Ada", lastName: "L" } });
  await contact();
  await contact();
  const card = (await contact()).json.link.id;
  expect(await insight()).toBe("PREFERRED_LINK_TYPE_CONTACT_CARD");
  await newLink();
  const last = await newLink();
  expect(await insight()).toBe("PREFERRED_LINK_TYPE_CONTACT_CARD");
  await newLink();
  expect(await insight()).toBe("PREFERRED_LINK_TYPE_MIX");
  await rest("DELETE", `/v1/links/${last}`);
  await rest("POST", "/v1/links/thank-you", { title: "Thank you" });
  await rest("DELETE", `/v1/links/${card}`);
  // Two cards, two redirects and a thank-you page.
  expect(await insight()).toBe("PREFERRED_LINK_TYPE_MIX");
  await newLink();
  await newLink();
  const { workspaceInsight } = await workspace.client(MetricsService).getWorkspaceInsight({});
  // Four redirects of seven links are less than 60 percent.
  expect(workspaceInsight?.preferredLinkType).toBe(3);
  await newLink();
  expect(await insight()).toBe("PREFERRED_LINK_TYPE_URL");
});

test("a workspace without visits has no first and no last one, and no mean score", async () => {
  const { json } = await rest("GET", "/v1/metrics/events");
  expect(json).toEqual({
    totalEvents: 0,
    topCountry: "",
    topCity: "",
    topDeviceType: "DEVICE_TYPE_UNSPECIFIED",
    totalCountries: 0,
    totalCities: 0,
    totalDeviceTypes: 0,
    dataThrough: expect.stringMatching(/^2/),
  });
});

test.each([
  ["startDate=2024-03-02T00:00:00Z&endDate=2024-03-01T00:00:00Z", 400, /startDate must not be after endDate/],
  ["startDate=yesterday", 400, /startDate.*RFC 3339/],
  ["linkId=menu", 400, /linkId.*UUID/],
  [`tag=${"t".repeat(51)}`, 400, /tag.*50/],
  [`linkId=${newId(new Date())}`, 404, /linkId: there is no link/],
])("events metrics refuse %s", async (query, status, advice) => {
  const answer = await rest("GET", `/v1/metrics/events?${query}`);
  expect(answer.status).toBe(status);
  expect(answer.json.error.message).toMatch(advice);
});
