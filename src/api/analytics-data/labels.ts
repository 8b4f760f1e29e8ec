import { GroupByDimension } from "../../../gen/signpost/v1/analytics_data_service_pb.js";
import { DeviceType } from "../../../gen/signpost/v1/device_pb.js";
import { VisitType } from "../../../gen/signpost/v1/visit_pb.js";
import type { Dimension, Group } from "../../analytics/question.ts";

const byName: ReadonlyMap<string, Dimension> = new Map([
  ["browser", "browser"],
  ["platform", "platform"],
  ["device_type", "deviceType"],
  ["country", "country"],
  ["city", "city"],
  ["visit_type", "visitType"],
]);

/** The dimension of a breakdown. */
export function dimensionNamed(name: string): Dimension {
  const dimension = byName.get(name);
  if (dimension === undefined) throw new Error(`the rules let the dimension ${name} through`);
  return dimension;
}

/** The dimension of a series. */
export function dimensionOf(dimension: GroupByDimension): Dimension {
  return dimensionNamed(GroupByDimension[dimension].toLowerCase());
}

/** What people call a value of a dimension, and what programs call it; programs have no other word for most. */
export interface Label {
  readonly label: string;
  readonly code: string;
}

/** A dimension whose values are few, so that all of them can be read and sorted by their labels. */
export const isSmall: Readonly<Record<Dimension, boolean>> = {
  browser: false,
  platform: false,
  deviceType: true,
  country: true,
  city: false,
  visitType: true,
};

/** More than there are countries. */
export const smallMax = 1_000;

const countries = new Intl.DisplayNames("en", { type: "region" });

export function labelOf(dimension: Dimension, value: string): Label {
  if (value === "") return { label: "Unknown", code: "" };
  const code = codeOf(dimension, value);
  if (dimension === "country") return { label: nameOfCountry(value), code };
  return code === value ? { label: value, code: "" } : { label: capitalized(value), code };
}

/** A value as the API names it: enum values in full. */
export function codeOf(dimension: Dimension, value: string): string {
  if (value === "") return "";
  if (dimension === "deviceType") return `DEVICE_TYPE_${value}`;
  return dimension === "visitType" ? `VISIT_TYPE_${value}` : value;
}

/** The stored value that the API names so. */
export function storedValue(dimension: Dimension, code: string): string {
  if (dimension === "deviceType") return code.replace("DEVICE_TYPE_", "") || "UNKNOWN";
  return dimension === "visitType" ? code.replace("VISIT_TYPE_", "") : code;
}

/**
 * What is wrong with a value that a caller gives for a dimension. An empty value stands for an unknown one. A name that
 * is no dimension is refused by the rules.
 */
export function valueFault(name: string, code: string): string | undefined {
  const dimension = byName.get(name);
  if (dimension === undefined || code === "") return undefined;
  if (dimension === "country")
    return /^[A-Z]{2}$/.test(code)
      ? undefined
      : "must be a country's code of two capital letters, such as DE";
  const names = valueNames[dimension];
  return names === undefined || names.includes(code) ? undefined : `must be one of ${names.join(", ")}`;
}

const named = (numbers: object) =>
  Object.keys(numbers).filter((name) => /^[A-Z]/.test(name) && name !== "UNSPECIFIED");

/** The API's names of values, of dimensions that have a fixed set. */
const valueNames: Readonly<Partial<Record<Dimension, readonly string[]>>> = {
  deviceType: named(DeviceType).map((value) => codeOf("deviceType", value)),
  visitType: named(VisitType).map((value) => codeOf("visitType", value)),
};

function nameOfCountry(code: string): string {
  // Only two letters are sure to have the form that the formatter takes.
  return /^[A-Z]{2}$/.test(code) ? (countries.of(code) ?? code) : code;
}

function capitalized(name: string): string {
  return name.slice(0, 1) + name.slice(1).toLowerCase();
}

/** Labels and counts, most visits first, then by label; an unknown value comes last among its equals. */
export function labelled(dimension: Dimension, groups: readonly Group[]): (Label & Group)[] {
  const found = groups.map((group) => ({ ...labelOf(dimension, group.value), ...group }));
  if (!isSmall[dimension]) return found;
  return found.sort(
    (a, b) =>
      b.count - a.count || Number(a.value === "") - Number(b.value === "") || (a.label < b.label ? -1 : 1),
  );
}
