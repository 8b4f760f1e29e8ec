import { fromJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { EventTraceDataSchema } from "../../../gen/signpost/v1/event_trace_pb.js";
import { VisitorAttributeType } from "../../../gen/signpost/v1/visitor_pb.js";
import {
  AnswerFault_Kind,
  SimulatedEnd_Kind,
  type SimulatedEndSchema,
  type SimulatedStepSchema,
} from "../../../gen/signpost/v1/workflow_simulation_pb.js";
import { EventAction, WorkflowStep_Kind } from "../../../gen/signpost/v1/workflow_step_pb.js";
import type { SimulateWorkflowResponseSchema } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { stepActions } from "../../model/steps/kinds.ts";
import type { SimulatedStep, Simulation } from "../../workflow/simulate.ts";

/** What came of a simulated visit. */
export function toSimulation({
  path,
  end,
  journey,
  unusedAnswers,
  isPreview,
}: Simulation): MessageInitShape<typeof SimulateWorkflowResponseSchema> {
  const { stepsReached, stepsTotal, outcome } = journey;
  return {
    path: path.map(toSimulatedStep),
    end: toEnd(end, isPreview),
    journey: { stepsReached, stepsTotal, completed: outcome === "COMPLETED" },
    unusedAnswers,
  };
}

function toSimulatedStep(simulated: SimulatedStep): MessageInitShape<typeof SimulatedStepSchema> {
  const { step, branchId, reason, isCompleted, data, saved, refused } = simulated;
  return {
    stepId: step.id,
    eventAction: EventAction[step.action],
    kind: WorkflowStep_Kind[stepActions[step.action].kind],
    branchId,
    reason,
    completed: isCompleted,
    // The data as it would be stored, without undefined fields.
    stepData: fromJson(EventTraceDataSchema, JSON.parse(JSON.stringify(data)) as JsonValue),
    savedAttributes: saved.map(({ type, ...attribute }) => ({
      ...attribute,
      type: VisitorAttributeType[type],
    })),
    refusedAnswers: refused.map(({ status, faults }) => ({
      status,
      faults: [...faults].map(([field, fault]) => ({ field, kind: AnswerFault_Kind[fault] })),
    })),
  };
}

const ends = {
  redirect: SimulatedEnd_Kind.REDIRECT,
  "exit-page": SimulatedEnd_Kind.PAGE,
  interaction: SimulatedEnd_Kind.WAITING,
  fallback: SimulatedEnd_Kind.FALLBACK,
} satisfies Record<Simulation["end"]["kind"], SimulatedEnd_Kind>;

function toEnd(end: Simulation["end"], isPreview: boolean): MessageInitShape<typeof SimulatedEndSchema> {
  return {
    kind: isPreview ? SimulatedEnd_Kind.PREVIEW : ends[end.kind],
    stepId: "step" in end ? end.step.id : "",
    destination: "to" in end ? end.to : "",
  };
}
