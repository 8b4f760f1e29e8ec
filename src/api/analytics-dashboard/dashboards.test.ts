import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { beforeEach, describe, expect, test } from "vitest";
import { AnalyticsDashboardService } from "../../../gen/signpost/v1/analytics_dashboard_service_pb.js";
import { type Reply, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { purgeWorkspace } from "../../jobs/purge/purge-workspaces.ts";

const api = await startApi();

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
});

const at = "/v1/analytics/dashboards";
const refusalOf = ({ status, json }: Reply) => [status, json.error?.codeType];
const grpc = () => workspace.client(AnalyticsDashboardService);

async function addLink(): Promise<string> {
  const { json } = await rest("POST", "/v1/links", { destination: "https://example.com" });
  return json.link.id;
}

async function add(body: Record<string, unknown> = {}) {
  const { status, json } = await rest("POST", at, body);
  expect(status, JSON.stringify(json)).toBe(200);
  return json.dashboard;
}

async function list(query: Record<string, string> = {}) {
  const { json } = await rest("GET", `${at}?${new URLSearchParams(query)}`);
  return json.dashboards;
}

// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape.
type Json = any;

/** A widget that asks for countries, with parts replaced. */
function widget(parts: Record<string, unknown> = {}, dataSource: Record<string, unknown> = {}) {
  return {
    title: "Countries",
    dataSource: {
      endpoint: "/v1/analytics/breakdown",
      method: "POST",
      params: { dimension: "country" },
      responseDataPath: "data",
      usesDateRange: true,
      ...dataSource,
    },
    ...parts,
  };
}

const mapping = (sourceField: string, chartRole: string) => ({ sourceField, chartRole });

describe("create and list", () => {
  test("a dashboard begins empty, with the usual name and eight columns, over REST and gRPC", async () => {
    const dashboard = await add();
    expect(dashboard).toEqual({
      id: dashboard.id,
      linkId: "",
      name: "Default Dashboard",
      config: { widgets: [], gridColumns: 8 },
      chatMessages: [],
      createdAt: dashboard.createdAt,
      updatedAt: dashboard.createdAt,
    });
    const linkId = await addLink();
    const id = randomUUID();
    const made = await grpc().createDashboard({ id, linkId, name: " Menu " });
    expect(made.dashboard).toMatchObject({ id, linkId, name: "Menu", config: { gridColumns: 8 } });
    const { dashboards, totalCount } = await grpc().listDashboards({});
    expect([totalCount, dashboards.map((each) => each.id)]).toEqual([2n, [id, dashboard.id]]);
    expect(await list()).toEqual([expect.objectContaining({ id }), dashboard]);
  });

  test("a link's filter beats the scope, and pages hold what the scope names", async () => {
    const [one, two] = [await addLink(), await addLink()];
    await add({ name: "all" });
    await add({ name: "one", linkId: one });
    await add({ name: "two", linkId: two });
    const names = async (query: Record<string, string>) =>
      (await list(query)).map(({ name }: { name: string }) => name);
    expect(await names({})).toEqual(["two", "one", "all"]);
    expect(await names({ scope: "DASHBOARD_SCOPE_WORKSPACE" })).toEqual(["all"]);
    expect(await names({ scope: "DASHBOARD_SCOPE_LINK" })).toEqual(["two", "one"]);
    expect(await names({ scope: "DASHBOARD_SCOPE_WORKSPACE", linkId: one.toUpperCase() })).toEqual(["one"]);
    const first = await rest("GET", `${at}?pageSize=2`);
    expect(first.json.totalCount).toBe("3");
    expect(await names({ pageToken: first.json.nextPageToken })).toEqual(["all"]);
    const other = await rest("GET", `${at}?scope=DASHBOARD_SCOPE_LINK&pageToken=${first.json.nextPageToken}`);
    expect(refusalOf(other)).toEqual([400, "INVALID_PAGE_TOKEN"]);
    expect(refusalOf(await rest("GET", `${at}?linkId=${randomUUID()}`))).toEqual([404, "NOT_FOUND"]);
    expect(refusalOf(await rest("GET", `${at}?linkId=menu`))).toEqual([400, "INVALID_ID"]);
    expect(refusalOf(await rest("GET", `${at}?pageSize=-1`))).toEqual([400, "INVALID_ARGUMENT"]);
  });

  test("widgets get ids and keep theirs, and a configuration beats the starter widgets", async () => {
    const { config } = await add({
      useDefaultWidgets: true,
      config: {
        gridColumns: 0,
        widgets: [widget({ id: "mine" }), widget(), widget({ dataSource: undefined })],
      },
    });
    expect(config.gridColumns).toBe(0);
    expect(config.widgets).toHaveLength(3);
    expect(config.widgets[0]).toMatchObject({ id: "mine", dataSource: { params: { dimension: "country" } } });
    const ids = config.widgets.map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(ids[1]).toMatch(/^[0-9a-f-]{36}$/);
    expect((await list())[0].config).toEqual(config);
  });

  test("of 50 calls at once one makes the dashboard of the workspace, and one that of the link", async () => {
    const linkId = await addLink();
    for (const body of [{}, { linkId }]) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => rest("POST", at, body)));
      const refused = answers.filter(({ status }) => status !== 200);
      expect(refused).toHaveLength(49);
      for (const answer of refused) expect(refusalOf(answer)).toEqual([409, "DASHBOARD_EXISTS"]);
    }
    expect(await list()).toHaveLength(2);
    const again = grpc().createDashboard({ linkId });
    await expect(again).rejects.toMatchObject({ code: Code.AlreadyExists });
  });

  test("refuses taken ids, unknown links and too many widgets, and writes nothing", async () => {
    const linkId = await addLink();
    const { id } = await add({ linkId });
    const cases = [
      [{ id }, 409, "ID_TAKEN"],
      [{ id: "x" }, 400, "INVALID_ID"],
      [{ id: "00000000-0000-0000-0000-000000000000" }, 400, "INVALID_ARGUMENT"],
      [{ linkId: randomUUID() }, 404, "NOT_FOUND"],
      [{ linkId: "menu" }, 400, "INVALID_ID"],
      [{ name: "x".repeat(256) }, 400, "INVALID_ARGUMENT"],
      [{ config: { widgets: Array.from({ length: 51 }, () => ({})) } }, 429, "LIMIT_REACHED"],
      [{ config: { widgets: Array.from({ length: 101 }, () => ({})) } }, 400, "INVALID_ARGUMENT"],
      [{ config: { gridColumns: 101 } }, 400, "INVALID_ARGUMENT"],
      [
        { config: { widgets: [widget({}, { params: { tag: "x".repeat(19_000) } })] } },
        400,
        "INVALID_ARGUMENT",
      ],
    ] as const;
    for (const [body, status, reason] of cases)
      expect(refusalOf(await rest("POST", at, body)), JSON.stringify(body).slice(0, 80)).toEqual([
        status,
        reason,
      ]);
    expect(await list()).toEqual([expect.objectContaining({ id })]);
  });

  test("a configuration is limited in bytes", async () => {
    const field = (index: number) => ({
      sourceField: "label".padEnd(250, "x"),
      displayLabel: `${index}`.padEnd(250),
    });
    const fieldMappings = Array.from({ length: 50 }, (_, index) => field(index));
    const widgets = Array.from({ length: 50 }, () => widget({ visualization: { fieldMappings } }));
    const answer = await rest("POST", at, { config: { widgets } });
    expect(refusalOf(answer)).toEqual([400, "INVALID_ARGUMENT"]);
    expect(answer.json.error.message).toMatch(/^config: has \d+ bytes as JSON, and may have 262144/);
  });
});

describe("the questions of widgets", () => {
  /** Bad widgets: the parts, the refused field below the widget, and words of the advice. */
  const bad = [
    [widget({ position: { x: 8 } }), "position.x", "at most 7"],
    [widget({ position: { x: 5 }, size: { w: 4, h: 1 } }), "size.w", "at most 3"],
    [widget({ position: { x: -1 } }), "position.x", ""],
    [widget({ id: "same" }), "id", "must differ from the id of widgets[2]"],
    [widget({}, { endpoint: "/v1/links" }), "dataSource.endpoint", ""],
    [widget({}, { endpoint: "/v1/analytics/dashboards" }), "dataSource.endpoint", "/v1/analytics/hours"],
    [widget({}, { method: "GET" }), "dataSource.method", "must be POST"],
    [widget({}, { method: "DELETE" }), "dataSource.method", ""],
    [widget({}, { params: { dimension: "planet" } }), "dataSource.params.dimension", "browser"],
    [widget({}, { params: {} }), "dataSource.params.dimension", "required"],
    [
      widget({}, { params: { dimension: "country", colour: 1 } }),
      "dataSource.params.colour",
      "use dimension, limit, linkId",
    ],
    [widget({}, { params: { dimension: "country", limit: "many" } }), "dataSource.params.limit", ""],
    [widget({}, { params: { dimension: "country", limit: -1 } }), "dataSource.params.limit", ""],
    [widget({}, { params: { dimension: ["country"] } }), "dataSource.params.dimension", "a string"],
    [widget({}, { params: { dimension: "country", linkId: "menu" } }), "dataSource.params.linkId", "UUID"],
    [
      widget(
        {},
        { endpoint: "/v1/analytics/timeseries", params: { groupBy: "PLANET" }, responseDataPath: "series" },
      ),
      "dataSource.params.groupBy",
      "",
    ],
    [widget({}, { responseDataPath: "rows" }), "dataSource.responseDataPath", "use one of data"],
    [widget({}, { responseDataPath: "data.label" }), "dataSource.responseDataPath", "single value"],
    [
      widget({}, { responseDataPath: "data.more.rows" }),
      "dataSource.responseDataPath",
      "nowhere at its part 2",
    ],
    [widget({}, { usesInterval: true }), "dataSource.usesInterval", "takes no interval"],
    [
      widget({}, { endpoint: "/v1/metrics/workspace", method: "GET", params: {}, responseDataPath: "" }),
      "dataSource.usesDateRange",
      "takes no dates",
    ],
    [
      widget({ visualization: { fieldMappings: [mapping("planet", "label")] } }),
      "visualization.fieldMappings[0].sourceField",
      "use one of label, code, eventCount, percentage",
    ],
    [
      widget({ visualization: { fieldMappings: [mapping("label", "value")] } }),
      "visualization.fieldMappings[0].chartRole",
      "needs a number",
    ],
    [
      widget({ visualization: { fieldMappings: [mapping("label", ""), mapping("code", "label")] } }),
      "visualization.fieldMappings[1].chartRole",
      "twice",
    ],
    [
      widget({ visualization: { chartType: "pie", fieldMappings: [mapping("label", "label")] } }),
      "visualization.fieldMappings",
      "a pie chart needs a value with the role value",
    ],
    [widget({ visualization: { chartType: "donut" } }), "visualization.chartType", ""],
    [
      widget({ visualization: { tabs: [{ params: { dimension: "planet" } }] } }),
      "visualization.tabs[0].params.dimension",
      "",
    ],
    [
      widget({ visualization: { tabs: [{ view: "WIDGET_TAB_VIEW_MAP", params: { dimension: "city" } }] } }),
      "visualization.tabs[0].view",
      "by country",
    ],
  ] as const;

  test("each is checked when it is saved, and the refusal names the place and the fix, over REST and gRPC", async () => {
    const { id } = await add({ name: "before" });
    for (const [one, field, advice] of bad) {
      const config = { gridColumns: 8, widgets: [widget(), widget(), widget({ id: "same" }), one] };
      for (const send of [
        () => rest("POST", at, { config, linkId: randomUUID() }),
        () => rest("PUT", `${at}/${id}`, { config }),
      ]) {
        const answer = await send();
        expect(refusalOf(answer), field).toEqual([400, "INVALID_ARGUMENT"]);
        const { details } = answer.json.error;
        const { fieldViolations } = details.find((each: object) => "fieldViolations" in each);
        const place = `config.widgets[3].${field}`;
        expect(fieldViolations).toContainEqual({
          field: place,
          description: expect.stringContaining(advice),
        });
      }
    }
    const dataSource = { endpoint: "/v1/analytics/hours", method: "GET" };
    const over = grpc().updateDashboard({ id, config: { widgets: [{ dataSource }] } });
    await expect(over).rejects.toThrow("config.widgets[0].dataSource.method: must be POST for this endpoint");
    expect(await list()).toEqual([
      expect.objectContaining({ name: "before", config: { widgets: [], gridColumns: 8 } }),
    ]);
  });

  test("a parameter that only the tabs give is enough, and each endpoint is found by its descriptor", async () => {
    const tabs = [
      { params: { dimension: "city" } },
      { params: { dimension: "country" }, view: "WIDGET_TAB_VIEW_MAP" },
    ];
    await add({ config: { widgets: [widget({ visualization: { tabs } }, { params: {} })] } });
    const { json } = await rest("POST", at, {
      config: { widgets: [widget({}, { endpoint: "/v1/metrics/x" })] },
    });
    const named = json.error.message.match(/\/v1\/[a-z/-]+/g);
    expect(named).toEqual(
      expect.arrayContaining([
        "/v1/analytics/funnel",
        "/v1/metrics/workspace/insight",
        "/v1/timeseries/events",
      ]),
    );
    expect(named).not.toContain("/v1/analytics/dashboards");
  });

  test("the largest configuration is checked in seconds of the processor at most", async () => {
    const tabs = Array.from({ length: 10 }, (_, limit) => ({ params: { limit, dimension: "city" } }));
    const widgets = Array.from({ length: 50 }, () => widget({ visualization: { tabs } }));
    const before = process.cpuUsage();
    await add({ config: { widgets } });
    const { user, system } = process.cpuUsage(before);
    expect(user + system).toBeLessThan(5_000_000);
  });
});

describe("starter widgets", () => {
  test("are those of the workspace or of the link, and pass the checks of any other", async () => {
    const linkId = await addLink();
    for (const body of [{ linkId: undefined }, { linkId }]) {
      const { id, config } = await add({ ...body, useDefaultWidgets: true });
      expect(config.widgets.length).toBeGreaterThanOrEqual(8);
      const same = await rest("PUT", `${at}/${id}`, { config });
      expect(same.json.dashboard.config).toEqual(config);
      const links = config.widgets.map(({ dataSource }: Json) => dataSource.params.linkId);
      expect(new Set(links)).toEqual(new Set([body.linkId]));
    }
  });
});

describe("update and delete", () => {
  test("changes what is given, keeps the rest, and does nothing twice", async () => {
    const before = await add({ name: "Sales", config: { widgets: [widget({ id: "a" })] } });
    const path = `${at}/${before.id}`;
    const renamed = (await rest("PUT", path, { name: "Menus" })).json.dashboard;
    expect(renamed).toMatchObject({ name: "Menus", config: before.config });
    expect((await rest("PUT", path, { name: "Menus" })).json.dashboard).toEqual(renamed);
    expect((await rest("PUT", path, {})).json.dashboard).toEqual(renamed);
    const emptied = (await rest("PUT", path, { config: { gridColumns: 4 } })).json.dashboard;
    expect(emptied).toMatchObject({ name: "Menus", config: { widgets: [], gridColumns: 4 } });
    const { dashboard } = await grpc().updateDashboard({
      id: before.id,
      config: { gridColumns: 6, widgets: [] },
      updateMask: { paths: ["config.grid_columns"] },
    });
    expect(dashboard?.config?.gridColumns).toBe(6);
  });

  test("parts of a configuration are judged with the rest of it", async () => {
    const { id } = await add({ config: { gridColumns: 8, widgets: [widget({ position: { x: 7 } })] } });
    const narrowed = grpc().updateDashboard({
      id,
      config: { gridColumns: 2, widgets: [] },
      updateMask: { paths: ["config.grid_columns"] },
    });
    await expect(narrowed).rejects.toThrow("config.widgets[0].position.x: must be at most 1");
  });

  test("refuses empty names, missing configurations and unknown ids, and changes nothing", async () => {
    const before = await add();
    const path = `${at}/${before.id}`;
    expect(refusalOf(await rest("PUT", path, { name: "" }))).toEqual([400, "INVALID_ARGUMENT"]);
    const widgets = Array.from({ length: 51 }, () => ({}));
    expect(refusalOf(await rest("PUT", path, { config: { widgets } }))).toEqual([429, "LIMIT_REACHED"]);
    expect(refusalOf(await rest("PUT", `${at}/${randomUUID()}`, { name: "x" }))).toEqual([404, "NOT_FOUND"]);
    expect(refusalOf(await rest("PUT", `${at}/menu`, { name: "x" }))).toEqual([400, "INVALID_ID"]);
    const missing = grpc().updateDashboard({ id: before.id, updateMask: { paths: ["config"] } });
    await expect(missing).rejects.toMatchObject({ code: Code.InvalidArgument });
    const unknown = grpc().updateDashboard({ id: before.id, updateMask: { paths: ["link_id"] } });
    await expect(unknown).rejects.toMatchObject({ code: Code.InvalidArgument });
    expect(await list()).toEqual([before]);
  });

  test("a deleted dashboard is gone, and another can be made", async () => {
    const { id } = await add();
    expect((await rest("DELETE", `${at}/${id}`)).json).toEqual({});
    expect(refusalOf(await rest("DELETE", `${at}/${id}`))).toEqual([404, "NOT_FOUND"]);
    expect(refusalOf(await rest("DELETE", `${at}/menu`))).toEqual([400, "INVALID_ID"]);
    await expect(grpc().deleteDashboard({ id })).rejects.toMatchObject({ code: Code.NotFound });
    expect(await list()).toEqual([]);
    await add();
  });

  test("a link takes its dashboard with it, also while the dashboard is being made", async () => {
    const linkId = await addLink();
    const { id } = await add({ linkId });
    await rest("DELETE", `/v1/links/${linkId}`);
    expect(await list()).toEqual([]);
    expect(refusalOf(await rest("PUT", `${at}/${id}`, { name: "x" }))).toEqual([404, "NOT_FOUND"]);
    for (let race = 0; race < 10; race++) {
      const link = await addLink();
      await Promise.all([rest("POST", at, { linkId: link }), rest("DELETE", `/v1/links/${link}`)]);
    }
    const { workspaceId } = workspace;
    const left = await api.db
      .selectFrom("dashboards")
      .select("id")
      .where("workspace_id", "=", workspaceId)
      .execute();
    expect(left).toEqual([]);
  });

  test("a link that has expired hides its dashboard at once", async () => {
    const expiresAt = new Date(api.now().getTime() + 60_000).toISOString();
    const link = await rest("POST", "/v1/links", { destination: "https://example.com", expiresAt });
    const { id } = await add({ linkId: link.json.link.id });
    expect(await list()).toHaveLength(1);
    await api.db
      .updateTable("links")
      .set({ expires_at: new Date(0) })
      .where("id", "=", link.json.link.id)
      .execute();
    expect(await list()).toEqual([]);
    expect(refusalOf(await rest("DELETE", `${at}/${id}`))).toEqual([404, "NOT_FOUND"]);
  });

  test("a purge leaves nothing, and a sandbox has dashboards of its own", async () => {
    await add();
    const sandbox = await api.newSandbox(workspace);
    expect((await sandbox.rest("GET", at)).json.dashboards).toEqual([]);
    expect((await sandbox.rest("POST", at, { useDefaultWidgets: true })).status).toBe(200);
    expect(await list()).toHaveLength(1);
    const { workspaceId } = workspace;
    await api.db
      .updateTable("workspaces")
      .set({ deleted_at: api.now() })
      .where("id", "=", workspaceId)
      .execute();
    const { db, now, storage, tokenBox } = api;
    expect(await purgeWorkspace({ db, now, storage, tokenBox }, workspaceId)).toBe(true);
    const left = await db
      .selectFrom("dashboards")
      .select("id")
      .where("workspace_id", "=", workspaceId)
      .execute();
    expect(left).toEqual([]);
  });
});
