import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  AnalyticsWidgetResultSchema,
  DashboardWidget,
} from "../../../gen/signpost/v1/analytics_dashboard_pb.js";
import type {
  GenerateWidgetSummaryRequest,
  GetWidgetSummaryRequest,
} from "../../../gen/signpost/v1/analytics_dashboard_service_pb.js";
import { inTransaction, violates } from "../../db/open.ts";
import { limitReached } from "../../model/plans/limit-reached.ts";
import { type Context, callerOf, type Write } from "../../rpc/handlers.ts";
import { valuesWithdrawn } from "../../visitors/withdraw-summaries.ts";
import type { Deps } from "../deps.ts";
import { chargeOf, coveredCheck, isCovered } from "../resources/credit-queries.ts";
import { shownSince } from "../resources/history.ts";
import { notFound } from "../resources/not-found.ts";
import { findScope } from "../resources/scope-queries.ts";
import { askWidget, type WidgetAnswer } from "./ask-widget.ts";
import { noSuchDashboard } from "./change-dashboards.ts";
import { toConfig } from "./message.ts";
import { type DashboardRow, findDashboard, lockDashboard } from "./queries.ts";
import { chartTypeOf } from "./roles.ts";
import { deleteSummary, findSummary, type SummaryRow, storeSummary } from "./summary-writes.ts";
import type { Numbers, WriteSummary } from "./write-summary.ts";

export interface SummaryDeps extends Pick<Deps, "now" | "entitlements"> {
  readonly writeSummary: WriteSummary;
}

type Result = MessageInitShape<typeof AnalyticsWidgetResultSchema>;

/** How many days a summary is about. */
const days = 30;
const dayMs = 86_400_000;

/** The operations whose answers have values of visitors. */
const ofAttributes = "/v1/analytics/attributes/";

/** What one text costs. */
const creditsOfSummary = 1;

/** The stored summary of a widget, and how many rows the widget has now. Undefined when there is none. */
export async function readSummary(
  deps: SummaryDeps,
  request: GetWidgetSummaryRequest,
  context: Context,
): Promise<Result | undefined> {
  const { dashboard, widget } = await findWidget(request, context);
  const stored = await findSummary(context.db, placeOf(dashboard, widget));
  if (stored === undefined) return undefined;
  const { rows } = await askDays(widget, context, deps.now());
  return toResult(stored, rows.length);
}

/**
 * Writes a summary of a widget's numbers and stores it, unless the stored one is about as many rows as there are now. Of calls
 * that do so at once, the first to store its text pays for it, and the others answer this text.
 */
export async function generateSummary(
  deps: SummaryDeps,
  request: GenerateWidgetSummaryRequest,
  context: Context,
): Promise<Write<{ readonly result: Result }>> {
  const { dashboard, widget } = await findWidget(request, context);
  const at = deps.now();
  const askedAt = performance.now();
  const place = placeOf(dashboard, widget);
  const known = await findSummary(context.db, place);
  const answer = await askDays(widget, context, at);
  const count = answer.rows.length;
  if (!request.force && known?.source_count === count)
    return async () => ({ result: toResult(known, count) });
  const entitlement = await deps.entitlements.of(dashboard.workspace_id, context.db);
  const charge = chargeOf(entitlement, count === 0 ? 0 : creditsOfSummary, at);
  // Who cannot pay asks no model. Somebody else's text, which may have taken the last credit meanwhile, costs nothing.
  if (!(await isCovered(context.db, dashboard.workspace_id, { charge, isLocked: false }))) {
    const others = await findSummary(context.db, place);
    if (!request.force && others?.source_count === count)
      return async () => ({ result: toResult(others, count) });
    throw limitReached("PLATFORM_CREDITS", entitlement, at);
  }
  const text = await deps.writeSummary(await numbersOf(deps, { answer, widget, at }, context));
  return (db) =>
    inTransaction(db, async (tx) => {
      const now = await lockDashboard(tx, dashboard.workspace_id, dashboard.id);
      if (now === undefined) throw noSuchDashboard("dashboardId", request.dashboardId);
      // The widget may ask another question by now.
      if (now.updated_at.getTime() !== dashboard.updated_at.getTime()) return undefined;
      const other = await findSummary(tx, place);
      const isOthers = other !== undefined && other.generated_at.getTime() !== known?.generated_at.getTime();
      if (isOthers && !request.force && other.source_count === count)
        return { result: toResult(other, count) };
      const summary = { ...place, text, source_count: count, generated_at: at };
      try {
        await storeSummary(tx, summary, charge);
      } catch (error) {
        if (violates(error, coveredCheck)) throw limitReached("PLATFORM_CREDITS", entitlement, at);
        throw error;
      }
      // Nobody else reads a text with values that were just deleted.
      const namesValues = widget.dataSource?.endpoint.startsWith(ofAttributes) === true;
      if (namesValues && (await valuesWithdrawn(tx, place.workspace_id, performance.now() - askedAt)))
        await deleteSummary(tx, place);
      return { result: toResult(summary, count) };
    });
}

async function findWidget(
  { dashboardId, widgetId }: Pick<GetWidgetSummaryRequest, "dashboardId" | "widgetId">,
  context: Context,
): Promise<{ readonly dashboard: DashboardRow; readonly widget: DashboardWidget }> {
  const dashboard = await findDashboard(context.db, callerOf(context).workspaceId, dashboardId);
  if (dashboard === undefined) throw noSuchDashboard("dashboardId", dashboardId);
  const widget = toConfig(dashboard.config).widgets.find(({ id }) => id === widgetId);
  if (widget === undefined) throw notFound("widget", "widgetId", widgetId, "in this dashboard");
  return { dashboard, widget };
}

function placeOf({ workspace_id, id }: DashboardRow, widget: DashboardWidget) {
  return { workspace_id, dashboard_id: id, widget_id: widget.id };
}

/** Asks a widget about the days until a moment, in intervals of a day. */
function askDays(widget: DashboardWidget, context: Context, to: Date): Promise<WidgetAnswer> {
  return askWidget(widget, { from: daysBefore(to), to, intervalInMinutes: 1_440 }, context);
}

function daysBefore(at: Date): Date {
  return new Date(at.getTime() - days * dayMs);
}

interface Summarized {
  readonly answer: WidgetAnswer;
  readonly widget: DashboardWidget;
  readonly at: Date;
}

async function numbersOf(
  deps: SummaryDeps,
  { answer, widget, at }: Summarized,
  context: Context,
): Promise<Numbers> {
  const { workspaceId } = callerOf(context);
  // Both ends of a range belong to it.
  const end = new Date(daysBefore(at).getTime() - 1);
  const since = await shownSince(deps, workspaceId, context.db);
  const isComparable =
    widget.dataSource?.usesDateRange === true && (since === undefined || since <= daysBefore(end));
  const before = isComparable ? (await askDays(widget, context, end)).rows : undefined;
  const { timezone } = await findScope(context.db, workspaceId, undefined);
  return { ...answer, chartType: chartTypeOf(widget.visualization), before, days, timezone };
}

function toResult({ widget_id, text, generated_at, source_count }: SummaryRow, currentCount: number): Result {
  return {
    widgetId: widget_id,
    text,
    generatedAt: timestampFromDate(generated_at),
    sourceCount: source_count,
    currentCount,
    stale: currentCount !== source_count,
  };
}
