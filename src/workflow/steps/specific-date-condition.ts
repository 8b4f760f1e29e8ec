import { type LocalTime, localTime } from "../../model/local-time.ts";
import type { StepChoice } from "../../model/steps/kinds.ts";
import { condition } from "./condition.ts";

/** SPECIFIC_DATE_CONDITION: the date in the workspace's time zone, of one year or of every year that has this date. */
export const specificDateCondition = condition<StepChoice<"SPECIFIC_DATE_CONDITION">, LocalTime>(
  "SPECIFIC_DATE_CONDITION",
  {
    show: ({ id, name, year, month, day }) => ({ id, name, ...(year !== undefined && { year }), month, day }),
    look: (_, { timezone }, now) => localTime(now, timezone),
    matches: ({ year, month, day }, today) =>
      (year === undefined || year === today.year) && month === today.month && day === today.day,
    describe: (_, { timezone }, now) => {
      const { year, month, day } = localTime(now, timezone);
      return `it is ${year}-${padded(month)}-${padded(day)} in ${timezone || "UTC"}`;
    },
  },
);

function padded(number: number): string {
  return String(number).padStart(2, "0");
}
