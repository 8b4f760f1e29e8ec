import type { DescMethodUnary } from "@bufbuild/protobuf";
import { AnalyticsDataService } from "../../../gen/signpost/v1/analytics_data_service_pb.js";
import { MetricsService } from "../../../gen/signpost/v1/metrics_service_pb.js";
import { TimeSeriesService } from "../../../gen/signpost/v1/time_series_service_pb.js";
import type { Random } from "../../fuzz/random.ts";
import { naive } from "./naive.ts";
import { type Asked, codeOf, startsFor, valuesBy } from "./naive-visits.ts";
import { randomMoment, type World } from "./world.ts";

export interface Question {
  readonly method: DescMethodUnary;
  readonly asked: Asked;
}

const methods: readonly DescMethodUnary[] = [
  ...AnalyticsDataService.methods,
  TimeSeriesService.method.getEventsTimeSeries,
  MetricsService.method.getEventsMetric,
].filter((method): method is DescMethodUnary => method.methodKind === "unary");

const dayMs = 86_400_000;

/** A random operation with random fields that are allowed. */
export function randomQuestion(random: Random, world: World): Question {
  const method = random.pick(methods);
  if (method === undefined) throw new Error("there are no operations");
  const lengthMs = random.pick([0, 6 * 3_600_000, 3 * dayMs, 30 * dayMs, 400 * dayMs] as const);
  const to = randomMoment(random) + random.below(lengthMs + 1);
  const given = new Set(method.input.fields.map(({ jsonName }) => jsonName));
  const isWhole = method.name === "GetEventsMetric" && random.percent(30);
  const minutes = [15, 60, 1_440, 10_080].filter((each) => lengthMs / 60_000 / each < 1_990);
  const may: Record<string, string | number | undefined> = {
    linkId: random.percent(40) ? random.pick(world.links)?.id : undefined,
    tag: random.percent(30) ? random.pick(["Red", "blue", "none"]) : undefined,
    // A range without a start is the last 30 days.
    startDate: isWhole || random.percent(5) ? undefined : new Date(to - lengthMs).toISOString(),
    endDate: isWhole ? undefined : new Date(to).toISOString(),
    dimension: random.pick(["browser", "platform", "device_type", "country", "city", "visit_type"]),
    groupBy: given.has("intervalInMinutes")
      ? `GROUP_BY_DIMENSION_${group(random)}`
      : random.pick(["country", "city"]),
    limit: random.percent(60) ? 1 + random.below(8) : undefined,
    intervalInMinutes: random.percent(70) ? random.pick(minutes) : undefined,
    key:
      method.name === "GetAttributeValues"
        ? random.pick(["plan", "none"])
        : random.pick(["plan", "$email", "none"]),
  };
  if (may.startDate === undefined && !isWhole) may.intervalInMinutes = 1_440;
  if (method.name === "GetEventsTimeSeries" && lengthMs > 30 * dayMs) may.intervalInMinutes = 1_440;
  const asked = Object.fromEntries(
    Object.entries(may).filter(([name, value]) => value !== undefined && given.has(name)),
  );
  return { method, asked: method.name === "ExplainCount" ? numberOfChart(random, world, asked) : asked };
}

/** The question for one number of a chart that the world has: a value, an interval or an hour. */
function numberOfChart(random: Random, world: World, { intervalInMinutes, ...asked }: Asked): Asked {
  const visit = random.pick(world.visits);
  const isGrouped = asked.dimension !== undefined && visit !== undefined && random.percent(50);
  const { dimension = "", ...whole } = asked;
  const [value = ""] = isGrouped ? valuesBy(dimension, [visit]) : [];
  const chart = { ...whole, ...(intervalInMinutes !== undefined && { intervalInMinutes }) };
  const start = random.percent(40) ? random.pick(startsFor(world, chart)) : undefined;
  return {
    ...whole,
    ...(isGrouped && { dimension, value: codeOf(dimension, value) }),
    ...(start !== undefined && { ...chart, intervalStart: new Date(start).toISOString() }),
    ...(random.percent(20) && { hour: random.below(24) }),
  };
}

function group(random: Random): string {
  return random.pick(["COUNTRY", "CITY", "DEVICE_TYPE", "VISIT_TYPE", "BROWSER", "PLATFORM"] as const);
}

/** What the operation must answer. */
export function expectedAnswer(world: World, { method, asked }: Question): unknown {
  const compute = naive[method.name as keyof typeof naive];
  return compute(world, asked);
}
