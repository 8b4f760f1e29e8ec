import { nextBranchId } from "../../model/workflow/workflow.ts";
import type { Entered, StepKindOf } from "./step.ts";

const onward: Entered = Object.freeze({ kind: "branch", branchId: nextBranchId });

/** LINK_VISIT: the entry, which lets every visitor in. */
export const linkVisit: StepKindOf<"LINK_VISIT"> = {
  explain: () => "everybody is let in",
  enter: () => onward,
};
