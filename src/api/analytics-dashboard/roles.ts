import type { WidgetVisualization } from "../../../gen/signpost/v1/analytics_dashboard_pb.js";
import { type Fault, invalidArgument } from "../../lib/errors.ts";
import { type RowField, type RowShape, rowFieldNamed, rowFields, type ValueKind } from "./row-shape.ts";

/** The parts that a value can have in a chart. */
export const chartRoles = ["label", "value", "value2", "timestamp", "category"] as const;

export type ChartRole = (typeof chartRoles)[number];

/** A value of the rows in its role. */
export interface RoleField extends RowField {
  /** What people call the value. */
  readonly label: string;
}

/** Which values of the rows have which role. */
export type Roles = Readonly<Partial<Record<ChartRole, RoleField>>>;

/** What a role takes: numbers are drawn by their size, times by their place in time. */
const kindsOfRoles: Readonly<Record<ChartRole, readonly ValueKind[]>> = {
  label: ["text", "number", "time"],
  value: ["number"],
  value2: ["number"],
  timestamp: ["time"],
  category: ["text", "number"],
};

const kindNames: Readonly<Record<ValueKind, string>> = { text: "a text", number: "a number", time: "a time" };

type ChartType =
  | "bar"
  | "horizontal_bar"
  | "line"
  | "area"
  | "stacked_area"
  | "pie"
  | "number"
  | "list"
  | "funnel";

/** The roles without which a chart shows nothing; of each group it needs one. */
const neededRoles: Readonly<Record<ChartType, readonly (readonly ChartRole[])[]>> = {
  bar: [["label", "timestamp"], ["value"]],
  horizontal_bar: [["label", "timestamp"], ["value"]],
  line: [["timestamp", "label"], ["value"]],
  area: [["timestamp", "label"], ["value"]],
  stacked_area: [["timestamp", "label"], ["value"]],
  pie: [["label", "category"], ["value"]],
  number: [["value"]],
  list: [["label"]],
  funnel: [["label"], ["value"]],
};

/** The chart type of a widget; bars where it gives none. */
export function chartTypeOf(visualization: WidgetVisualization | undefined): ChartType {
  const given = visualization?.chartType ?? "";
  return isChartType(given) ? given : "bar";
}

function isChartType(name: string): name is ChartType {
  return Object.hasOwn(neededRoles, name);
}

/** The role that a mapping gives; the rules of the field refuse other names. */
function roleNamed(name: string): ChartRole {
  return chartRoles.find((role) => role === name) ?? "label";
}

/**
 * The roles of the rows' values, as the widget gives them; or, if it gives none, as the kinds of the values suggest.
 */
export function rolesOf(shape: RowShape, visualization: WidgetVisualization | undefined): Roles {
  const mappings = visualization?.fieldMappings ?? [];
  if (mappings.length === 0) return suggestedRoles(shape);
  const roles: Partial<Record<ChartRole, RoleField>> = {};
  for (const { sourceField, chartRole, displayLabel } of mappings) {
    const found = rowFieldNamed(shape, sourceField);
    const role = roleNamed(chartRole);
    if (found !== undefined) roles[role] ??= { ...found, label: displayLabel || sourceField };
  }
  return roles;
}

function suggestedRoles(shape: RowShape): Roles {
  const fields = rowFields(shape);
  const own = fields.filter(({ level }) => level === 0);
  const numbers = own.filter(({ kind }) => kind === "number");
  const text = own.find(({ kind }) => kind === "text");
  const timestamp = own.find(({ kind }) => kind === "time");
  // Of several rows of numbers only, such as hours and their visits, each is called by its first number.
  const isNumbered =
    shape.steps.at(-1)?.fieldKind === "list" && timestamp === undefined && numbers.length > 1;
  const label = text ?? (isNumbered ? numbers[0] : undefined);
  const [value, next] = numbers.filter((field) => field !== label);
  // A second value is drawn on the scale of the first: a percentage beside a count is none.
  const value2 = next?.field.scalar === value?.field.scalar ? next : undefined;
  const category = fields.find(({ kind, level }) => kind === "text" && level > 0);
  const given = Object.entries({ label, value, value2, timestamp, category });
  return Object.fromEntries(
    given.flatMap(([role, found]) => (found ? [[role, { ...found, label: found.field.jsonName }]] : [])),
  );
}

/** What is wrong with the roles of a widget. */
export function roleFaults(
  shape: RowShape,
  visualization: WidgetVisualization | undefined,
  place: string,
): Fault[] {
  const mappings = visualization?.fieldMappings ?? [];
  const faults = mappings.flatMap(({ sourceField, chartRole }, index): Fault[] => {
    const at = `${place}.fieldMappings[${index}]`;
    const role = roleNamed(chartRole);
    const found = rowFieldNamed(shape, sourceField);
    if (found === undefined) {
      const names = rowFields(shape).map(({ field }) => field.jsonName);
      return [
        invalidArgument(`${at}.sourceField`, `is no value of the rows: use one of ${names.join(", ")}`),
      ];
    }
    const kinds = kindsOfRoles[role];
    if (!kinds.includes(found.kind)) {
      const wanted = kinds.map((kind) => kindNames[kind]).join(" or ");
      return [
        invalidArgument(`${at}.chartRole`, `needs ${wanted}, and this value is ${kindNames[found.kind]}`),
      ];
    }
    const isTwice = mappings.slice(0, index).some((other) => roleNamed(other.chartRole) === role);
    return isTwice
      ? [invalidArgument(`${at}.chartRole`, "must not be given twice: choose another role")]
      : [];
  });
  if (faults.length > 0) return faults;
  const [roles, chartType] = [rolesOf(shape, visualization), chartTypeOf(visualization)];
  const missing = neededRoles[chartType].find((group) => !group.some((role) => roles[role] !== undefined));
  if (missing === undefined) return [];
  const advice = `a ${chartType} chart needs a value with the role ${missing.join(" or ")}`;
  return [invalidArgument(`${place}.fieldMappings`, advice)];
}
