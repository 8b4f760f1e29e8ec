import type { JsonObject } from "@bufbuild/protobuf";
import { naiveStarts } from "./local.ts";
import type { World, WorldVisit } from "./world.ts";

/** The fields that questions have, as the API names them. */
export interface Asked {
  readonly linkId?: string;
  readonly tag?: string;
  readonly startDate?: string;
  readonly endDate?: string;
  readonly dimension?: string;
  readonly groupBy?: string;
  readonly limit?: number;
  readonly intervalInMinutes?: number;
  readonly key?: string;
  readonly value?: string;
  readonly intervalStart?: string;
  readonly hour?: number;
}

export type Naive = (world: World, asked: Asked) => JsonObject;

const dayMs = 86_400_000;

export function rangeOf({ startDate, endDate }: Asked): { readonly from: number; readonly to: number } {
  const to = endDate === undefined ? Number.POSITIVE_INFINITY : Date.parse(endDate);
  const from = startDate === undefined ? to - 30 * dayMs : Date.parse(startDate);
  return { from, to };
}

export function everIn(world: World, asked: Asked): WorldVisit[] {
  return recordedIn(world, asked).filter(({ counted }) => counted);
}

/** The visits of a link or a tag, whether they count or not. */
export function recordedIn(world: World, { linkId, tag }: Asked): WorldVisit[] {
  const tagged = world.links.filter(
    ({ tags }) => tag === undefined || tags.some((each) => each === tag.toLowerCase()),
  );
  return world.visits.filter(
    (visit) =>
      (linkId === undefined || visit.linkId === linkId) &&
      (tag === undefined || tagged.some(({ id }) => id === visit.linkId)),
  );
}

export function visitsIn(world: World, asked: Asked): WorldVisit[] {
  const { from, to } = rangeOf(asked);
  return everIn(world, asked).filter(({ at }) => at.getTime() >= from && at.getTime() <= to);
}

export const percent = (part: number, whole: number) =>
  whole === 0 ? 0 : Math.round((part * 10_000) / whole) / 100;
export const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Values and how often they occur, largest first, then by what they are called, the empty value last. */
export function ranked(values: readonly string[], nameOf: (value: string) => string = (value) => value) {
  const counts = Map.groupBy(values, (value) => value);
  return [...counts]
    .map(([value, all]) => ({ value, count: all.length }))
    .sort(
      (a, b) =>
        b.count - a.count ||
        Number(a.value === "") - Number(b.value === "") ||
        byBytes(nameOf(a.value), nameOf(b.value)),
    );
}

const valueBy: Readonly<Record<string, (visit: WorldVisit) => string>> = {
  browser: ({ device }) => device.browser,
  platform: ({ device }) => device.platform,
  device_type: ({ device }) => device.deviceType,
  country: ({ device }) => device.country,
  city: ({ device }) => device.city,
  visit_type: ({ visitType }) => visitType,
};

export function valuesBy(dimension: string, visits: readonly WorldVisit[]): string[] {
  const read = valueBy[dimension];
  if (read === undefined) throw new Error(`there is no dimension ${dimension}`);
  return visits.map(read);
}

const words: Readonly<Record<string, string>> = {
  DE: "Germany",
  AT: "Austria",
  US: "United States",
  NZ: "New Zealand",
  AX: "Åland Islands",
  ZA: "South Africa",
  MOBILE: "Mobile",
  DESKTOP: "Desktop",
  TABLET: "Tablet",
  UNKNOWN: "Unknown",
  NATIVE: "Native",
  FIRST: "First",
  RETURNING: "Returning",
};

export function codeOf(dimension: string, value: string): string {
  if (value === "") return "";
  if (dimension === "device_type") return `DEVICE_TYPE_${value}`;
  return dimension === "visit_type" ? `VISIT_TYPE_${value}` : value;
}

export function nameOf(value: string): string {
  return value === "" ? "Unknown" : Object.hasOwn(words, value) ? (words[value] ?? "") : value;
}

export function startsFor(world: World, asked: Asked, usual?: number): number[] {
  const { from, to } = rangeOf(asked);
  const given = asked.intervalInMinutes ?? usual;
  if (given !== undefined) return naiveStarts(from, to, given, world.timezone);
  const usually = [60, 1_440, 10_080].filter((minutes) => (to - from) / 60_000 / minutes <= 400);
  const all = usually.map((minutes) => naiveStarts(from, to, minutes, world.timezone));
  return all.find(({ length }) => length <= 400) ?? [];
}

export function spread(visits: readonly WorldVisit[], starts: readonly number[]): number[] {
  const counts = starts.map(() => 0);
  for (const { at } of visits) {
    const place = starts.findLastIndex((start) => start <= at.getTime());
    counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts;
}

export const iso = (ms: number | undefined) => new Date(ms ?? 0).toISOString().replace(".000Z", "Z");

export const person = ({ visitor, device }: WorldVisit) => visitor?.id ?? device.id;
