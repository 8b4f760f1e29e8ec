import { create } from "@bufbuild/protobuf";
import { WorkflowStepSchema } from "../../../gen/signpost/v1/workflow_step_pb.js";
import type { WorkflowStepsService } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { readPage } from "../../lib/paging/page.ts";
import { payloadFaults } from "../../model/workflow/payload-faults.ts";
import {
  graphOf,
  unconnectedBranchIds,
  unreachableIssues,
  workflowIssues,
} from "../../model/workflow/workflow-graph.ts";
import { layOutSteps, type Position, resolveCollisions } from "../../model/workflow/workflow-layout.ts";
import { type Context, callerOf, type Handlers, withCheck } from "../../rpc/handlers.ts";
import { notFound } from "../resources/not-found.ts";
import { createStep } from "./create-step.ts";
import { type EditPlace, editWorkflow, type WorkflowStepsDeps } from "./edit-workflow.ts";
import { connectBranch, disconnectBranch, removeStep, stepOf } from "./edits.ts";
import { toWorkflowIssue, toWorkflowStep } from "./message.ts";
import { findWorkflow, type LinkWorkflow, type Step } from "./queries.ts";
import { stepChecks } from "./rules.ts";
import { simulateWorkflow } from "./simulate-workflow.ts";
import { openPassword } from "./step-password.ts";
import { updateStep } from "./update-step.ts";

export function workflowStepsService(deps: WorkflowStepsDeps): Handlers<typeof WorkflowStepsService> {
  const checks = stepChecks(deps.shortUrl);
  return {
    create: withCheck(checks.create, async (request, context) => {
      const { linkId, after, stepId } = await createStep(deps, request, context);
      return { workflowStep: stepMessages(deps, context, linkId, after)(stepOf(after, stepId, "id")) };
    }),

    async get({ linkId, id }, context) {
      const workflow = await readWorkflow(context, linkId);
      const step = stepOf(workflow, id.toLowerCase(), "id");
      return { workflowStep: stepMessages(deps, context, workflow.linkId, workflow)(step) };
    },

    async list(request, context) {
      const { workspaceId } = callerOf(context);
      const filters = { workspaceId, linkId: request.linkId.toLowerCase() };
      const page = readPage(request, { key: "time", sort: "workflow steps oldest first", filters });
      const workflow = await readWorkflow(context, request.linkId);
      const toMessage = stepMessages(deps, context, workflow.linkId, workflow);
      const { records, nextPageToken } = await fillPage(page, {
        rows: stepsAfter(workflow.steps, page.after),
        edgeOf: ({ createdAt, id }) => ({ key: createdAt, id }),
        recordOf: (step) => create(WorkflowStepSchema, toMessage(step)),
        write: (step) => context.writeRecord(WorkflowStepSchema, step),
      });
      return { workflowSteps: records, nextPageToken, totalCount: BigInt(workflow.steps.length) };
    },

    async validateWorkflow({ linkId }, context) {
      const workflow = await readWorkflow(context, linkId);
      return { issues: workflowIssues(graphOf(workflow), payloadFaults).map(toWorkflowIssue) };
    },

    update: withCheck(checks.change, async (request, context) => {
      const { linkId, after, stepId } = await updateStep(deps, request, context);
      return { workflowStep: stepMessages(deps, context, linkId, after)(stepOf(after, stepId, "id")) };
    }),

    async delete({ linkId, id }, context) {
      await editWorkflow(deps, context, { linkId }, (workflow) => removeStep(workflow, id.toLowerCase()));
      return {};
    },

    async connectStep({ linkId, stepId, branchId, nextStepId }, context) {
      const branch = { stepId: stepId.toLowerCase(), branchId };
      const edited = await editWorkflow(deps, context, { linkId }, (workflow) =>
        connectBranch(workflow, branch, nextStepId.toLowerCase()),
      );
      return connection(deps, context, edited.linkId, edited.after, branch.stepId);
    },

    async disconnectStep({ linkId, stepId, branchId }, context) {
      const branch = { stepId: stepId.toLowerCase(), branchId };
      const edited = await editWorkflow(deps, context, { linkId }, (workflow) =>
        disconnectBranch(workflow, branch),
      );
      return connection(deps, context, edited.linkId, edited.after, branch.stepId);
    },

    async resolveStepCollisions({ linkId, stepId }, context) {
      return moveSteps(deps, context, { linkId }, (workflow) => {
        const anchor = stepOf(workflow, stepId.toLowerCase(), "stepId");
        return resolveCollisions(workflow.steps, anchor.id);
      });
    },

    async autoLayoutWorkflow({ linkId }, context) {
      return moveSteps(deps, context, { linkId }, (workflow) => layOutSteps(graphOf(workflow)));
    },

    simulate: (request, context) => simulateWorkflow(deps, request, context),
  };
}

async function readWorkflow(context: Context, linkId: string) {
  const workflow = await findWorkflow(context.db, callerOf(context).workspaceId, linkId);
  if (workflow === undefined) throw notFound("link", "linkId", linkId);
  return workflow;
}

/** Makes the messages of a workflow's steps. Passwords are shown only to callers who may change them. */
function stepMessages(
  { stepPasswordKey: key }: WorkflowStepsDeps,
  context: Context,
  linkId: string,
  workflow: LinkWorkflow,
) {
  const { workspaceId, scopes } = callerOf(context);
  const graph = graphOf(workflow);
  const passwordOf = ({ id, payload }: Step) =>
    scopes.has("workflows:write") ? openPassword(payload, { key, workspaceId, stepId: id }) : "";
  return (step: Step) => toWorkflowStep(step, { linkId, graph, passwordOf });
}

/** The answer of connecting and disconnecting. */
function connection(
  deps: WorkflowStepsDeps,
  context: Context,
  linkId: string,
  workflow: LinkWorkflow,
  stepId: string,
) {
  const graph = graphOf(workflow);
  const step = stepOf(workflow, stepId, "stepId");
  return {
    workflowStep: stepMessages(deps, context, linkId, workflow)(step),
    disconnectedSteps: unreachableIssues(graph).map(toWorkflowIssue),
    unconnectedBranchIds: unconnectedBranchIds(graph, step),
  };
}

async function moveSteps(
  deps: WorkflowStepsDeps,
  context: Context,
  place: EditPlace,
  newPositions: (workflow: LinkWorkflow) => ReadonlyMap<string, Position>,
) {
  const { before, after } = await editWorkflow(deps, context, place, (workflow) => {
    const positions = newPositions(workflow);
    const steps = workflow.steps.map((step) => ({
      ...step,
      position: positions.get(step.id) ?? step.position,
    }));
    return { ...workflow, steps };
  });
  const positionsBefore = new Map(before.steps.map(({ id, position }) => [id, position]));
  const isMoved = ({ id, position: { x, y } }: Step) =>
    positionsBefore.get(id)?.x !== x || positionsBefore.get(id)?.y !== y;
  return { stepsRepositioned: after.steps.filter(isMoved).length };
}

/** The steps beyond the edge of a page, in the page's order: by time and then by id. */
function stepsAfter(
  steps: readonly Step[],
  after: { readonly key: Date; readonly id: string } | undefined,
): readonly Step[] {
  if (after === undefined) return steps;
  const [time, id] = [after.key.getTime(), after.id.toLowerCase()];
  return steps.filter(
    (step) => step.createdAt.getTime() > time || (step.createdAt.getTime() === time && step.id > id),
  );
}
