import { byBytes, everIn, iso, type Naive, valuesBy } from "./naive-visits.ts";

export const eventsMetric: Naive = (world, asked) => {
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
