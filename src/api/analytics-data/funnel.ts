import type { MessageInitShape } from "@bufbuild/protobuf";
import type { FunnelStepSchema } from "../../../gen/signpost/v1/analytics_data_pb.js";
import type { GetStepFunnelResponseSchema } from "../../../gen/signpost/v1/analytics_data_service_pb.js";
import { EventAction, WorkflowStep_Kind } from "../../../gen/signpost/v1/workflow_step_pb.js";
import type { FunnelCounts, StepCounts } from "../../analytics/question.ts";
import { stepActions } from "../../model/steps/kinds.ts";
import { percentOf } from "../resources/percent.ts";

/** A funnel of what visits did: the entry first, the exits last, and the steps between by their place on the way. */
export function toFunnel(counts: FunnelCounts): MessageInitShape<typeof GetStepFunnelResponseSchema> {
  const steps = counts.steps.toSorted(byPlace);
  return {
    entryVisits: BigInt(counts.visits),
    completionRate: percentOf(counts.completed, counts.visits),
    steps: steps.map((step, index) => toStep(step, steps[index - 1], counts.visits)),
  };
}

const rank = { ENTRY: 0, INTERACTION: 1, CONDITION: 1, EXIT: 2 } as const;

function byPlace(a: StepCounts, b: StepCounts): number {
  const ranks = rank[stepActions[a.action].kind] - rank[stepActions[b.action].kind];
  // Places and visits are whole numbers, so that the products are exact.
  return ranks || a.places * b.visits - b.places * a.visits || (a.action < b.action ? -1 : 1);
}

function toStep(
  { action, visits, occurrences, identified, interactions, choices }: StepCounts,
  previous: StepCounts | undefined,
  entered: number,
): MessageInitShape<typeof FunnelStepSchema> {
  const dropped = previous === undefined ? 0 : previous.visits - (previous.alsoReached[action] ?? 0);
  return {
    stepAction: EventAction[action],
    stepKind: WorkflowStep_Kind[stepActions[action].kind],
    visits: BigInt(visits),
    occurrences: BigInt(occurrences),
    identifiedVisitors: BigInt(identified),
    conversionRate: percentOf(visits, entered),
    dropOffFromPrevious: BigInt(dropped),
    interactions: BigInt(interactions),
    interactionRate: percentOf(interactions, visits),
    branches: choices.map(({ value, count }) => ({
      label: value,
      visits: BigInt(count),
      shareOfStep: percentOf(count, visits),
    })),
  };
}
