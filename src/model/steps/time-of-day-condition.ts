import { textOf } from "../json-fields.ts";
import {
  conditionFacts,
  lacksNothing,
  type NamedChoice,
  namedBranch,
  namedOf,
  noLookups,
} from "./conditions.ts";

export interface TimeOfDayChoice extends NamedChoice {
  /** `HH:MM`, inclusive. */
  readonly startTime: string;
  /** `HH:MM`, exclusive. It is before the start when the range runs over midnight. */
  readonly endTime: string;
}

const clockTime = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

/** TIME_OF_DAY_CONDITION: the time in the workspace's time zone. */
export const timeOfDayCondition = conditionFacts({
  name: "timeOfDayCondition",
  list: "ranges",
  branch: namedBranch,
  read(choice): TimeOfDayChoice | undefined {
    const startTime = textOf(choice.startTime);
    const endTime = textOf(choice.endTime);
    if (!clockTime.test(startTime) || !clockTime.test(endTime)) return undefined;
    return { ...namedOf(choice), startTime, endTime };
  },
  lackOf: lacksNothing,
  lookups: noLookups,
});
