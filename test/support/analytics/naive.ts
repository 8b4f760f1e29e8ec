import type { JsonObject } from "@bufbuild/protobuf";
import { stepActions } from "../../../src/model/steps/kinds.ts";
import { aheadMs, naiveStarts } from "./local.ts";
import { explainCount } from "./naive-explain.ts";
import { planValues, type World, type WorldVisit, type WorldVisitor } from "./world.ts";

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

function visitsIn(world: World, asked: Asked): WorldVisit[] {
  const { from, to } = rangeOf(asked);
  return everIn(world, asked).filter(({ at }) => at.getTime() >= from && at.getTime() <= to);
}

const percent = (part: number, whole: number) =>
  whole === 0 ? 0 : Math.round((part * 10_000) / whole) / 100;
export const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Values and how often they occur, largest first, then by what they are called, the empty value last. */
function ranked(values: readonly string[], nameOf: (value: string) => string = (value) => value) {
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

function nameOf(value: string): string {
  return value === "" ? "Unknown" : (words[value] ?? value);
}

export function startsFor(world: World, asked: Asked, usual?: number): number[] {
  const { from, to } = rangeOf(asked);
  const given = asked.intervalInMinutes ?? usual;
  if (given !== undefined) return naiveStarts(from, to, given, world.timezone);
  const usually = [60, 1_440, 10_080].filter((minutes) => (to - from) / 60_000 / minutes <= 400);
  const all = usually.map((minutes) => naiveStarts(from, to, minutes, world.timezone));
  return all.find(({ length }) => length <= 400) ?? [];
}

function spread(visits: readonly WorldVisit[], starts: readonly number[]): number[] {
  const counts = starts.map(() => 0);
  for (const { at } of visits) {
    const place = starts.findLastIndex((start) => start <= at.getTime());
    counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts;
}

export const iso = (ms: number | undefined) => new Date(ms ?? 0).toISOString().replace(".000Z", "Z");

export const person = ({ visitor, device }: WorldVisit) => visitor?.id ?? device.id;

const breakdown: Naive = (world, asked) => {
  const { dimension = "", limit = 10 } = asked;
  const visits = visitsIn(world, asked);
  const data = ranked(valuesBy(dimension, visits), nameOf).slice(0, limit);
  return {
    total: visits.length,
    data: data.map(({ value, count }) => {
      const [label, code] = [nameOf(value), codeOf(dimension, value)];
      return {
        label,
        code: code === label ? "" : code,
        eventCount: count,
        percentage: percent(count, visits.length),
      };
    }),
  };
};

const geo: Naive = (world, asked) => {
  const { groupBy = "country", limit = 10 } = asked;
  const visits = visitsIn(world, asked);
  const data = ranked(valuesBy(groupBy, visits)).slice(0, limit);
  return {
    totalEvents: visits.length,
    data: data.map(({ value, count }) => ({
      location: value,
      eventCount: count,
      percentage: percent(count, visits.length),
    })),
  };
};

const devices: Naive = (world, asked) => {
  const visits = visitsIn(world, asked);
  return {
    totalEvents: visits.length,
    data: ranked(valuesBy("device_type", visits)).map(({ value, count }) => {
      return {
        deviceType: `DEVICE_TYPE_${value}`,
        eventCount: count,
        percentage: percent(count, visits.length),
      };
    }),
  };
};

const hours: Naive = (world, asked) => {
  const visits = visitsIn(world, asked);
  const counts = Array.from({ length: 24 }, () => 0);
  for (const { at } of visits) {
    const hour = new Date(at.getTime() + aheadMs(at.getTime(), world.timezone)).getUTCHours();
    counts[hour] = (counts[hour] ?? 0) + 1;
  }
  return { totalEvents: visits.length, data: counts.map((eventCount, hour) => ({ hour, eventCount })) };
};

const topLinks: Naive = (world, asked) => {
  const visits = visitsIn(world, asked);
  const data = world.links
    .filter(({ isDeleted }) => !isDeleted)
    .map(({ id, name, shortlink }) => ({
      name,
      shortlink,
      eventCount: visits.filter(({ linkId }) => linkId === id).length,
    }))
    .filter(({ eventCount }) => eventCount > 0)
    .sort((a, b) => b.eventCount - a.eventCount || byBytes(a.name, b.name));
  return { totalEvents: visits.length, data: data.slice(0, asked.limit ?? 10) };
};

const visitors: Naive = (world, asked) => {
  const { from } = rangeOf(asked);
  const firsts = new Map<string, number>();
  for (const visit of everIn(world, asked)) {
    const known = firsts.get(person(visit)) ?? Number.POSITIVE_INFINITY;
    firsts.set(person(visit), Math.min(known, visit.at.getTime()));
  }
  const visits = visitsIn(world, asked);
  const starts = startsFor(world, asked);
  const people = (some: readonly WorldVisit[]) => [...new Set(some.map(person))];
  const data = starts.map((start, index) => {
    const end = starts[index + 1] ?? Number.POSITIVE_INFINITY;
    const here = people(visits.filter(({ at }) => at.getTime() >= start && at.getTime() < end));
    const fresh = here.filter((each) => (firsts.get(each) ?? 0) >= Math.max(start, from));
    const returning = here.length - fresh.length;
    return { timestamp: iso(start), newVisitorCount: fresh.length, returningVisitorCount: returning };
  });
  const all = people(visits);
  const totalNew = all.filter((each) => (firsts.get(each) ?? 0) >= from).length;
  return { data, totalNew, totalReturning: all.length - totalNew };
};

const series: Naive = (world, asked) => {
  const dimension = (asked.groupBy ?? "").replace("GROUP_BY_DIMENSION_", "").toLowerCase();
  const visits = visitsIn(world, asked);
  const starts = startsFor(world, asked);
  const groups = ranked(valuesBy(dimension, visits)).slice(0, asked.limit ?? 5);
  return {
    totalEvents: visits.length,
    series: groups.map(({ value }) => {
      const counts = spread(
        visits.filter((visit) => valuesBy(dimension, [visit])[0] === value),
        starts,
      );
      return {
        label: codeOf(dimension, value),
        points: counts.map((count, index) => ({ timestamp: iso(starts[index]), value: count })),
      };
    }),
  };
};

const timeSeries: Naive = (world, asked) => {
  const visits = visitsIn(world, asked);
  const starts = startsFor(world, asked, 60);
  const data = spread(visits, starts).map((eventCount, index) => ({
    timestamp: iso(starts[index]),
    eventCount,
  }));
  return { timeSeries: { data, totalData: visits.length, totalIntervals: starts.length } };
};

const funnel: Naive = (world, asked) => {
  const visits = visitsIn(world, asked).map((visit) => {
    return { ...visit, steps: visit.steps.filter(({ isFallback }) => !isFallback) };
  });
  const reach = (action: string) =>
    visits.filter(({ steps }) => steps.some((step) => step.action === action));
  const ranks: Readonly<Record<string, number>> = { ENTRY: 0, EXIT: 2 };
  const placeOf = (action: string) => {
    const places = reach(action).map(({ steps }) => steps.findIndex((step) => step.action === action));
    return places.reduce((sum, place) => sum + place, 0) / places.length;
  };
  const actions = [...new Set(visits.flatMap(({ steps }) => steps.map(({ action }) => action)))];
  const rankOf = (action: (typeof actions)[number]) => ranks[stepActions[action].kind] ?? 1;
  actions.sort((a, b) => rankOf(a) - rankOf(b) || placeOf(a) - placeOf(b) || byBytes(a, b));
  const steps = actions.map((action, index) => {
    const here = reach(action);
    const previous = index === 0 ? [] : reach(actions[index - 1] ?? "");
    const own = (visit: WorldVisit) => visit.steps.filter((step) => step.action === action);
    const done = here.filter((visit) => own(visit).some(({ isDone }) => isDone));
    const labels = [...new Set(here.flatMap((visit) => own(visit).flatMap(({ offered }) => offered)))];
    const branches = labels
      .map((label) => ({
        label,
        count: here.filter((visit) => own(visit).some(({ chosen }) => chosen === label)).length,
      }))
      .sort((a, b) => b.count - a.count || byBytes(a.label, b.label));
    return {
      stepAction: `EVENT_ACTION_${action}`,
      stepKind: `KIND_${stepActions[action].kind}`,
      visits: String(here.length),
      occurrences: String(here.reduce((sum, visit) => sum + own(visit).length, 0)),
      identifiedVisitors: String(here.filter(({ visitor }) => visitor?.email !== undefined).length),
      conversionRate: percent(here.length, visits.length),
      dropOffFromPrevious: String(previous.filter((visit) => !here.includes(visit)).length),
      interactions: String(done.length),
      interactionRate: percent(done.length, here.length),
      branches: branches.map(({ label, count }) => {
        return { label, visits: String(count), shareOfStep: percent(count, here.length) };
      }),
    };
  });
  const completed = visits.filter(({ outcome }) => outcome === "COMPLETED").length;
  return { entryVisits: String(visits.length), completionRate: percent(completed, visits.length), steps };
};

function audienceOf(world: World, asked: Asked): WorldVisitor[] {
  const found = visitsIn(world, asked).flatMap(({ visitor }) => (visitor === undefined ? [] : [visitor]));
  return [...new Set(found)];
}

function attributeOf(visitor: WorldVisitor, key: string | undefined): string | undefined {
  return key === "$email" ? visitor.email : key === "plan" ? visitor.plan : undefined;
}

function givenIn(world: World, asked: Asked): string[] {
  return audienceOf(world, asked).flatMap((visitor) => attributeOf(visitor, asked.key) ?? []);
}

const attributeMetric: Naive = (world, asked) => {
  const audience = audienceOf(world, asked);
  const given = givenIn(world, asked);
  const numbers = given.flatMap((value) => planValues.get(value) ?? []);
  const sum = numbers.reduce((all, each) => all + each, 0);
  return {
    audienceCount: audience.length,
    totalCount: given.length,
    usableCount: numbers.length,
    coverageRate: audience.length === 0 ? 0 : given.length / audience.length,
    averageValue: numbers.length === 0 ? 0 : sum / numbers.length,
    ...(numbers.length > 0 && { minValue: Math.min(...numbers), maxValue: Math.max(...numbers) }),
  };
};

const attributeDistribution: Naive = (world, asked) => {
  const given = givenIn(world, asked);
  const counts = Map.groupBy(given, (value) => value);
  const data = [...counts]
    .map(([label, all]) => ({
      label,
      visitorCount: all.length,
      percentage: percent(all.length, given.length),
    }))
    .sort((a, b) => b.visitorCount - a.visitorCount || byBytes(a.label, b.label));
  return { total: given.length, data: data.slice(0, asked.limit ?? 10) };
};

const attributeValues: Naive = (world, asked) => {
  const found = audienceOf(world, asked).flatMap((visitor) => {
    const value = attributeOf(visitor, asked.key);
    return value === undefined ? [] : [{ value, at: visitor.at, id: visitor.id }];
  });
  found.sort((a, b) => b.at.getTime() - a.at.getTime() || byBytes(b.id, a.id));
  const data = found
    .slice(0, asked.limit ?? 50)
    .map(({ value, at }) => ({ value, recordedAt: iso(at.getTime()) }));
  return { total: found.length, data };
};

const eventsMetric: Naive = (world, asked) => {
  const from = asked.startDate === undefined ? Number.NEGATIVE_INFINITY : Date.parse(asked.startDate);
  const to = asked.endDate === undefined ? Number.POSITIVE_INFINITY : Date.parse(asked.endDate);
  const visits = everIn(world, asked)
    .filter(({ at }) => at.getTime() >= from && at.getTime() <= to)
    .sort((a, b) => byBytes(a.id, b.id));
  const scores = visits.flatMap(({ score }) => score ?? []);
  const leading = (dimension: string) => {
    const known = valuesBy(dimension, visits).filter((value) => value !== "");
    const counts = Map.groupBy(known, (value) => value);
    const values = [...counts.keys()];
    const count = (value: string) => counts.get(value)?.length ?? 0;
    // The visits are in the order of time, so that the last occurrence is the most recent one.
    values.sort((a, b) => count(b) - count(a) || known.lastIndexOf(b) - known.lastIndexOf(a));
    return { top: values[0] ?? "", values: values.length };
  };
  const [country, city, device] = [leading("country"), leading("city"), leading("device_type")];
  const [first, last] = [visits[0], visits.at(-1)];
  return {
    totalEvents: visits.length,
    ...(first && { firstAt: iso(first.at.getTime()) }),
    ...(last && { lastAt: iso(last.at.getTime()) }),
    ...(scores.length > 0 && {
      averageLeadScore: scores.reduce((sum, score) => sum + score, 0) / scores.length,
    }),
    topCountry: country.top,
    topCity: city.top,
    topDeviceType: `DEVICE_TYPE_${device.top === "" ? "UNSPECIFIED" : device.top}`,
    totalCountries: country.values,
    totalCities: city.values,
    totalDeviceTypes: device.values,
  };
};

/** What each operation must answer, computed visit by visit. */
export const naive = {
  GetBreakdown: breakdown,
  GetGeoBreakdown: geo,
  GetDeviceDistribution: devices,
  GetHourOfDayDistribution: hours,
  GetTopLinks: topLinks,
  GetVisitorTrends: visitors,
  GetGroupedTimeSeries: series,
  GetEventsTimeSeries: timeSeries,
  GetStepFunnel: funnel,
  GetAttributeMetric: attributeMetric,
  GetAttributeDistribution: attributeDistribution,
  GetAttributeValues: attributeValues,
  GetEventsMetric: eventsMetric,
  ExplainCount: explainCount,
} as const satisfies Record<string, Naive>;
