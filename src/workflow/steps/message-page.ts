import type { MessagePagePayload } from "../../model/steps/message-page.ts";
import { nextBranchId } from "../../model/workflow/workflow.ts";
import { timerParameter } from "../answer-fields.ts";
import type { TraceData } from "../walk-result.ts";
import { notOffered, type StepKindOf, waitsForAnswer } from "./step.ts";

/** MESSAGE_PAGE: a text that goes on by its one button, or by itself when the time is over. */
export const messagePage: StepKindOf<"MESSAGE_PAGE"> = {
  explain: () => waitsForAnswer,

  enter: ({ payload }) => ({ kind: "interaction", data: dataOf(payload, "") }),

  submit({ payload }, answer) {
    const { navigationType } = payload;
    const isTimer = answer.has(timerParameter);
    if (isTimer !== (navigationType === "TIMER")) return notOffered;
    return {
      kind: "submitted",
      branchId: nextBranchId,
      data: dataOf(payload, navigationType),
      answers: [],
      choice: undefined,
      captures: true,
      to: "",
      reason: isTimer ? "the time is over" : "the button is pressed",
    };
  },
};

function dataOf({ title, navigationType }: MessagePagePayload, outcome: "" | "BUTTON" | "TIMER"): TraceData {
  return { messagePage: { title, navigationType, outcome } };
}
