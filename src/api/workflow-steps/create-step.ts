import type { CreateWorkflowStepRequest } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { newId } from "../../lib/ids.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import { type Edited, editWorkflow, type WorkflowStepsDeps } from "./edit-workflow.ts";
import { addStep } from "./edits.ts";
import { fromCapture } from "./message.ts";
import { fromPayload, urlsOf } from "./payload.ts";
import { readAction } from "./rules.ts";
import { sealPassword } from "./step-password.ts";

/** Makes a step of a link that `rules.ts` has accepted. Gives its id with the workflow after the edit. */
export async function createStep(
  deps: WorkflowStepsDeps,
  request: CreateWorkflowStepRequest,
  context: Context,
): Promise<Edited & { readonly stepId: string }> {
  const { workspaceId } = callerOf(context);
  const action = readAction(request);
  const madeAt = deps.now();
  const stepId = request.id.toLowerCase() || newId(madeAt);
  const insertBefore = request.insertBefore.toLowerCase();
  const given = fromPayload(action, request.payload, () => newId(madeAt));
  const seal = { key: deps.stepPasswordKey, workspaceId, stepId };
  const edited = await editWorkflow(
    deps,
    context,
    { linkId: request.linkId, urls: urlsOf(request.payload) },
    (workflow, at) => {
      const step = {
        id: stepId,
        action,
        payload: sealPassword(action, given.payload, undefined, seal),
        capture: fromCapture(request.attributeCapture),
        position: request.canvasPosition && { x: request.canvasPosition.x, y: request.canvasPosition.y },
        createdAt: at,
        updatedAt: at,
      };
      return addStep(workflow, step, given.connections, insertBefore);
    },
  );
  return { ...edited, stepId };
}
