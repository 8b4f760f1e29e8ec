import { byBytes, codeOf, type Naive, nameOf, percent, ranked, valuesBy, visitsIn } from "./naive-visits.ts";

export const breakdown: Naive = (world, asked) => {
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

export const geo: Naive = (world, asked) => {
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

export const devices: Naive = (world, asked) => {
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

export const topLinks: Naive = (world, asked) => {
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
