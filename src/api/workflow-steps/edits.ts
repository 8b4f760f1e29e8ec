import { type Fault, fail, invalid, refuse } from "../../lib/errors.ts";
import { stepActions } from "../../model/steps/kinds.ts";
import { branchesOf, nextBranchId, type StoredStep } from "../../model/workflow/workflow.ts";
import { closesConditionCycle, graphOf } from "../../model/workflow/workflow-graph.ts";
import { defaultPosition } from "../../model/workflow/workflow-layout.ts";
import { notFound } from "../resources/not-found.ts";
import type { WantedConnection } from "./payload.ts";
import type { LinkWorkflow, Step } from "./queries.ts";

/** How many steps a link has at most. */
const stepsMax = 100;

/** The step with an id. Throws NOT_FOUND. */
export function stepOf({ steps }: LinkWorkflow, id: string, field: string): Step {
  const step = steps.find((each) => each.id === id);
  if (step === undefined) throw notFound("workflow step", field, id, "on this link");
  return step;
}

/** A step to add. Without a position it gets the default one. */
export interface NewStep extends Omit<Step, "position"> {
  readonly position: Step["position"] | undefined;
}

/** Adds a step, connected as its payload says, and before another step when the request names one. */
export function addStep(
  workflow: LinkWorkflow,
  step: NewStep,
  wanted: readonly WantedConnection[],
  insertBefore: string,
): LinkWorkflow {
  const behind = insertBefore === "" ? undefined : stepOf(workflow, insertBefore, "insertBefore");
  if (isEntry(behind))
    throw invalid([
      { field: "insertBefore", description: "must not be the entry step: no step comes before it" },
    ]);
  const leadsBehind = workflow.connections.filter(({ nextStepId }) => nextStepId === behind?.id);
  const parent = workflow.steps.find(({ id }) => leadsBehind.some(({ stepId }) => stepId === id));
  const placed: Step = { ...step, position: step.position ?? defaultPosition(parent?.position) };
  const added = { ...workflow, steps: [...workflow.steps, placed] };
  const connected = connectAll(added, step.id, wanted);
  if (workflow.steps.some(({ id }) => id === step.id))
    throw fail("ALREADY_EXISTS", "ID_TAKEN", `id ${step.id} is in use`, { metadata: { id: step.id } });
  if (workflow.steps.length >= stepsMax)
    throw fail(
      "RESOURCE_EXHAUSTED",
      "LIMIT_REACHED",
      `the link has ${stepsMax} steps: delete one before you add another`,
    );
  if (behind === undefined) return connected;
  return {
    ...connected,
    connections: [
      ...connected.connections.map((each) =>
        each.nextStepId === behind.id ? { ...each, nextStepId: step.id } : each,
      ),
      { stepId: step.id, branchId: nextBranchId, nextStepId: behind.id },
    ],
  };
}

/**
 * Replaces a step. Branches that it no longer has lose their connection. Other branches keep theirs unless `wanted`
 * names another.
 */
export function replaceStep(
  workflow: LinkWorkflow,
  step: Step,
  wanted: readonly WantedConnection[],
): LinkWorkflow {
  const branchIds = new Set(branchesOf(step).map(({ id }) => id));
  const kept = {
    steps: workflow.steps.map((each) => (each.id === step.id ? step : each)),
    connections: workflow.connections.filter(
      ({ stepId, branchId }) => stepId !== step.id || branchIds.has(branchId),
    ),
  };
  return connectAll(kept, step.id, wanted);
}

/** Deletes a step. Branches that led to it lead nowhere. */
export function removeStep(workflow: LinkWorkflow, id: string): LinkWorkflow {
  if (isEntry(stepOf(workflow, id, "id")))
    throw fail(
      "FAILED_PRECONDITION",
      "ENTRY_STEP_REQUIRED",
      `step ${id} is the entry, which every link needs`,
    );
  return {
    steps: workflow.steps.filter((step) => step.id !== id),
    connections: workflow.connections.filter(({ stepId, nextStepId }) => stepId !== id && nextStepId !== id),
  };
}

/** One way out of a step of a workflow. */
export interface BranchOf {
  readonly stepId: string;
  readonly branchId: string;
}

/** Connects a branch to another step. */
export function connectBranch(workflow: LinkWorkflow, branch: BranchOf, nextStepId: string): LinkWorkflow {
  findBranch(workflow, branch);
  return connectAll(workflow, branch.stepId, [
    { field: "nextStepId", branchId: branch.branchId, nextStepId },
  ]);
}

/** Takes the connection of a branch away. */
export function disconnectBranch(workflow: LinkWorkflow, branch: BranchOf): LinkWorkflow {
  findBranch(workflow, branch);
  return { ...workflow, connections: workflow.connections.filter((each) => !isOfBranch(each, branch)) };
}

function findBranch(workflow: LinkWorkflow, { stepId, branchId }: BranchOf): void {
  const step = stepOf(workflow, stepId, "stepId");
  if (branchesOf(step).every(({ id }) => id !== branchId))
    throw fail("NOT_FOUND", "NOT_FOUND", `branchId: step ${stepId} has no branch ${branchId}`);
}

function isOfBranch(connection: BranchOf, { stepId, branchId }: BranchOf): boolean {
  return connection.stepId === stepId && connection.branchId === branchId;
}

/**
 * Connects branches of one step. Whether one of them closes a circle does not depend on the others, because all leave
 * from the same step.
 */
function connectAll(
  workflow: LinkWorkflow,
  stepId: string,
  wanted: readonly WantedConnection[],
): LinkWorkflow {
  if (wanted.length === 0) return workflow;
  const graph = graphOf(workflow);
  const faults = wanted.flatMap(({ field, nextStepId }): Fault[] => {
    if (nextStepId === stepId)
      return [{ field, description: "must not be the step itself", reason: "INVALID_ARGUMENT" }];
    if (isEntry(graph.steps.get(nextStepId)))
      return [{ field, description: "must not be the entry step", reason: "INVALID_ARGUMENT" }];
    if (!closesConditionCycle(graph, stepId, nextStepId)) return [];
    const description =
      "closes a circle of conditions: put a page between them, or connect the branch to another step";
    return [{ field, description, reason: "CONDITION_CYCLE" }];
  });
  refuse(faults);
  for (const { field, nextStepId } of wanted) stepOf(workflow, nextStepId, field);
  const made = wanted.map(({ branchId, nextStepId }) => ({ stepId, branchId, nextStepId }));
  return {
    ...workflow,
    connections: [
      ...workflow.connections.filter((each) => made.every((branch) => !isOfBranch(each, branch))),
      ...made,
    ],
  };
}

function isEntry(step: StoredStep | undefined): boolean {
  return step !== undefined && stepActions[step.action].kind === "ENTRY";
}
