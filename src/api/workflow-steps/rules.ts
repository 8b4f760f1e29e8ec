import { type AttributeCapture, AttributeCaptureSource } from "../../../gen/signpost/v1/workflow_step_pb.js";
import type { Fault } from "../../lib/errors.ts";
import { type StepAction, stepActions } from "../../model/steps/kinds.ts";

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
    source === AttributeCaptureSource.CHOICE && !stepActions[action].offersChoice
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
