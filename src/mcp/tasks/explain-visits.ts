import type { MessageInitShape } from "@bufbuild/protobuf";
import { TasksService } from "../../../gen/signpost/tasks/v1/tasks_service_pb.js";
import type { CountedValueSchema, VisitCountSchema } from "../../../gen/signpost/tasks/v1/visit_tasks_pb.js";
import { LeftOutReason } from "../../../gen/signpost/v1/analytics_data_pb.js";
import { AnalyticsDataService } from "../../../gen/signpost/v1/analytics_data_service_pb.js";
import type { Link } from "../../../gen/signpost/v1/link_pb.js";
import { EventAction } from "../../../gen/signpost/v1/workflow_step_pb.js";
import { findLink, linkFinding, summariesOf } from "../steps/find-link.ts";
import { datesOf, dayOf, type Period, periodBefore, periodOf, refuseBoth, timesOf } from "../steps/period.ts";
import { defineTask, read, type Steps } from "../steps/task.ts";
import { counted, shortName } from "../steps/words.ts";
import type { Json } from "../tool.ts";

const { explainCount, getBreakdown, getHourOfDayDistribution, getTopLinks, getStepFunnel } =
  AnalyticsDataService.method;

type Count = MessageInitShape<typeof VisitCountSchema>;
type Value = MessageInitShape<typeof CountedValueSchema>;

/** How many countries or links are shown. */
const shown = 5;

/** Explains the visits of a period beside those of the period before. */
export const explainVisits = defineTask(
  TasksService.method.explainVisits,
  [...linkFinding, explainCount, getBreakdown, getHourOfDayDistribution, getTopLinks, getStepFunnel],
  function* ({ link: named, tag, days, to }, now) {
    refuseBoth(named, tag);
    const link = named === "" ? undefined : yield* findLink(named);
    const about = { ...(link && { linkId: link.id }), ...(tag !== "" && { tag }) };
    const period = periodOf(days, to, now);
    const before = periodBefore(period);
    const [count, countBefore] = [yield* countOf(about, period), yield* countOf(about, before)];
    const compare = (dimension: string) => compared(dimension, about, period, before);
    const result = {
      ...(link && { link: (yield* summariesOf([link]))[0] ?? {} }),
      ...timesOf(period),
      period: count,
      periodBefore: countBefore,
      ...changeOf(count, countBefore),
      countries: yield* compare("country"),
      devices: yield* compare("device_type"),
      visitTypes: yield* compare("visit_type"),
      ...(yield* busiestHour(about, period)),
      topLinks: link === undefined ? yield* topLinks(about, period) : [],
      steps: link === undefined ? [] : yield* funnel(link, period),
    };
    const of = link === undefined ? (tag === "" ? "all links" : `links tagged "${tag}"`) : `"${link.name}"`;
    return {
      result,
      text: [
        `Visits of ${of}, ${dayOf(period.from)} to ${dayOf(period.to)}: ${inWords(count, countBefore)}`,
        ...lineOf("Countries", result.countries),
        ...lineOf("Devices", result.devices),
        ...lineOf("Visits", result.visitTypes),
        ...("busiestHour" in result
          ? [`Busiest hour: ${result.busiestHour}:00, in the workspace's timezone.`]
          : []),
        ...lineOf("Links", result.topLinks),
        ...lineOf("Steps reached", result.steps),
        ...lineOf("Recorded and not counted", count.notCounted ?? []),
      ],
    };
  },
);

function* countOf(about: Json, period: Period): Steps<Count> {
  const answer = yield* read("count the visits", explainCount, { ...about, ...datesOf(period) });
  return {
    counted: answer.counted,
    visitors: answer.visitors,
    notCounted: answer.leftOut.map(({ reason, eventCount }) => ({
      label: shortName(LeftOutReason, reason),
      count: eventCount,
    })),
  };
}

/** The most frequent values of a property, with their visits before. */
function* compared(dimension: string, about: Json, period: Period, before: Period): Steps<Value[]> {
  const ask = (dates: Period, limit: number) =>
    read(`count by ${dimension}`, getBreakdown, { ...about, ...datesOf(dates), dimension, limit });
  const now = yield* ask(period, shown);
  const then = yield* ask(before, 100);
  const known = new Map(then.data.map(({ label, eventCount }) => [label, eventCount]));
  return now.data.map(({ label, eventCount }) => ({
    label,
    count: eventCount,
    before: known.get(label) ?? 0,
  }));
}

function* busiestHour(about: Json, period: Period): Steps<{ readonly busiestHour?: number }> {
  const { data } = yield* read("count by hour", getHourOfDayDistribution, { ...about, ...datesOf(period) });
  const busiest = data.reduce<{ hour: number; eventCount: number }>(
    (most, each) => (each.eventCount > most.eventCount ? each : most),
    { hour: 0, eventCount: 0 },
  );
  return busiest.eventCount === 0 ? {} : { busiestHour: busiest.hour };
}

function* topLinks(about: Json, period: Period): Steps<Value[]> {
  const { data } = yield* read("count by link", getTopLinks, { ...about, ...datesOf(period), limit: shown });
  return data.map(({ name, shortlink, eventCount }) => ({
    label: `${name} (${shortlink})`,
    count: eventCount,
  }));
}

function* funnel({ id }: Link, period: Period): Steps<Value[]> {
  const { steps } = yield* read("follow the visits", getStepFunnel, { linkId: id, ...datesOf(period) });
  return steps.map(({ stepAction, visits }) => ({
    label: shortName(EventAction, stepAction),
    count: Number(visits),
  }));
}

function changeOf(
  { counted: now = 0 }: Count,
  { counted: then = 0 }: Count,
): { readonly changePercent?: number } {
  return then === 0 ? {} : { changePercent: Math.round((1_000 * (now - then)) / then) / 10 };
}

function inWords(count: Count, before: Count): string {
  const { counted: now = 0, visitors = 0 } = count;
  const { changePercent } = changeOf(count, before);
  const sign = changePercent !== undefined && changePercent > 0 ? "+" : "";
  const change = changePercent === undefined ? "" : ` (${sign}${changePercent} %)`;
  return `${counted(now, "visit")} by ${counted(visitors, "visitor")}; ${before.counted ?? 0} in the same time before${change}.`;
}

function lineOf(title: string, values: readonly Value[]): string[] {
  if (values.length === 0) return [];
  const each = values.map(
    ({ label, count, before }) =>
      `${label || "unknown"} ${count}${before === undefined ? "" : ` (before ${before})`}`,
  );
  return [`${title}: ${each.join(", ")}.`];
}
