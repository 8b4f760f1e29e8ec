import { type AttributeCapture, AttributeCaptureSource } from "../../../gen/signpost/v1/workflow_step_pb.js";
import type { Fault } from "../../lib/errors.ts";
import { type StepAction, stepActions } from "../../model/workflow.ts";

/** The steps whose pages offer something to choose. */
const choiceActions: ReadonlySet<StepAction> = new Set([
  "MULTI_LINK",
  "MESSAGE_PAGE",
  "SOCIAL_LINKS_PAGE",
  "CONTACT_CARD",
]);

/** What can be said against capturing attributes on a step, beside the rules of the fields themselves. */
export function captureFaults(action: StepAction, capture: AttributeCapture | undefined): Fault[] {
  const attributes = capture?.attributes ?? [];
  if (attributes.length > 0 && stepActions[action].kind === "CONDITION")
    return [
      {
        field: "attributeCapture",
        description: "must be empty on a condition, which captures nothing",
        reason: "INVALID_ARGUMENT",
      },
    ];
  return attributes.flatMap(({ source }, index) =>
    source === AttributeCaptureSource.CHOICE && !choiceActions.has(action)
      ? [
          {
            field: `attributeCapture.attributes[${index}].source`,
            description: `must be MILESTONE or LINK_CONTEXT: EVENT_ACTION_${action} offers nothing to choose`,
            reason: "INVALID_ARGUMENT",
          },
        ]
      : [],
  );
}
