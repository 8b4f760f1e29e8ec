import { type LocalTime, localTime } from "../../model/local-time.ts";
import type { StepChoice } from "../../model/steps/kinds.ts";
import { condition } from "./condition.ts";

const dayNames = ["SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"];

/** DAY_OF_WEEK_CONDITION: the weekday in the workspace's time zone. Steps have numbers, traces have names. */
export const dayOfWeekCondition = condition<StepChoice<"DAY_OF_WEEK_CONDITION">, LocalTime>(
  "DAY_OF_WEEK_CONDITION",
  {
    show: ({ id, name, daysOfWeek }) => ({
      id,
      name,
      daysOfWeek: daysOfWeek.flatMap((day) => dayNames[day] ?? []),
    }),
    look: (_, { timezone }, now) => localTime(now, timezone),
    matches: ({ daysOfWeek }, { weekday }) => daysOfWeek.includes(weekday),
    describe: (_, { timezone }, now) => {
      const day = dayNames[localTime(now, timezone).weekday] ?? "";
      return `it is ${day} in ${timezone || "UTC"}`;
    },
  },
);
