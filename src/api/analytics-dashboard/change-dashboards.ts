import { isDeepStrictEqual } from "node:util";
import { create } from "@bufbuild/protobuf";
import {
  type AnalyticsDashboard,
  AnalyticsDashboardSchema,
  type DashboardConfig,
  DashboardConfigSchema,
} from "../../../gen/signpost/v1/analytics_dashboard_pb.js";
import type {
  CreateDashboardRequest,
  UpdateDashboardRequest,
} from "../../../gen/signpost/v1/analytics_dashboard_service_pb.js";
import { inTransaction, violates } from "../../db/open.ts";
import { type CallError, fail, invalid } from "../../lib/errors.ts";
import { fieldsToChange } from "../../lib/field-mask.ts";
import { newId } from "../../lib/ids.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { checkWidgetCount } from "./config-faults.ts";
import { newGridColumns } from "./grid.ts";
import { fromConfig, toConfig, toDashboard } from "./message.ts";
import { type DashboardRow, lockDashboard } from "./queries.ts";
import { starterWidgets } from "./starter-widgets.ts";
import { insertDashboard, updateDashboard } from "./writes.ts";

type ChangeDeps = Pick<Deps, "now">;

export async function createDashboard(
  { now }: ChangeDeps,
  request: CreateDashboardRequest,
  context: Context,
): Promise<AnalyticsDashboard> {
  const { workspaceId } = callerOf(context);
  const at = now();
  const id = request.id.toLowerCase() || newId(at);
  const linkId = request.linkId.toLowerCase() || null;
  const config = request.config ?? newConfig(request, linkId);
  checkWidgetCount(config);
  const dashboard = {
    ...{ workspaceId, id, linkId, at },
    name: request.name || "Default Dashboard",
    config: fromConfig(withIds(config, at)),
  };
  try {
    const row = await inTransaction(context.db, (tx) => insertDashboard(tx, dashboard));
    if (row === undefined) throw notFound("link", "linkId", request.linkId);
    return toDashboard(row);
  } catch (error) {
    if (violates(error, "dashboards_pkey"))
      throw fail("ALREADY_EXISTS", "ID_TAKEN", `id ${id} is in use`, { metadata: { id } });
    if (violates(error, "dashboards_link_key")) throw dashboardExists(linkId);
    throw error;
  }
}

function newConfig({ useDefaultWidgets }: CreateDashboardRequest, linkId: string | null): DashboardConfig {
  const widgets = useDefaultWidgets ? starterWidgets(linkId) : [];
  return create(DashboardConfigSchema, { gridColumns: newGridColumns, widgets });
}

function dashboardExists(linkId: string | null): CallError {
  const whose = linkId === null ? "the workspace" : `link ${linkId}`;
  return fail(
    "ALREADY_EXISTS",
    "DASHBOARD_EXISTS",
    `${whose} has a dashboard: update it, or delete it first`,
  );
}

/** The configuration with an id for every widget. */
function withIds(config: DashboardConfig, at: Date): DashboardConfig {
  const widgets = config.widgets.map((widget) => (widget.id === "" ? { ...widget, id: newId(at) } : widget));
  return { ...config, widgets };
}

export async function changeDashboard(
  { now }: ChangeDeps,
  request: UpdateDashboardRequest,
  context: Context,
): Promise<AnalyticsDashboard> {
  const { workspaceId } = callerOf(context);
  return inTransaction(context.db, async (tx) => {
    const before = await lockDashboard(tx, workspaceId, request.id);
    if (before === undefined) throw noSuchDashboard("id", request.id);
    const wanted = context.complete(request, () => {
      return create(AnalyticsDashboardSchema, { config: toConfig(before.config) });
    });
    const { name, config } = wantedOf(wanted);
    if (config !== undefined) checkWidgetCount(config);
    const at = now();
    const after = {
      name: name ?? before.name,
      config: config === undefined ? before.config : fromConfig(withIds(config, at)),
    };
    if (isDeepStrictEqual(after, { name: before.name, config: before.config })) return toDashboard(before);
    const changedWidgets = config === undefined ? [] : changedIn(before, toConfig(after.config));
    return toDashboard(await updateDashboard(tx, before, { ...after, changedWidgets, at }));
  });
}

/** Reads what an update changes. Throws INVALID_ARGUMENT when it takes away what a dashboard must have. */
export function wantedOf({ name, config, updateMask }: UpdateDashboardRequest): {
  readonly name: string | undefined;
  readonly config: DashboardConfig | undefined;
} {
  const fields = fieldsToChange({ name, config }, updateMask?.paths);
  if (fields.has("name") && name === "")
    throw invalid([{ field: "name", description: "must have at least 1 character" }]);
  if (fields.has("config") && config === undefined)
    throw invalid([
      { field: "config", description: "must be given: a dashboard without widgets has an empty list" },
    ]);
  return { name: fields.has("name") ? name : undefined, config: fields.has("config") ? config : undefined };
}

/** The ids of the widgets that went, or that ask another question than before. */
function changedIn(before: DashboardRow, after: DashboardConfig): string[] {
  const kept = new Map(after.widgets.map((widget) => [widget.id, widget]));
  return toConfig(before.config).widgets.flatMap((widget) => {
    const now = kept.get(widget.id);
    const asksTheSame =
      now !== undefined &&
      isDeepStrictEqual(now.dataSource, widget.dataSource) &&
      isDeepStrictEqual(now.visualization, widget.visualization);
    return asksTheSame ? [] : [widget.id];
  });
}

export function noSuchDashboard(field: "id" | "dashboardId", id: string): CallError {
  return notFound("dashboard", field, id);
}
