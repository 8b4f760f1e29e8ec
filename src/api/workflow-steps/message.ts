import { fromJson, type JsonObject, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { WorkflowIssueSchema } from "../../../gen/signpost/v1/workflow_issue_pb.js";
import {
  type AttributeCapture,
  AttributeCaptureSchema,
  EventAction,
  WorkflowStep_Kind,
  WorkflowStep_NodeType,
  type WorkflowStepSchema,
} from "../../../gen/signpost/v1/workflow_step_pb.js";
import { type StepAction, stepActions } from "../../model/steps/kinds.ts";
import { branchesOf } from "../../model/workflow/workflow.ts";
import { childrenOf, type Graph, type Issue } from "../../model/workflow/workflow-graph.ts";
import { toPayload } from "./payload.ts";
import type { Step } from "./queries.ts";

/** What the message of a step needs beside the step. */
export interface StepMessageOptions {
  readonly linkId: string;
  /** The graph of the workflow that the step belongs to. */
  readonly graph: Graph;
  /** What to show as the password of a PASSWORD_VERIFY step. */
  readonly passwordOf: (step: Step) => string;
}

export function toWorkflowStep(
  step: Step,
  { linkId, graph, passwordOf }: StepMessageOptions,
): MessageInitShape<typeof WorkflowStepSchema> {
  const { kind, nodeType } = stepActions[step.action];
  const next = graph.next.get(step.id);
  const shown =
    step.action === "PASSWORD_VERIFY" ? { ...step.payload, password: passwordOf(step) } : step.payload;
  return {
    id: step.id,
    linkId,
    eventAction: EventAction[step.action],
    kind: WorkflowStep_Kind[kind],
    nodeType: WorkflowStep_NodeType[nodeType],
    payload: toPayload(step.action, shown, next),
    ...(step.capture === null
      ? {}
      : { attributeCapture: fromJson(AttributeCaptureSchema, step.capture, { ignoreUnknownFields: true }) }),
    branches: branchesOf(step).map(({ id, label }) => ({
      branchId: id,
      label,
      nextStepId: next?.get(id) ?? "",
    })),
    parentStepIds: [...(graph.parents.get(step.id) ?? [])],
    childStepIds: childrenOf(graph, step.id),
    canvasPosition: step.position,
    createdAt: timestampFromDate(step.createdAt),
    updatedAt: timestampFromDate(step.updatedAt),
  };
}

export function toWorkflowIssue({
  severity,
  step,
  message,
}: Issue): MessageInitShape<typeof WorkflowIssueSchema> {
  return { severity, stepId: step.id, stepType: `EVENT_ACTION_${step.action}`, message };
}

/** The bare name of an action. Undefined for UNSPECIFIED. */
export function fromEventAction(action: EventAction): StepAction | undefined {
  // A number that is no value of the enum has no name.
  const name = EventAction[action] as keyof typeof EventAction | undefined;
  return name === "UNSPECIFIED" ? undefined : name;
}

/** What a step captures, as it is stored. Null for an empty message. */
export function fromCapture(capture: AttributeCapture | undefined): JsonObject | null {
  if (capture === undefined || (!capture.enabled && capture.writes.length === 0)) return null;
  // A message that is no well-known type is written as an object.
  return toJson(AttributeCaptureSchema, capture, { alwaysEmitImplicit: true }) as JsonObject;
}
