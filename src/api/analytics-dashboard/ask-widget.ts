import type { DescEnum, JsonObject, Message } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type DashboardWidget, WidgetTabMode } from "../../../gen/signpost/v1/analytics_dashboard_pb.js";
import type { Context } from "../../rpc/handlers.ts";
import { dataSources } from "./data-sources.ts";
import { type ChartRole, type RoleField, type Roles, rolesOf } from "./roles.ts";
import { type RowShape, rowShapeOf } from "./row-shape.ts";

/** The dates that the reader of a widget chooses. */
export interface Asked {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** The length of intervals. The data source chooses one when it is absent. */
  readonly intervalInMinutes?: number | undefined;
  /** Which of the widget's tabs is shown; the first with numbers when absent. */
  readonly tab?: number | undefined;
}

/** A row of a widget's numbers: its values by their roles in the chart. A value that is unset has no role. */
export interface WidgetRow {
  readonly label?: string;
  readonly value?: number;
  readonly value2?: number;
  readonly timestamp?: Date;
  readonly category?: string;
}

export interface WidgetAnswer {
  readonly rows: readonly WidgetRow[];
  /** What people call the values. */
  readonly names: Readonly<Partial<Record<ChartRole, string>>>;
}

/**
 * Asks the question of a widget in the name of the caller. Throws what the operation refuses. A widget without a data source,
 * or with one that is no longer served, has no rows.
 */
export async function askWidget(
  { dataSource, visualization }: DashboardWidget,
  asked: Asked,
  context: Context,
): Promise<WidgetAnswer> {
  const source = dataSources.get(dataSource?.endpoint ?? "");
  const shape = source && rowShapeOf(source, dataSource?.responseDataPath ?? "");
  if (dataSource === undefined || source === undefined || typeof shape !== "object")
    return { rows: [], names: {} };
  const tabs = visualization?.tabs ?? [];
  const tab =
    asked.tab === undefined
      ? tabs.find(({ mode }) => mode !== WidgetTabMode.ASSISTANT_SUMMARY)
      : tabs[asked.tab];
  const params: JsonObject = {
    ...dataSource.params,
    ...tab?.params,
    ...(dataSource.usesDateRange && datesOf(asked)),
    ...(dataSource.usesInterval && asked.intervalInMinutes !== undefined && intervalOf(asked)),
  };
  const roles = rolesOf(shape, visualization);
  const answer = await context.ask(source.method, params);
  const names = Object.entries(roles).map(([role, { label }]) => [role, label]);
  return { rows: rowsOf(answer, shape, roles), names: Object.fromEntries(names) };
}

/** Whether the dates that the reader chooses change what a widget shows. */
export function usesDates({ dataSource }: DashboardWidget): boolean {
  return dataSource?.usesDateRange === true;
}

function datesOf({ from, to }: Asked): JsonObject {
  return {
    ...(from && { startDate: from.toISOString() }),
    ...(to && { endDate: to.toISOString() }),
  };
}

function intervalOf({ intervalInMinutes }: Asked): JsonObject {
  return { intervalInMinutes: intervalInMinutes ?? 0 };
}

/** An element of the answer, and the elements that hold it, from the inside to the answer. */
type Held = readonly Message[];

function rowsOf(answer: Message, { steps }: RowShape, roles: Roles): WidgetRow[] {
  const fields = Object.entries(roles);
  let found: readonly Held[] = [[answer]];
  for (const { localName } of steps) {
    found = found.flatMap((held): Held[] => {
      const value = fieldIn(held[0], localName);
      const elements = Array.isArray(value) ? value : value === undefined ? [] : [value];
      return elements.map((element: Message) => [element, ...held]);
    });
  }
  return found.map((held) => Object.fromEntries(fields.flatMap(([role, field]) => read(held, role, field))));
}

function fieldIn(message: Message | undefined, localName: string): unknown {
  // Messages are objects of their fields, and the field was taken from the message's descriptor.
  return (message as unknown as Readonly<Record<string, unknown>> | undefined)?.[localName];
}

/** A value in its role. None for a value that is unset, or that is no finite number where one is drawn. */
function read(held: Held, role: string, { field, kind, level }: RoleField): [string, unknown][] {
  const value = fieldIn(held[level], field.localName);
  if (value === undefined) return [];
  if (role === "timestamp") return [[role, timestampDate(value as Timestamp)]];
  if (role === "value" || role === "value2") {
    const number = Number(value);
    return Number.isFinite(number) ? [[role, number]] : [];
  }
  const text = textOf(value, { field, kind });
  return [[role, text === "" && role === "label" ? "Unknown" : text]];
}

function textOf(value: unknown, { field, kind }: Pick<RoleField, "field" | "kind">): string {
  if (kind === "time") return timestampDate(value as Timestamp).toISOString();
  return field.enum === undefined ? String(value) : nameOf(field.enum, Number(value));
}

/** What people call a value of an enum: `Link visit` for EVENT_ACTION_LINK_VISIT. */
function nameOf({ value, sharedPrefix = "" }: DescEnum, number: number): string {
  if (number === 0) return "Unknown";
  const words =
    value[number]?.name.slice(sharedPrefix.length).toLowerCase().replaceAll("_", " ") ?? "Unknown";
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
