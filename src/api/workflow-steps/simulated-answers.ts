import type {
  SimulatedAnswer,
  SimulatedFormAnswer,
} from "../../../gen/signpost/v1/workflow_simulation_pb.js";
import { type Fault, refuse } from "../../lib/errors.ts";
import { stepActions } from "../../model/steps/kinds.ts";
import { readPayload } from "../../model/workflow/read-payload.ts";
import type { StoredStep } from "../../model/workflow/workflow.ts";
import {
  buttonName,
  formFieldName,
  linkName,
  passwordName,
  skipName,
  timerParameter,
} from "../../workflow/answer-fields.ts";
import type { StepAnswer } from "../../workflow/simulate.ts";
import type { Answer, SubmitDeps } from "../../workflow/steps/step.ts";
import { notFound } from "../resources/not-found.ts";

/** A simulation says whether the password is right, instead of giving one, so that nobody can guess passwords by it. */
const rightPassword = "right";
export const simulatedDeps: SubmitDeps = { isPassword: (_step, attempt) => attempt === rightPassword };

/** The answers of a simulation, as pages would post them. Refuses those that no page of the link asks for. */
export function simulatedAnswers(
  steps: readonly StoredStep[],
  given: readonly SimulatedAnswer[],
): StepAnswer[] {
  const stepsById = new Map(steps.map((step) => [step.id, step]));
  const faults: Fault[] = [];
  const answers = given.map(({ stepId, answer }, index): StepAnswer => {
    const place = `answers[${index}]`;
    const step = stepsById.get(stepId.toLowerCase());
    if (step === undefined) throw notFound("workflow step", `${place}.stepId`, stepId, "on this link");
    faults.push(...faultsOf(step, answer, place));
    return { stepId: step.id, answer: posted(step, answer) };
  });
  refuse(faults);
  return answers;
}

function faultsOf(step: StoredStep, answer: SimulatedAnswer["answer"], place: string): Fault[] {
  const fitting: SimulatedAnswer["answer"]["case"] = stepActions[step.action].answeredBy;
  if (fitting === undefined) return [fault(`${place}.stepId`, "the step asks nothing: leave the answer out")];
  if (answer.case !== fitting)
    return [fault(`${place}.${answer.case ?? ""}`, `the step is answered by ${fitting}: give that`)];
  if (answer.case === "form") return formFaults(step, answer.value, `${place}.form`);
  if (answer.case === "proceed" && !answer.value)
    return [fault(`${place}.proceed`, "must be true: leave the answer out for a visitor who stays")];
  return [];
}

function formFaults({ payload }: StoredStep, { fields }: SimulatedFormAnswer, place: string): Fault[] {
  const known = new Set(readPayload("FORM_SUBMIT", payload)?.fields.map(({ id }) => id));
  return fields.flatMap(({ field }, index) =>
    known.has(field)
      ? []
      : [fault(`${place}.fields[${index}].field`, "must be the id of a field of the form")],
  );
}

function fault(field: string, description: string): Fault {
  return { field, description, reason: "INVALID_ARGUMENT" };
}

type Posted = readonly [name: string, values: readonly string[]];

function posted(step: StoredStep, answer: SimulatedAnswer["answer"]): Answer {
  switch (answer.case) {
    case "passwordMatches":
      return new Map([[passwordName, [answer.value ? rightPassword : ""]]]);
    case "form": {
      const fields = answer.value.fields.map(({ field, values }): Posted => [formFieldName(field), values]);
      return new Map(answer.value.skip ? [...fields, [skipName, ["1"]]] : fields);
    }
    case "button":
      return new Map([[buttonName, [answer.value]]]);
    case "socialLink":
      return new Map([[linkName, [answer.value]]]);
    default:
      return new Map(hasTimer(step) ? [[timerParameter, ["1"]]] : []);
  }
}

function hasTimer({ action, payload }: StoredStep): boolean {
  return action === "MESSAGE_PAGE" && readPayload(action, payload)?.navigationType === "TIMER";
}
