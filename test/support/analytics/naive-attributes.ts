import { type Asked, byBytes, iso, type Naive, percent, visitsIn } from "./naive-visits.ts";
import { planValues, type World, type WorldVisitor } from "./world.ts";

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

export const attributeMetric: Naive = (world, asked) => {
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

export const attributeDistribution: Naive = (world, asked) => {
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

export const attributeValues: Naive = (world, asked) => {
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
