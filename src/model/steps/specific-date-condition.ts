import {
  conditionFacts,
  lacksNothing,
  type NamedChoice,
  namedBranch,
  namedOf,
  noLookups,
} from "./conditions.ts";
import { integerOf } from "./reading.ts";

export interface SpecificDateChoice extends NamedChoice {
  /** Undefined for every year. */
  readonly year: number | undefined;
  readonly month: number;
  readonly day: number;
}

/** SPECIFIC_DATE_CONDITION: the date in the workspace's time zone. */
export const specificDateCondition = conditionFacts({
  name: "specificDateCondition",
  list: "options",
  branch: namedBranch,
  read(choice): SpecificDateChoice | undefined {
    const month = integerOf(choice.month);
    const day = integerOf(choice.day);
    if (month === undefined || day === undefined) return undefined;
    return { ...namedOf(choice), year: integerOf(choice.year), month, day };
  },
  lackOf: lacksNothing,
  lookups: noLookups,
});
