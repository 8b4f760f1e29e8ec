import { type LocalTime, localTime } from "../../model/local-time.ts";
import type { StepChoice } from "../../model/steps/kinds.ts";
import { condition } from "./condition.ts";

/**
 * TIME_OF_DAY_CONDITION: what the clock shows in the workspace's time zone. An hour that daylight saving time skips
 * never matches, and an hour that it repeats matches both times.
 */
export const timeOfDayCondition = condition<StepChoice<"TIME_OF_DAY_CONDITION">, LocalTime>(
  "TIME_OF_DAY_CONDITION",
  {
    show: ({ id, name, startTime, endTime }) => ({ id, name, startTime, endTime }),
    look: (_, { timezone }, now) => localTime(now, timezone),
    matches: ({ startTime, endTime }, { minutes }) =>
      isWithin(minutes, minutesOf(startTime), minutesOf(endTime)),
    describe: (_, { timezone }, now) => {
      const { minutes } = localTime(now, timezone);
      const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) =>
        String(part).padStart(2, "0"),
      );
      return `it is ${hour}:${minute} in ${timezone || "UTC"}`;
    },
  },
);

/**
 * Whether the time is in the range. The start belongs to the range, and the end does not. A range that ends before it
 * starts runs over midnight.
 */
function isWithin(minutes: number, start: number, end: number): boolean {
  return start < end
    ? start <= minutes && minutes < end
    : start !== end && (start <= minutes || minutes < end);
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}
