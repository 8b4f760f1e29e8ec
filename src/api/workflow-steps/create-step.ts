import type { CreateWorkflowStepRequest } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { invalid, refuse } from "../../lib/errors.ts";
import { chosenIdFaults, newId } from "../../lib/ids.ts";
import { type StepAction, stepActions } from "../../model/steps/kinds.ts";
import { branchesOf, nextBranchId } from "../../model/workflow/workflow.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import { type Edited, editWorkflow, type WorkflowStepsDeps } from "./edit-workflow.ts";
import { addStep } from "./edits.ts";
import { fromCapture, fromEventAction } from "./message.ts";
import { fromPayload, urlsOf } from "./payload.ts";
import { captureFaults } from "./rules.ts";
import { sealPassword } from "./step-password.ts";

/** Makes a step of a link; answers its id with the workflow that it stands in now. */
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
  refuse([...chosenIdFaults(request.id), ...captureFaults(action, request.attributeCapture)]);
  if (insertBefore !== "" && branchesOf({ action, payload: {} }).every(({ id }) => id !== nextBranchId))
    throw invalid([
      {
        field: "insertBefore",
        description: `must be empty: EVENT_ACTION_${action} has no branch ${nextBranchId} to stand before another step`,
      },
    ]);
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

function readAction({ eventAction }: CreateWorkflowStepRequest): StepAction {
  const action = fromEventAction(eventAction);
  if (action === undefined)
    throw invalid([{ field: "eventAction", description: "is required: give it a value" }]);
  if (stepActions[action].kind === "ENTRY")
    throw invalid([
      { field: "eventAction", description: "must be another one: the link has its only entry step already" },
    ]);
  return action;
}
