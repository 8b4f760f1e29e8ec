import type { UpdateWorkflowStepRequest } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { refuse } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import { type Edited, editWorkflow, type WorkflowStepsDeps } from "./edit-workflow.ts";
import { replaceStep, stepOf } from "./edits.ts";
import { fromCapture } from "./message.ts";
import { fromPayload, urlsOf } from "./payload.ts";
import { captureFaults } from "./rules.ts";
import { givenFields } from "./step-fields.ts";
import { sealPassword } from "./step-password.ts";

/** Changes a step of a link. Gives its id with the workflow after the edit. */
export async function updateStep(
  deps: WorkflowStepsDeps,
  request: UpdateWorkflowStepRequest,
  context: Context,
): Promise<Edited & { readonly stepId: string }> {
  const { workspaceId } = callerOf(context);
  const stepId = request.id.toLowerCase();
  const fields = givenFields(request);
  const payload = fields.has("payload") ? request.payload : undefined;
  const position = fields.has("canvas_position") ? request.canvasPosition : undefined;
  const edited = await editWorkflow(
    deps,
    context,
    { linkId: request.linkId, urls: urlsOf(payload) },
    (workflow, at) => {
      const before = stepOf(workflow, stepId, "id");
      const given = payload && fromPayload(before.action, payload, () => newId(at));
      if (fields.has("attribute_capture")) refuse(captureFaults(before.action, request.attributeCapture));
      const seal = { key: deps.stepPasswordKey, workspaceId, stepId };
      const step = {
        ...before,
        payload: given ? sealPassword(before.action, given.payload, before.payload, seal) : before.payload,
        capture: fields.has("attribute_capture") ? fromCapture(request.attributeCapture) : before.capture,
        position: position ? { x: position.x, y: position.y } : before.position,
      };
      return replaceStep(workflow, step, given?.connections ?? []);
    },
  );
  return { ...edited, stepId };
}
