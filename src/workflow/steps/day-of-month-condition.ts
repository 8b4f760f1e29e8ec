import { daysInMonth, type LocalTime, localTime } from "../../model/local-time.ts";
import type { StepChoice } from "../../model/steps/kinds.ts";
import { condition } from "./condition.ts";

const lastDay = -1;

/**
 * DAY_OF_MONTH_CONDITION: the day of the month in the workspace's time zone. -1 is the last day, however long the
 * month.
 */
export const dayOfMonthCondition = condition<StepChoice<"DAY_OF_MONTH_CONDITION">, LocalTime>(
  "DAY_OF_MONTH_CONDITION",
  {
    show: ({ id, name, dayOfMonth }) => ({ id, name, dayOfMonth }),
    look: (_, { timezone }, now) => localTime(now, timezone),
    matches: ({ dayOfMonth }, { year, month, day }) =>
      dayOfMonth === day || (dayOfMonth === lastDay && day === daysInMonth(year, month)),
    describe: (_, { timezone }, now) => {
      const { year, month, day } = localTime(now, timezone);
      const last = day === daysInMonth(year, month) ? ", the last" : "";
      return `it is day ${day} of the month${last} in ${timezone || "UTC"}`;
    },
  },
);
