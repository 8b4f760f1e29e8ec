import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  type DashboardWidget,
  WidgetTabMode,
  WidgetTabView,
} from "../../../gen/signpost/v1/analytics_dashboard_pb.js";
import type {
  GetWidgetPictureRequest,
  GetWidgetPictureResponseSchema,
} from "../../../gen/signpost/v1/analytics_dashboard_service_pb.js";
import type { Chart, Look } from "../../charts/chart.ts";
import { type Fault, invalid, invalidArgument } from "../../lib/errors.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { findScope } from "../resources/scope-queries.ts";
import { type Asked, askWidget, usesDates, type WidgetAnswer } from "./ask-widget.ts";
import { noSuchDashboard } from "./change-dashboards.ts";
import { toConfig } from "./message.ts";
import { findDashboard } from "./queries.ts";
import { chartTypeOf } from "./roles.ts";

/** As many pixels as a picture of 2,000 by 2,000 has: 16 MB while it is painted. */
const pixelsMax = 4_000_000;

/** Refuses pictures that are larger than any screen. */
export function pictureFaults(request: GetWidgetPictureRequest): readonly Fault[] {
  const { width, height, scale } = sizeOf(request);
  if (width * height * scale * scale <= pixelsMax) return [];
  const fix = `a picture of ${width * scale} × ${height * scale} pixels has more than 4,000,000: give a smaller size`;
  return [invalidArgument("scale", fix)];
}

/** Draws a widget from the answer to its question. */
export async function widgetPicture(
  { now }: Pick<Deps, "now">,
  request: GetWidgetPictureRequest,
  context: Context,
): Promise<MessageInitShape<typeof GetWidgetPictureResponseSchema>> {
  const widget = await findWidget(request, context);
  const tab = tabIndex(widget, request.tab);
  const range = rangeOf(request, now());
  const asked: Asked = {
    ...(request.startDate && { from: range.from }),
    ...(request.endDate && { to: range.to }),
    intervalInMinutes: request.intervalInMinutes || suitingMinutes(range),
    tab,
  };
  const [answer, { timezone }] = await Promise.all([
    askWidget(widget, asked, context),
    findScope(context.db, callerOf(context).workspaceId, undefined),
  ]);
  const { drawChart, paint, rangeText } = await loadDrawing();
  const subtitle = usesDates(widget) ? rangeText(range.from, range.to, timezone) : "";
  const svg = drawChart({ ...chartOf(widget, answer, tab), subtitle, timezone }, lookOf(request, widget));
  return request.picture.endsWith(".svg")
    ? { image: { contentType: "image/svg+xml", data: Buffer.from(svg) } }
    : { image: { contentType: "image/png", data: await paint(svg) } };
}

let drawing: ReturnType<typeof importDrawing> | undefined;

/** Loads what draws with the first picture. */
function loadDrawing(): ReturnType<typeof importDrawing> {
  drawing ??= importDrawing();
  return drawing;
}

async function importDrawing() {
  const [draw, png, ticks] = await Promise.all([
    import("../../charts/draw.ts"),
    import("../../charts/png.ts"),
    import("../../charts/time-ticks.ts"),
  ]);
  return { ...draw, ...png, ...ticks };
}

async function findWidget(
  { dashboardId, picture }: GetWidgetPictureRequest,
  context: Context,
): Promise<DashboardWidget> {
  const row = await findDashboard(context.db, callerOf(context).workspaceId, dashboardId);
  if (row === undefined) throw noSuchDashboard("dashboardId", dashboardId);
  const widgetId = picture.slice(0, -".svg".length);
  const widget = toConfig(row.config).widgets.find(({ id }) => id === widgetId);
  if (widget === undefined) throw notFound("widget", "picture", widgetId, "on this dashboard");
  return widget;
}

/** The place of the tab that is asked for; undefined for the first one with numbers. */
function tabIndex({ visualization }: DashboardWidget, number: number): number | undefined {
  if (number === 0) return undefined;
  const tab = visualization?.tabs[number - 1];
  if (tab === undefined) throw notFound("tab", "tab", String(number), "of this widget");
  if (tab.mode === WidgetTabMode.ASSISTANT_SUMMARY)
    throw invalid([{ field: "tab", description: "shows a text, which is not drawn: choose another one" }]);
  return number - 1;
}

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

interface Range {
  readonly from: Date;
  readonly to: Date;
}

/** The range of a picture; where nothing is asked for, what the operations take: 30 days up to the present. */
function rangeOf({ startDate, endDate }: GetWidgetPictureRequest, now: Date): Range {
  const to = endDate === undefined ? now : timestampDate(endDate);
  const from = startDate === undefined ? new Date(to.getTime() - 30 * dayMs) : timestampDate(startDate);
  return { from, to };
}

/** Intervals of which a picture shows each: hours of two days, days of three months, or weeks. */
function suitingMinutes({ from, to }: Range): number {
  const days = (to.getTime() - from.getTime()) / dayMs;
  if (days <= 2) return 60;
  return days <= 100 ? 1_440 : 10_080;
}

function chartOf(
  widget: DashboardWidget,
  { rows, names }: WidgetAnswer,
  tab: number | undefined,
): Omit<Chart, "subtitle" | "timezone"> {
  const { title, visualization } = widget;
  const shown = tab === undefined ? undefined : visualization?.tabs[tab];
  const isMap = shown?.view === WidgetTabView.MAP;
  return {
    type: isMap ? "horizontal_bar" : chartTypeOf(visualization),
    title: shown === undefined || shown.label === "" ? title : `${title}: ${shown.label}`,
    rows: rows.map(({ label = "", value, value2, timestamp, category = "" }) => {
      return { label, value, value2, at: timestamp, category };
    }),
    valueName: names.value ?? "",
    value2Name: names.value2 ?? "",
  };
}

function sizeOf({ width, height, scale }: GetWidgetPictureRequest): Pick<Look, "width" | "height" | "scale"> {
  return { width: width || 640, height: height || 360, scale: scale || 1 };
}

function lookOf(request: GetWidgetPictureRequest, { visualization }: DashboardWidget): Look {
  return {
    ...sizeOf(request),
    theme: request.theme === "dark" ? "dark" : "light",
    colors: visualization?.colors ?? [],
  };
}
