import { conditionFacts, type NamedChoice, namedBranch, namedOf, noLookups } from "./conditions.ts";
import { integersOf } from "./reading.ts";

export interface DayOfWeekChoice extends NamedChoice {
  /** 0 for Sunday to 6 for Saturday. */
  readonly daysOfWeek: readonly number[];
}

/** DAY_OF_WEEK_CONDITION: the weekday in the workspace's time zone. */
export const dayOfWeekCondition = conditionFacts({
  name: "dayOfWeekCondition",
  list: "options",
  branch: namedBranch,
  read(choice): DayOfWeekChoice | undefined {
    const daysOfWeek = integersOf(choice.daysOfWeek);
    return daysOfWeek && { ...namedOf(choice), daysOfWeek };
  },
  lackOf: ({ daysOfWeek, name }) => (daysOfWeek.length === 0 ? { name, what: "days" } : undefined),
  lookups: noLookups,
});
