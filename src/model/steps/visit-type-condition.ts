import { textOf } from "../json-fields.ts";
import { type Choice, conditionFacts, lacksNothing } from "./conditions.ts";
import { bare, oneOf } from "./reading.ts";

export interface VisitTypeChoice extends Choice {
  readonly value: "FIRST" | "RETURNING";
}

/** VISIT_TYPE_CONDITION: whether the device has visited the link before. */
export const visitTypeCondition = conditionFacts({
  name: "visitTypeCondition",
  list: "options",
  branch: { id: "value", label: "value", isOrdered: false },
  read({ value }): VisitTypeChoice | undefined {
    const visitType = oneOf(bare(value, "VISIT_TYPE_"), ["FIRST", "RETURNING"]);
    return visitType && { branchId: textOf(value), value: visitType };
  },
  lackOf: lacksNothing,
  lookups: ["visitType"],
});
