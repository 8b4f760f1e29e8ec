import { aheadMs } from "./local.ts";
import {
  byBytes,
  codeOf,
  iso,
  type Naive,
  person,
  rangeOf,
  recordedIn,
  startsFor,
  valuesBy,
} from "./naive-visits.ts";
import { uncountedReasons, type WorldVisit } from "./world.ts";

/** The reasons in the order of the API, in which equal ones come. */
const reasons = ["UNSPECIFIED", ...uncountedReasons, "LOCKED"];

function reasonOf({ counted, lockedNumber, uncountedReason }: WorldVisit): string {
  if (counted) return "";
  return lockedNumber === undefined ? (uncountedReason ?? "UNSPECIFIED") : "LOCKED";
}

/** Explains a count visit by visit. */
export const explainCount: Naive = (world, asked) => {
  const { dimension, value, hour, intervalStart } = asked;
  let { from, to } = rangeOf(asked);
  if (intervalStart !== undefined) {
    const starts = startsFor(world, asked);
    const next = starts[starts.indexOf(Date.parse(intervalStart)) + 1];
    from = Math.max(from, Date.parse(intervalStart));
    to = next === undefined ? to : next - 1;
  }
  const hourOf = ({ at }: WorldVisit) =>
    new Date(at.getTime() + aheadMs(at.getTime(), world.timezone)).getUTCHours();
  const recorded = recordedIn(world, asked)
    .filter(({ at }) => at.getTime() >= from && at.getTime() <= to)
    .filter((visit) => hour === undefined || hourOf(visit) === hour)
    .filter(
      (visit) =>
        dimension === undefined ||
        (visit.lockedNumber === undefined &&
          codeOf(dimension, valuesBy(dimension, [visit])[0] ?? "") === value),
    )
    .sort((a, b) => byBytes(b.id, a.id));
  const counted = recorded.filter(({ counted }) => counted);
  const idsOf = (visits: readonly WorldVisit[]) => visits.slice(0, 20).map(({ id }) => id);
  const notable = (visits: readonly WorldVisit[]) => ({
    eventCount: visits.length,
    eventIds: idsOf(visits),
  });
  const leftOut = reasons
    .map((reason) => ({ reason, visits: recorded.filter((visit) => reasonOf(visit) === reason) }))
    .filter(({ visits }) => visits.length > 0)
    .sort((a, b) => b.visits.length - a.visits.length);
  return {
    counted: counted.length,
    eventIds: idsOf(counted),
    visitors: new Set(counted.map(person)).size,
    recorded: recorded.length,
    leftOut: leftOut.map(({ reason, visits }) => ({
      reason: `LEFT_OUT_REASON_${reason}`,
      eventCount: visits.length,
      eventIds: reason === "LOCKED" ? [] : idsOf(visits),
    })),
    late: notable(counted.filter(({ lateSeconds }) => lateSeconds !== undefined)),
    merged: notable(counted.filter(({ visitor }) => visitor?.isMerged)),
    countedFrom: iso(from),
    countedThrough: iso(to),
  };
};
