import type { StepChoice } from "../../model/payloads.ts";
import { condition } from "./condition.ts";

/** VISIT_TYPE_CONDITION: whether the device has visited the link before. */
export const visitTypeCondition = condition<StepChoice<"VISIT_TYPE_CONDITION">, string>({
  trace: "visitTypeCondition",
  subject: "visitType",
  choices: "options",
  show: ({ value }) => ({ value }),
  look: ({ visitType }) => visitType,
  matches: ({ value }, visitType) => value === visitType,
  describe: ({ visitType }) => `it is a ${visitType === "FIRST" ? "first" : "returning"} visit`,
});
