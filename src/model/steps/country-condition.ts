import { textOf } from "../json-fields.ts";
import { type Choice, conditionFacts, lacksNothing, noLookups } from "./conditions.ts";

export interface CountryChoice extends Choice {
  readonly countryCode: string;
}

/** COUNTRY_CONDITION: the country of the visitor's address. */
export const countryCondition = conditionFacts({
  name: "countryCondition",
  list: "countries",
  branch: { id: "countryCode", label: "countryCode", isOrdered: false },
  read(choice): CountryChoice {
    const countryCode = textOf(choice.countryCode);
    return { branchId: countryCode, countryCode };
  },
  lackOf: lacksNothing,
  lookups: noLookups,
});
