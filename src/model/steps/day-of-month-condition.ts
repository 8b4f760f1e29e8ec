import {
  conditionFacts,
  lacksNothing,
  type NamedChoice,
  namedBranch,
  namedOf,
  noLookups,
} from "./conditions.ts";
import { integerOf } from "./reading.ts";

export interface DayOfMonthChoice extends NamedChoice {
  /** 1 to 31, or -1 for the last day. */
  readonly dayOfMonth: number;
}

/** DAY_OF_MONTH_CONDITION: the day of the month in the workspace's time zone. */
export const dayOfMonthCondition = conditionFacts({
  name: "dayOfMonthCondition",
  list: "options",
  branch: namedBranch,
  read(choice): DayOfMonthChoice | undefined {
    const dayOfMonth = integerOf(choice.dayOfMonth);
    return dayOfMonth === undefined ? undefined : { ...namedOf(choice), dayOfMonth };
  },
  lackOf: lacksNothing,
  lookups: noLookups,
});
