import type { UpdateWorkflowStepRequest } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { invalid } from "../../lib/errors.ts";
import { fieldsToChange } from "../../lib/field-mask.ts";

/**
 * The fields that the mask names, or all that are set when there is no mask. Throws INVALID_ARGUMENT for one that has to hold something.
 */
export function givenFields(
  request: UpdateWorkflowStepRequest,
): ReadonlySet<"payload" | "attribute_capture" | "canvas_position"> {
  const { payload, attributeCapture, canvasPosition, updateMask } = request;
  const values = { payload, attribute_capture: attributeCapture, canvas_position: canvasPosition };
  const given = fieldsToChange(values, updateMask?.paths);
  if (given.has("payload") && payload?.variant.case === undefined)
    throw invalid([
      { field: "payload", description: "must hold the variant that belongs to the step's action" },
    ]);
  if (given.has("canvas_position") && canvasPosition === undefined)
    throw invalid([{ field: "canvasPosition", description: "is required when the mask names it" }]);
  return given;
}
