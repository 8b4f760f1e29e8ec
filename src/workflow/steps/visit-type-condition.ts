import type { StepChoice } from "../../model/steps/kinds.ts";
import { condition } from "./condition.ts";

/** VISIT_TYPE_CONDITION: whether the device has visited the link before. */
export const visitTypeCondition = condition<StepChoice<"VISIT_TYPE_CONDITION">, string>(
  "VISIT_TYPE_CONDITION",
  {
    subject: "visitType",
    show: ({ value }) => ({ value }),
    look: ({ visitType }) => visitType,
    matches: ({ value }, visitType) => value === visitType,
    describe: ({ visitType }) => `it is a ${visitType === "FIRST" ? "first" : "returning"} visit`,
  },
);
