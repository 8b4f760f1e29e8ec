import type { PasswordPayload } from "../../model/steps/password-verify.ts";
import { nextBranchId } from "../../model/workflow/workflow.ts";
import { passwordName } from "../answer-fields.ts";
import type { TraceData } from "../walk-result.ts";
import { type AnswerFault, type StepKindOf, waitsForAnswer } from "./step.ts";

const wrong: ReadonlyMap<string, AnswerFault> = new Map([[passwordName, "PASSWORD"]]);

/** PASSWORD_VERIFY: lets on visitors who know the password. Attempts are kept nowhere. */
export const passwordVerify: StepKindOf<"PASSWORD_VERIFY"> = {
  explain: () => waitsForAnswer,

  enter: ({ payload }) => ({ kind: "interaction", data: dataOf(payload, false) }),

  submit(step, answer, _visit, { isPassword }) {
    const attempt = answer.get(passwordName)?.[0] ?? "";
    if (step.payload.password === "" || !isPassword(step, attempt))
      return { kind: "refused", status: 401, faults: wrong };
    return {
      kind: "submitted",
      branchId: nextBranchId,
      data: dataOf(step.payload, true),
      answers: [],
      choice: undefined,
      captures: true,
      to: "",
      reason: "the password matches",
    };
  },
};

function dataOf({ title, description }: PasswordPayload, validated: boolean): TraceData {
  return { password: { title, description, validated } };
}
