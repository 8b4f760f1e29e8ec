import type { MultiLinkButton, MultiLinkPayload } from "../../model/steps/multi-link.ts";
import { buttonName } from "../answer-fields.ts";
import type { TraceData } from "../walk-result.ts";
import { notOffered, type StepKindOf, waitsForAnswer } from "./step.ts";

/** MULTI_LINK: a page of buttons, each of which leads on by a branch of its own. */
export const multiLink: StepKindOf<"MULTI_LINK"> = {
  explain: () => waitsForAnswer,

  enter: ({ payload }) => ({ kind: "interaction", data: dataOf(payload) }),

  submit({ payload }, answer) {
    const pressed = answer.get(buttonName)?.[0];
    const button = payload.buttons.find(({ id }) => id === pressed);
    if (button === undefined) return notOffered;
    return {
      kind: "submitted",
      branchId: button.id,
      data: dataOf(payload, button),
      answers: [],
      choice: button,
      captures: true,
      to: "",
      reason: `button ${JSON.stringify(button.label)} is pressed`,
    };
  },
};

function dataOf(
  { title, description, buttons }: MultiLinkPayload,
  selectedButton?: MultiLinkButton,
): TraceData {
  const selected = selectedButton && { selectedButton };
  return { multiLink: { title, description, availableButtons: buttons, ...selected } };
}
