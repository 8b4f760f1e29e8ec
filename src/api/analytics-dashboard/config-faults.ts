import { type Message, toJson } from "@bufbuild/protobuf";
import {
  type DashboardConfig,
  DashboardConfigSchema,
  type DashboardWidget,
  WidgetTabMode,
  WidgetTabView,
} from "../../../gen/signpost/v1/analytics_dashboard_pb.js";
import { GroupByDimension } from "../../../gen/signpost/v1/analytics_data_service_pb.js";
import { type Fault, type FieldViolation, fail, invalidArgument } from "../../lib/errors.ts";
import type { ReadRequest } from "../../rpc/handlers.ts";
import { type DataSource, dataSources } from "./data-sources.ts";
import { gridFaults, idFaults } from "./grid.ts";
import { roleFaults } from "./roles.ts";
import { rowShapeOf } from "./row-shape.ts";

/** How many widgets a dashboard has at most. */
const widgetsMax = 50;

/** How large a configuration is at most, as JSON. */
const configBytesMax = 256 * 1024;

/** Throws LIMIT_REACHED for a configuration with too many widgets. */
export function checkWidgetCount({ widgets }: DashboardConfig): void {
  if (widgets.length <= widgetsMax) return;
  const message = `a dashboard has at most ${widgetsMax} widgets, and this one would have ${widgets.length}: leave some out`;
  throw fail("RESOURCE_EXHAUSTED", "LIMIT_REACHED", message);
}

/**
 * What is wrong with a configuration: with its grid, or with the questions that its widgets ask. Every widget that passes gets
 * an answer of rows that its chart can show.
 */
export function configFaults(
  config: DashboardConfig | undefined,
  readRequest: ReadRequest,
): readonly Fault[] {
  if (config === undefined || config.widgets.length > widgetsMax) return [];
  const bytes = Buffer.byteLength(JSON.stringify(toJson(DashboardConfigSchema, config)));
  if (bytes > configBytesMax) {
    const advice = `has ${bytes} bytes as JSON, and may have ${configBytesMax}: use fewer widgets or shorter texts`;
    return [invalidArgument("config", advice)];
  }
  const ofWidgets = config.widgets.flatMap((widget, index) =>
    widgetFaults(widget, `config.widgets[${index}]`, readRequest),
  );
  return [...gridFaults(config, "config"), ...idFaults(config, "config"), ...ofWidgets];
}

/** A widget without an endpoint is empty: it shows nothing yet. */
function widgetFaults(widget: DashboardWidget, place: string, readRequest: ReadRequest): Fault[] {
  const { dataSource, visualization } = widget;
  if (dataSource === undefined || dataSource.endpoint === "") return [];
  const at = `${place}.dataSource`;
  const source = dataSources.get(dataSource.endpoint);
  if (source === undefined)
    return [invalidArgument(`${at}.endpoint`, `must be one of: ${[...dataSources.keys()].join(", ")}`)];
  const method = dataSource.method || "GET";
  if (method !== source.httpMethod)
    return [invalidArgument(`${at}.method`, `must be ${source.httpMethod} for this endpoint`)];
  const shape = rowShapeOf(source, dataSource.responseDataPath);
  const faults = [...flagFaults(widget, source, at), ...paramsFaults(widget, source, place, readRequest)];
  if (typeof shape === "string") return [...faults, invalidArgument(`${at}.responseDataPath`, shape)];
  return [...faults, ...roleFaults(shape, visualization, `${place}.visualization`)];
}

function flagFaults({ dataSource }: DashboardWidget, source: DataSource, at: string): Fault[] {
  const faults: Fault[] = [];
  if (dataSource?.usesDateRange === true && !source.takesDateRange)
    faults.push(invalidArgument(`${at}.usesDateRange`, "must be false: this endpoint takes no dates"));
  if (dataSource?.usesInterval === true && !source.takesInterval)
    faults.push(invalidArgument(`${at}.usesInterval`, "must be false: this endpoint takes no interval"));
  return faults;
}

/** Judges the parameters of every view: those of the data source, with those that the view's tab adds. */
function paramsFaults(
  { dataSource, visualization }: DashboardWidget,
  source: DataSource,
  place: string,
  readRequest: ReadRequest,
): Fault[] {
  const base = dataSource?.params ?? {};
  const ofBase = `${place}.dataSource.params`;
  const tabs = visualization?.tabs ?? [];
  if (tabs.length === 0) return readRequest(source.method, base).faults.map((fault) => placed(ofBase, fault));
  const faults = tabs.flatMap((tab, index) => {
    const at = `${place}.visualization.tabs[${index}]`;
    const own = tab.params ?? {};
    const { request, faults } = readRequest(source.method, { ...base, ...own });
    const needsCountries = tab.view === WidgetTabView.MAP && tab.mode !== WidgetTabMode.ASSISTANT_SUMMARY;
    if (faults.length === 0 && needsCountries && !isByCountry(request))
      return [invalidArgument(`${at}.view`, "must be CHART: a map needs data by country")];
    const isOwn = ({ field }: FieldViolation) => Object.keys(own).some((key) => isWithin(field, key));
    return faults.map((fault) => placed(isOwn(fault) ? `${at}.params` : ofBase, fault));
  });
  // A fault of the data source is one of every tab.
  return [...new Map(faults.map((fault) => [fault.field, fault])).values()];
}

function placed(place: string, { field, description }: FieldViolation): Fault {
  return invalidArgument(field.startsWith("[") ? `${place}${field}` : `${place}.${field}`, description);
}

/** Whether a field of a request is the one under this key, or a part of it. */
function isWithin(field: string, key: string): boolean {
  if (field.startsWith("[")) return field === `[${JSON.stringify(key)}]`;
  return field === key || field.startsWith(`${key}.`) || field.startsWith(`${key}[`);
}

/** Whether a question groups visits by country. */
function isByCountry(
  request: Message & { readonly dimension?: unknown; readonly groupBy?: unknown },
): boolean {
  const { dimension, groupBy } = request;
  return (
    dimension === "country" || groupBy === "country" || groupBy === "" || groupBy === GroupByDimension.COUNTRY
  );
}
