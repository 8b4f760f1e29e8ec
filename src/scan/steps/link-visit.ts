import { nextBranchId } from "../../model/workflow.ts";
import type { Step, StepResult } from "./step.ts";

const onward: StepResult = Object.freeze({ kind: "branch", branchId: nextBranchId });

/** LINK_VISIT: the entry, which lets everybody in. */
export const linkVisit: Step = () => onward;
