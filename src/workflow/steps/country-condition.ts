import type { StepChoice } from "../../model/steps/kinds.ts";
import { condition, tellName } from "./condition.ts";

/** COUNTRY_CONDITION: the country of the visitor's address. An unknown country matches no choice. */
export const countryCondition = condition<StepChoice<"COUNTRY_CONDITION">, string>("COUNTRY_CONDITION", {
  show: ({ countryCode }) => ({ countryCode }),
  look: (visit) => visit.country(),
  matches: ({ countryCode }, country) => country !== "" && countryCode.toUpperCase() === country,
  describe: (visit) => tellName("country", visit.country()),
});
