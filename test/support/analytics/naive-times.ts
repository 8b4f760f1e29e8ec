import { aheadMs } from "./local.ts";
import {
  codeOf,
  everIn,
  iso,
  type Naive,
  person,
  rangeOf,
  ranked,
  spread,
  startsFor,
  valuesBy,
  visitsIn,
} from "./naive-visits.ts";
import type { WorldVisit } from "./world.ts";

export const hours: Naive = (world, asked) => {
  const visits = visitsIn(world, asked);
  const counts = Array.from({ length: 24 }, () => 0);
  for (const { at } of visits) {
    const hour = new Date(at.getTime() + aheadMs(at.getTime(), world.timezone)).getUTCHours();
    counts[hour] = (counts[hour] ?? 0) + 1;
  }
  return { totalEvents: visits.length, data: counts.map((eventCount, hour) => ({ hour, eventCount })) };
};

export const visitors: Naive = (world, asked) => {
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

export const series: Naive = (world, asked) => {
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

export const timeSeries: Naive = (world, asked) => {
  const visits = visitsIn(world, asked);
  const starts = startsFor(world, asked, 60);
  const data = spread(visits, starts).map((eventCount, index) => ({
    timestamp: iso(starts[index]),
    eventCount,
  }));
  return { timeSeries: { data, totalData: visits.length, totalIntervals: starts.length } };
};
