import { create } from "@bufbuild/protobuf";
import { type WorkflowStep, WorkflowStepSchema } from "../../../gen/signpost/v1/workflow_step_pb.js";
import type { UpdateWorkflowStepRequest } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { refuse } from "../../lib/errors.ts";
import { mayChange } from "../../lib/field-mask.ts";
import { newId } from "../../lib/ids.ts";
import { graphOf } from "../../model/workflow/workflow-graph.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import { type Edited, editWorkflow, type WorkflowStepsDeps } from "./edit-workflow.ts";
import { replaceStep, stepOf } from "./edits.ts";
import { fromCapture, toWorkflowStep } from "./message.ts";
import { fromPayload, urlsOf } from "./payload.ts";
import type { LinkWorkflow, Step } from "./queries.ts";
import { captureFaults, givenFields } from "./rules.ts";
import { openPassword, type PasswordSeal, sealPassword } from "./step-password.ts";

/** Changes a step of a link. Gives its id with the workflow after the edit. */
export async function updateStep(
  deps: WorkflowStepsDeps,
  request: UpdateWorkflowStepRequest,
  context: Context,
): Promise<Edited & { readonly stepId: string }> {
  const { workspaceId } = callerOf(context);
  const stepId = request.id.toLowerCase();
  const seal = { key: deps.stepPasswordKey, workspaceId, stepId };
  const edited = await editWorkflow(
    deps,
    context,
    { linkId: request.linkId, urls: mayChange(request.updateMask, "payload") ? urlsOf(request.payload) : [] },
    (workflow, at) => {
      const before = stepOf(workflow, stepId, "id");
      const wanted = context.complete(request, () => storedStep(request.linkId, before, workflow, seal));
      const fields = givenFields(wanted);
      const payload = fields.has("payload") ? wanted.payload : undefined;
      const position = fields.has("canvas_position") ? wanted.canvasPosition : undefined;
      const given = payload && fromPayload(before.action, payload, () => newId(at));
      if (fields.has("attribute_capture")) refuse(captureFaults(before.action, wanted.attributeCapture));
      const step = {
        ...before,
        payload: given ? sealPassword(before.action, given.payload, before.payload, seal) : before.payload,
        capture: fields.has("attribute_capture") ? fromCapture(wanted.attributeCapture) : before.capture,
        position: position ? { x: position.x, y: position.y } : before.position,
      };
      return replaceStep(workflow, step, given?.connections ?? []);
    },
  );
  return { ...edited, stepId };
}

/** A step with its password in clear, as a client with the right to change it may read it. */
function storedStep(linkId: string, step: Step, workflow: LinkWorkflow, seal: PasswordSeal): WorkflowStep {
  const options = { linkId, graph: graphOf(workflow) };
  const passwordOf = ({ payload }: Step) => openPassword(payload, seal);
  return create(WorkflowStepSchema, toWorkflowStep(step, { ...options, passwordOf }));
}
