import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import type { DashboardWidget } from "../../../gen/signpost/v1/analytics_dashboard_pb.js";
import { AnalyticsDashboardService } from "../../../gen/signpost/v1/analytics_dashboard_service_pb.js";
import { randomFrom } from "../../../test/fuzz/random.ts";
import { storeVisits, storeWorld } from "../../../test/support/analytics/store-world.ts";
import { randomVisit, randomWorld } from "../../../test/support/analytics/world.ts";
import { type Api, type Reply, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import type { Model, Question } from "../../assistant/model.ts";
import { createEntitlements, type Entitlements } from "../../db/entitlements.ts";
import { newId } from "../../lib/ids.ts";
import { readPlanTable } from "../../model/plans/read-plan-table.ts";
import type { Context } from "../../rpc/handlers.ts";
import { askWidget, type WidgetAnswer } from "./ask-widget.ts";
import { starterWidgets } from "./starter-widgets.ts";

const plans = readPlanTable({ plans: { LIGHT: { limits: { PLATFORM_CREDITS: 3 } } } }, true, []);
// The plan is read again for every call, because these tests change it without waiting.
const entitlements: Entitlements = {
  known: () => undefined,
  of: (id, on) => createEntitlements({ plans, now: () => new Date() }).of(id, on),
};
const api = await startApi({ deps: { plans, entitlements } });
const { db } = api;
const at = "/v1/analytics/dashboards";
const day = 86_400_000;

/** What runs with the context of a call of GetWidgetSummary, in the API of `probing`. */
let probe: (context: Context) => Promise<WidgetAnswer>;
let probed: WidgetAnswer | undefined;

/** The same API, with an operation that hands its context to a test. */
const probing = await startApi({
  database: api.database,
  clock: api.clock,
  services: api.services.map((registered) => {
    if (registered.service !== AnalyticsDashboardService) return registered;
    const getWidgetSummary = async (_request: never, context: Context) => {
      probed = await probe(context);
      return {};
    };
    return { ...registered, handlers: { ...registered.handlers, getWidgetSummary } };
  }),
});

async function ask(
  token: string,
  widget: DashboardWidget,
  asked = {},
): Promise<[WidgetAnswer | undefined, Reply]> {
  probed = undefined;
  probe = (context) => askWidget(widget, asked, context);
  const reply = await probing.rest(token)("GET", `${at}/${randomUUID()}/widgets/x/summary`);
  return [probed, reply];
}

async function newWorkspace(plan: "LIGHT_PLAN" | "PRO_PLAN" = "PRO_PLAN"): Promise<TestWorkspace> {
  const workspace = await api.newWorkspace();
  const { workspaceId } = workspace;
  await db.updateTable("workspaces").set({ subscription_type: plan }).where("id", "=", workspaceId).execute();
  return workspace;
}

const refusalOf = ({ status, json }: Reply) => [status, json.error?.codeType];

async function usedBy({ workspaceId }: Pick<TestWorkspace, "workspaceId">): Promise<number> {
  const account = await db
    .selectFrom("credit_accounts")
    .select("used")
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  return Number(account?.used ?? 0);
}

/** Makes a dashboard with one widget that lists countries. Gives the path of the widget's summary. */
async function addCountries({ rest }: Pick<TestWorkspace, "rest">, limit = 10): Promise<string> {
  const { status, json } = await rest("POST", at, { config: { widgets: [countriesWidget(limit)] } });
  expect(status, JSON.stringify(json)).toBe(200);
  return `${at}/${json.dashboard.id}/widgets/countries/summary`;
}

function countriesWidget(limit: number) {
  return {
    id: "countries",
    dataSource: {
      endpoint: "/v1/analytics/breakdown",
      method: "POST",
      params: { dimension: "country", limit },
      responseDataPath: "data",
      usesDateRange: true,
    },
    visualization: {
      fieldMappings: [
        { sourceField: "label", chartRole: "label" },
        { sourceField: "eventCount", chartRole: "value", displayLabel: "Visits" },
      ],
    },
  };
}

/** A workspace with visits of the last days and of the month before, and one of its links. */
async function workspaceWithVisits(plan?: "LIGHT_PLAN", recent = 40) {
  const workspace = await newWorkspace(plan);
  const random = randomFrom(8);
  const { json } = await workspace.rest("POST", "/v1/links", {
    destination: "https://example.com",
    name: "Menu",
  });
  const link = { id: json.link.id, name: "Menu", shortlink: json.link.shortlink, tags: [], isDeleted: false };
  const world = randomWorld(random, "UTC", [link], 0);
  const visitAt = (daysAgo: number) => {
    const time = new Date(api.now().getTime() - daysAgo * day);
    return {
      ...randomVisit(random, world),
      at: time,
      id: newId(time),
      counted: true,
      lockedNumber: undefined,
    };
  };
  world.visits.push(
    ...Array.from({ length: recent }, (_, index) => visitAt(1 + (index % 20))),
    ...Array.from({ length: 15 }, (_, index) => visitAt(32 + (index % 10))),
  );
  await storeWorld(db, workspace.workspaceId, world);
  return { workspace, world, link, visitAt };
}

describe("the rows of widgets", () => {
  let filled: Awaited<ReturnType<typeof workspaceWithVisits>>;
  let empty: TestWorkspace;
  beforeAll(async () => {
    [filled, empty] = [await workspaceWithVisits(), await newWorkspace()];
  });

  test("every starter widget is answered by the real operations, with data and without", async () => {
    for (const linkId of [null, filled.link.id]) {
      for (const widget of starterWidgets(linkId)) {
        const [answer, reply] = await ask(filled.workspace.token, widget);
        expect(reply.status, `${widget.id} ${reply.text}`).toBe(200);
        const roles = new Set(widget.visualization?.fieldMappings.map(({ chartRole }) => chartRole));
        expect(answer?.rows.length, widget.id).toBeGreaterThan(0);
        for (const row of answer?.rows ?? []) expect(new Set(Object.keys(row)), widget.id).toEqual(roles);
        expect(new Set(Object.keys(answer?.names ?? {}))).toEqual(roles);
      }
    }
    for (const widget of starterWidgets(null)) {
      const [answer, { status }] = await ask(empty.token, widget);
      expect([status, answer?.rows.some(({ value = 0 }) => value > 0)], widget.id).toEqual([200, false]);
    }
  });

  test("rows carry the numbers of the operation, over the dates and intervals that are asked for", async () => {
    const { workspace } = filled;
    const [visits, , countries] = ["visits", "visitors", "countries"].map((wanted) =>
      starterWidgets(null).find(({ id }) => id === wanted),
    ) as [DashboardWidget, DashboardWidget, DashboardWidget];
    const to = api.now();
    const from = new Date(to.getTime() - 30 * day);
    const asked = { from, to, intervalInMinutes: 1_440 };
    const [answer] = await ask(workspace.token, visits, asked);
    expect(answer?.rows.length).toBeLessThanOrEqual(32);
    const total = (given: WidgetAnswer | undefined) =>
      given?.rows.reduce((all, { value = 0 }) => all + value, 0);
    expect(total(answer)).toBe(40);
    expect(answer?.rows[1]?.timestamp).toBeInstanceOf(Date);
    const [earlier] = await ask(workspace.token, visits, {
      ...asked,
      from: new Date(from.getTime() - 30 * day),
      to: from,
    });
    expect(total(earlier)).toBe(15);
    const { json } = await workspace.rest("POST", "/v1/analytics/breakdown", { dimension: "country" });
    const [first] = await ask(workspace.token, countries);
    expect(first?.rows).toEqual(
      json.data.map(({ label, code, eventCount }: { label: string; code: string; eventCount: number }) => {
        return { label, value: eventCount, category: code };
      }),
    );
    const [cities] = await ask(workspace.token, countries, { tab: 2 });
    const other = await workspace.rest("POST", "/v1/analytics/breakdown", { dimension: "city" });
    expect(cities?.rows.map(({ label }) => label)).toEqual(
      other.json.data.map(({ label }: { label: string }) => label),
    );
  });

  test("a path through lists gives a row for each inner element, with the values of what holds it", async () => {
    const series = {
      ...starterWidgets(null)[0],
      dataSource: {
        endpoint: "/v1/analytics/timeseries",
        method: "POST",
        params: { groupBy: "GROUP_BY_DIMENSION_DEVICE_TYPE", limit: 2 },
        responseDataPath: "series.points",
        usesInterval: true,
      },
      visualization: { chartType: "stacked_area", fieldMappings: [], colors: [], tabs: [] },
    } as unknown as DashboardWidget;
    const [answer] = await ask(filled.workspace.token, series, { intervalInMinutes: 1_440 });
    const categories = new Set(answer?.rows.map(({ category }) => category));
    expect(categories.size).toBe(2);
    for (const row of answer?.rows ?? [])
      expect(row).toEqual({
        timestamp: expect.any(Date),
        value: expect.any(Number),
        category: expect.any(String),
      });
  });

  test("the caller's own scopes and workspace hold for what a widget asks", async () => {
    const { workspace, link } = filled;
    const [widget] = starterWidgets(link.id) as [DashboardWidget];
    const [, foreign] = await ask(empty.token, widget);
    expect(refusalOf(foreign)).toEqual([404, "NOT_FOUND"]);
    const [, long] = await ask(
      workspace.token,
      { ...widget, dataSource: starterWidgets(null)[4]?.dataSource } as DashboardWidget,
      {
        from: new Date(0),
      },
    );
    expect(refusalOf(long)).toEqual([400, "INVALID_ARGUMENT"]);
    expect(long.json.error.message).toContain("startDate");
  });
});

describe("summaries", () => {
  test("there is none before one is written; then it tells the numbers and how they changed, over REST and gRPC", async () => {
    const { workspace, visitAt } = await workspaceWithVisits();
    const path = await addCountries(workspace, 100);
    expect((await workspace.rest("GET", path)).json).toEqual({});
    const made = await workspace.rest("POST", path, {});
    const { result } = made.json;
    expect(result).toMatchObject({ widgetId: "countries", stale: false, currentCount: result.sourceCount });
    expect(result.text).toMatch(
      /^Visits: 40 in \d rows, 25 more \(166\.67%\) than in the rows of the 30 days before\. /,
    );
    const [, dashboardId = ""] = /dashboards\/([^/]+)/.exec(path) ?? [];
    const client = workspace.client(AnalyticsDashboardService);
    const read = await client.getWidgetSummary({ dashboardId, widgetId: "countries" });
    expect(read.result).toMatchObject({ text: result.text, sourceCount: result.sourceCount, stale: false });
    const visit = visitAt(0.5);
    const device = { ...visit.device, id: randomUUID(), country: "FJ" };
    await storeWorld(db, workspace.workspaceId, {
      ...{
        timezone: "UTC",
        links: [],
        visitors: [{ id: randomUUID(), email: undefined, isMerged: false, plan: "x", at: visit.at }],
      },
      devices: [device],
      visits: [],
    });
    await storeVisits(db, workspace.workspaceId, [{ ...visit, device, visitor: undefined }]);
    const stale = (await workspace.rest("GET", path)).json.result;
    expect(stale).toEqual({ ...result, currentCount: result.sourceCount + 1, stale: true });
    const renewed = await client.generateWidgetSummary({ dashboardId, widgetId: "countries" });
    expect(renewed.result).toMatchObject({ sourceCount: stale.currentCount, stale: false });
    expect(renewed.result?.text).toContain("Visits: 41 in ");
  });

  test("every starter widget has one, with data and without", async () => {
    const { workspace, link } = await workspaceWithVisits();
    for (const [{ rest }, linkId] of [
      [workspace, link.id],
      [await newWorkspace(), undefined],
    ] as const) {
      const { json } = await rest("POST", at, { useDefaultWidgets: true, linkId });
      const { id, config } = json.dashboard;
      for (const widget of config.widgets) {
        const answer = await rest("POST", `${at}/${id}/widgets/${widget.id}/summary`, {});
        expect(answer.status, `${widget.id} ${answer.text}`).toBe(200);
        expect(answer.json.result.text, widget.id).toMatch(/^\S.{8,600}\.$/);
      }
    }
  });

  test("a new text costs one credit, a current one nothing, and a repeated call nothing", async () => {
    const { workspace } = await workspaceWithVisits("LIGHT_PLAN");
    const before = await usedBy(workspace);
    const path = await addCountries(workspace);
    const { rest } = workspace;
    await rest("POST", path, {});
    await rest("POST", path, {});
    expect(await usedBy(workspace)).toBe(before + 1);
    // The plan's other credit pays for a text of the same key.
    await db
      .updateTable("credit_accounts")
      .set({ used: 2n })
      .where("workspace_id", "=", workspace.workspaceId)
      .execute();
    const key = { "idempotency-key": "once" };
    const first = await rest("POST", path, { force: true }, key);
    const again = await rest("POST", path, { force: true }, key);
    expect(again.json).toEqual(first.json);
    expect(again.headers["idempotent-replayed"]).toBe("true");
    expect(await usedBy(workspace)).toBe(3);
    const refused = await rest("POST", path, { force: true });
    expect(refusalOf(refused)).toEqual([429, "INSUFFICIENT_CREDITS"]);
    expect((await rest("GET", path)).json).toEqual(first.json);
    expect((await rest("POST", path, {})).json).toEqual(first.json);
    expect(await usedBy(workspace)).toBe(3);
  });

  test("who cannot pay for a text asks no model", async () => {
    const { workspace } = await workspaceWithVisits("LIGHT_PLAN");
    const path = await addCountries(workspace);
    const asked: Question[] = [];
    const model: Model = {
      async reply(question) {
        asked.push(question);
        return { text: "Many visits.", calls: [], isCut: false };
      },
    };
    const worded = await startApi({
      database: api.database,
      clock: api.clock,
      deps: { plans, entitlements, model },
    });
    const rest = worded.rest(workspace.token);
    expect((await rest("POST", path, {})).status).toBe(200);
    expect(asked).toHaveLength(1);
    await db
      .updateTable("credit_accounts")
      .set({ used: 3n })
      .where("workspace_id", "=", workspace.workspaceId)
      .execute();
    expect(refusalOf(await rest("POST", path, { force: true }))).toEqual([429, "INSUFFICIENT_CREDITS"]);
    expect(asked).toHaveLength(1);
  });

  test("of calls at once that find no text, one pays", async () => {
    const { workspace } = await workspaceWithVisits("LIGHT_PLAN");
    const path = await addCountries(workspace);
    const before = await usedBy(workspace);
    const answers = await Promise.all(Array.from({ length: 20 }, () => workspace.rest("POST", path, {})));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    expect(await usedBy(workspace)).toBe(before + 1);
  });

  test("a sandbox pays from its own credits, and reads only its own dashboards", async () => {
    const parent = await newWorkspace();
    const sandbox = await api.newSandbox(parent);
    const { json } = await sandbox.rest("POST", at, { useDefaultWidgets: true });
    const path = `${at}/${json.dashboard.id}/widgets/hours/summary`;
    expect((await sandbox.rest("POST", path, {})).json.result.text).toContain("Visits: none");
    expect([await usedBy(sandbox), await usedBy(parent)]).toEqual([1, 0]);
    expect(refusalOf(await sandbox.rest("GET", await addCountries(parent)))).toEqual([404, "NOT_FOUND"]);
    expect(refusalOf(await parent.rest("GET", path))).toEqual([404, "NOT_FOUND"]);
  });

  test("a widget that asks another question loses its text, and so does one that goes", async () => {
    const { workspace } = await workspaceWithVisits();
    const { rest, workspaceId } = workspace;
    const path = await addCountries(workspace);
    const dashboard = path.replace(/\/widgets.*/, "");
    await rest("POST", path, {});
    await rest("PUT", dashboard, {
      config: { gridColumns: 4, widgets: [{ ...countriesWidget(10), title: "Moved" }] },
    });
    expect((await rest("GET", path)).json.result).toBeDefined();
    await rest("PUT", dashboard, { config: { widgets: [countriesWidget(3)] } });
    expect((await rest("GET", path)).json).toEqual({});
    await rest("POST", path, {});
    await rest("DELETE", dashboard);
    const left = await db
      .selectFrom("widget_summaries")
      .select("text")
      .where("workspace_id", "=", workspaceId)
      .execute();
    expect(left).toEqual([]);
  });

  test.each([
    ["the visitor", "hobby", "DELETE", "", undefined],
    ["the attribute", "hobby", "DELETE", "/attributes/hobby", undefined],
    ["the name", "$firstName", "PATCH", "", { visitor: { $firstName: "" } }],
  ] as const)("a text about values of visitors goes with %s", async (_, key, method, end, body) => {
    const { workspace } = await workspaceWithVisits();
    const { rest, workspaceId } = workspace;
    const ids: string[] = [];
    for (const name of ["Jane", "Jane", "John"]) {
      const visitor = { $email: `${ids.length}@example.org`, $firstName: name, hobby: name };
      const { json } = await rest("POST", "/v1/visitor/identify", { visitor });
      ids.push(json.visitor.id);
    }
    const [id] = ids;
    await sql`with numbered as (select id, row_number() over (order by id) as number from events
        where workspace_id = ${workspaceId})
      update events e set visitor_id = (${ids}::uuid[])[1 + numbered.number % 3] from numbered
      where e.workspace_id = ${workspaceId} and e.id = numbered.id`.execute(db);
    const source = { endpoint: "/v1/analytics/attributes/distribution", params: { key, limit: 10 } };
    const mappings = [
      { sourceField: "label", chartRole: "label" },
      { sourceField: "visitorCount", chartRole: "value", displayLabel: "Visitors" },
    ];
    const widget = countriesWidget(10);
    const { json, text } = await rest("POST", at, {
      config: {
        widgets: [
          {
            ...widget,
            dataSource: { ...widget.dataSource, ...source },
            visualization: { fieldMappings: mappings },
          },
        ],
      },
    });
    const path = `${at}/${json.dashboard?.id}/widgets/countries/summary`;
    expect((await rest("POST", path, {})).json.result?.text, text).toContain("Jane");
    const gone = await rest(method, `/v1/visitors/${id}${end}`, body);
    expect(gone.status, gone.text).toBe(200);
    expect((await rest("GET", path)).json).toEqual({});
    // A text that was begun before the deletion may name the value, and looks like this one.
    expect((await rest("POST", path, {})).json.result?.text).toMatch(/^Visitors: 2 /);
    expect((await rest("GET", path)).json).toEqual({});
    await db
      .updateTable("withdrawn_values")
      .set({ withdrawn_at: sql`withdrawn_at - interval '1 hour'` })
      .where("workspace_id", "=", workspaceId)
      .execute();
    await rest("POST", path, {});
    expect((await rest("GET", path)).json.result?.text).toMatch(/^Visitors: 2 /);
  });

  test("a plan with a short history compares nothing that it does not show", async () => {
    const short = readPlanTable({ plans: { PRO: { historyDays: 45 } } }, true, []);
    const { workspace } = await workspaceWithVisits();
    const other: Api = await startApi({
      database: api.database,
      clock: api.clock,
      deps: { plans: short, entitlements: createEntitlements({ plans: short, now: api.now }) },
    });
    const path = await addCountries(workspace);
    const { json } = await other.rest(workspace.token)("POST", path, {});
    expect(json.result.text).toMatch(/^Visits: 40 in \d rows\. /);
    expect(json.result.text).not.toContain("before");
  });

  test("refuses unknown dashboards and widgets, ids that are none, and tokens that may only read", async () => {
    const { rest, workspaceId, client } = await newWorkspace();
    const path = await addCountries({ rest });
    for (const method of ["GET", "POST"] as const) {
      const body = method === "POST" ? {} : undefined;
      const missing = await rest(method, path.replace("/countries/", "/cities/"), body);
      expect(refusalOf(missing)).toEqual([404, "NOT_FOUND"]);
      expect(missing.json.error.message).toContain("widgetId");
      const unknown = await rest(method, `${at}/${randomUUID()}/widgets/countries/summary`, body);
      expect(refusalOf(unknown)).toEqual([404, "NOT_FOUND"]);
      expect(refusalOf(await rest(method, `${at}/menu/widgets/x/summary`, body))).toEqual([
        400,
        "INVALID_ID",
      ]);
      const long = await rest(method, path.replace("/countries/", `/${"x".repeat(256)}/`), body);
      expect(refusalOf(long)).toEqual([400, "INVALID_ARGUMENT"]);
    }
    expect(refusalOf(await rest("POST", path, { force: "often" }))).toEqual([400, "INVALID_ARGUMENT"]);
    const reader = api.rest(await api.scopedToken(workspaceId, ["analytics:read"]));
    expect(refusalOf(await reader("POST", path, {}))).toEqual([403, "INSUFFICIENT_SCOPE"]);
    expect((await reader("GET", path)).json).toEqual({});
    const dashboardId = randomUUID();
    const over = client(AnalyticsDashboardService).generateWidgetSummary({ dashboardId, widgetId: "x" });
    await expect(over).rejects.toMatchObject({ code: Code.NotFound });
    expect(await usedBy({ workspaceId })).toBe(0);
  });

  test("a widget without a data source has a text, which is free", async () => {
    const workspace = await newWorkspace();
    const { json } = await workspace.rest("POST", at, { config: { widgets: [{ id: "empty" }] } });
    const answer = await workspace.rest("POST", `${at}/${json.dashboard.id}/widgets/empty/summary`, {});
    expect(answer.json.result).toMatchObject({
      sourceCount: 0,
      text: expect.stringContaining("nothing to summarize"),
    });
    expect(await usedBy(workspace)).toBe(0);
  });
});
