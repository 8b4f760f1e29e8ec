import { type JsonFields, textOf } from "../json-fields.ts";

export interface TitledPayload {
  readonly title: string;
  readonly description: string;
}

export function titledOf({ title, description }: JsonFields): TitledPayload {
  return { title: textOf(title), description: textOf(description) };
}

/** Whether a link has an address. One without is not shown. */
export function hasUrl({ url }: JsonFields): boolean {
  return textOf(url) !== "";
}

/** The address of a link and its platform, in lower case. */
export function placeElsewhere({ platform, url }: JsonFields) {
  return { platform: textOf(platform).toLowerCase() || "website", url: textOf(url) };
}

/** Sorts by `order`, ascending. A missing one is the position in the array, and equal ones keep their places. */
export function inOrder<Item extends { readonly order?: unknown }>(items: readonly Item[]): Item[] {
  return items
    .map((item, position) => ({ item, order: typeof item.order === "number" ? item.order : position }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

/**
 * The items in the order they are shown, each with its `order`. Where it is missing, it is the position in the array.
 */
export function ordered(items: readonly JsonFields[]): (JsonFields & { readonly order: number })[] {
  return inOrder(items.map((item, position) => ({ ...item, order: integerOf(item.order) ?? position })));
}

/** The name of an enum's value without the enum's prefix. */
export function bare(value: unknown, prefix: string): string {
  const name = textOf(value);
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

export function oneOf<Name extends string>(name: string, names: readonly Name[]): Name | undefined {
  return names.find((each) => each === name);
}

export function integerOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) ? value : undefined;
}

/** The numbers of a list, empty for a missing list. Undefined when the value is no list of integers. */
export function integersOf(value: unknown = []): number[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const numbers = value.map(integerOf).filter((number) => number !== undefined);
  return numbers.length === value.length ? numbers : undefined;
}
