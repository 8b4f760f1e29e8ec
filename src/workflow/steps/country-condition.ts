import type { StepChoice } from "../../model/payloads.ts";
import { condition, known } from "./condition.ts";

/** COUNTRY_CONDITION: the country of the visitor's address; an unknown one is nobody's. */
export const countryCondition = condition<StepChoice<"COUNTRY_CONDITION">, string>({
  trace: "countryCondition",
  choices: "countries",
  show: ({ countryCode }) => ({ countryCode }),
  look: (visit) => visit.country(),
  matches: ({ countryCode }, country) => country !== "" && countryCode.toUpperCase() === country,
  describe: (visit) => known("country", visit.country()),
});
