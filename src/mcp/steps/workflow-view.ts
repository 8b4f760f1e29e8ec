import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WorkflowSchema } from "../../../gen/signpost/tasks/v1/workflow_tasks_pb.js";
import type { WorkflowIssue } from "../../../gen/signpost/v1/workflow_issue_pb.js";
import {
  EventAction,
  type WorkflowStep,
  WorkflowStep_Kind,
} from "../../../gen/signpost/v1/workflow_step_pb.js";
import { WorkflowStepsService } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { read, type Steps } from "./task.ts";
import { cut, shortName } from "./words.ts";

/** How much of a label or an address is shown, in characters. */
const labelMax = 200;

/** The operations that show a workflow. */
export const workflowReading = [
  WorkflowStepsService.method.list,
  WorkflowStepsService.method.validateWorkflow,
] as const;

/** A link's steps in the order of the visit, and the faults of its workflow. */
export interface ReadWorkflow {
  readonly steps: readonly WorkflowStep[];
  readonly issues: readonly WorkflowIssue[];
}

/** Reads a link's workflow. A workflow has at most 100 steps, which are one page. */
export function* readWorkflow(linkId: string): Steps<ReadWorkflow> {
  const { workflowSteps } = yield* read("read the workflow", WorkflowStepsService.method.list, { linkId });
  const { issues } = yield* read("look for faults", WorkflowStepsService.method.validateWorkflow, { linkId });
  return { steps: inOrder(workflowSteps), issues };
}

/** The steps by their distance from the entry; those that no visit reaches come last. */
export function inOrder(steps: readonly WorkflowStep[]): WorkflowStep[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const entry = steps.filter(({ kind }) => kind === WorkflowStep_Kind.ENTRY);
  const reached = new Set(entry);
  // The set grows while it is walked, so that every step reached is looked at once.
  for (const step of reached) {
    for (const { nextStepId } of step.branches) {
      const next = byId.get(nextStepId);
      if (next !== undefined) reached.add(next);
    }
  }
  return [...reached, ...steps.filter((step) => !reached.has(step))];
}

/** A workflow in short. */
export function workflowOf({ steps, issues }: ReadWorkflow): MessageInitShape<typeof WorkflowSchema> {
  return {
    steps: steps.map((step) => ({
      id: step.id,
      action: shortName(EventAction, step.eventAction),
      label: labelOf(step),
      branches: step.branches.map(({ branchId, label, nextStepId }) => ({
        id: branchId,
        label: cut(label, labelMax),
        next: nextStepId,
      })),
    })),
    faults: issues.map(({ severity, stepId, message }) => ({ severity, step: stepId, message })),
  };
}

/** A workflow as lines of text: its faults, then a number for each step, and where its branches lead. */
export function workflowLines({ steps, issues }: ReadWorkflow): string[] {
  const numbers = new Map(steps.map(({ id }, index) => [id, index + 1]));
  const faults = issues.map(({ severity, stepId, message }) => {
    const number = numbers.get(stepId);
    return `${severity}${number === undefined ? "" : ` at step ${number}`}: ${message}`;
  });
  return [
    ...(faults.length === 0 ? ["No faults."] : faults),
    ...steps.map((step, index) => {
      const label = labelOf(step);
      const ways = step.branches.map(
        ({ branchId, label: name, nextStepId }) =>
          `${name === "next step" ? branchId : `"${name}"`} → ${numbers.get(nextStepId) ?? "nowhere"}`,
      );
      const title = label === "" ? "" : ` "${label}"`;
      return `${index + 1}. ${shortName(EventAction, step.eventAction)}${title} [${step.id}] ${ways.join(", ") || "ends"}`;
    }),
  ];
}

/** What tells a step from others of its kind: its title, where it leads, or whose card it shows. */
function labelOf({ payload }: WorkflowStep): string {
  // Every kind has some of these settings, or none.
  const settings = (payload?.variant.value ?? {}) as Labels;
  const { destination, formTitle, title, firstName = "", lastName = "" } = settings;
  // A card's title is a position held.
  return cut(`${firstName} ${lastName}`.trim() || destination || formTitle || title || "", labelMax);
}

/** The settings of a step of any kind that name it for people. */
interface Labels {
  readonly destination?: string;
  readonly formTitle?: string;
  readonly title?: string;
  readonly firstName?: string;
  readonly lastName?: string;
}
