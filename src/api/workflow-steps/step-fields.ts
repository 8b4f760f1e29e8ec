import type { UpdateWorkflowStepRequest } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { invalid } from "../../lib/errors.ts";

const maskedFields = ["payload", "attribute_capture", "canvas_position"] as const;
type MaskedField = (typeof maskedFields)[number];

/** The fields that the mask names, or without one those that are set. Throws INVALID_ARGUMENT for other names. */
export function givenFields(request: UpdateWorkflowStepRequest): ReadonlySet<MaskedField> {
  const { payload, attributeCapture, canvasPosition } = request;
  const values = { payload, attribute_capture: attributeCapture, canvas_position: canvasPosition };
  const paths = request.updateMask?.paths ?? [];
  const unknown = paths.filter((path) => !isMasked(path) && !["link_id", "id", "update_mask"].includes(path));
  if (unknown.length > 0)
    throw invalid([{ field: "updateMask", description: `names ${unknown.join()}, which no update changes` }]);
  const given = paths.length > 0 ? paths.filter(isMasked) : maskedFields.filter((field) => values[field]);
  if (given.includes("payload") && payload?.variant.case === undefined)
    throw invalid([
      { field: "payload", description: "must hold the variant that belongs to the step's action" },
    ]);
  if (given.includes("canvas_position") && canvasPosition === undefined)
    throw invalid([{ field: "canvasPosition", description: "is required when the mask names it" }]);
  return new Set(given);
}

function isMasked(path: string): path is MaskedField {
  return (maskedFields as readonly string[]).includes(path); // widened, because includes wants a known path
}
