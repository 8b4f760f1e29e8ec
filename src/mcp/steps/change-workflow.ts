import type {
  AddedStep,
  ChangedStep,
  ConnectedBranch,
  DisconnectedBranch,
  WorkflowChange,
} from "../../../gen/signpost/tasks/v1/workflow_tasks_pb.js";
import type { Link } from "../../../gen/signpost/v1/link_pb.js";
import {
  EventAction,
  EventActionSchema,
  type WorkflowStep,
} from "../../../gen/signpost/v1/workflow_step_pb.js";
import { WorkflowStepsService } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { type Fault, invalidArgument, refuse } from "../../lib/errors.ts";
import { faultsIn, type Steps, write } from "./task.ts";
import { shortName } from "./words.ts";

const { create, update, connectStep, disconnectStep } = WorkflowStepsService.method;

/** What changes of one workflow know: its steps by id, and by the names that the changes gave them. */
interface Known {
  readonly link: Link;
  readonly steps: Map<string, WorkflowStep>;
  /** Steps by `ref`; undefined until they are made. */
  readonly refs: Map<string, WorkflowStep | undefined>;
}

/**
 * Makes changes in their order, and says of each what it did. Changes that name steps or branches that there are not are
 * refused before the first is made. With `dryRun` it only says what it would do.
 */
export function* applyChanges(
  link: Link,
  steps: readonly WorkflowStep[],
  changes: readonly WorkflowChange[],
  dryRun: boolean,
): Steps<string[]> {
  const known: Known = { link, steps: new Map(steps.map((step) => [step.id, step])), refs: new Map() };
  const faults = changes.flatMap(({ change }, index) => faultsOf(known, change, `changes[${index}]`));
  for (const [index, { change }] of changes.entries())
    faults.push(...(yield* payloadFaults(known, change, `changes[${index}]`)));
  refuse(faults);
  if (dryRun) return changes.map(({ change }) => plannedLine(change));
  const made: string[] = [];
  for (const [index, { change }] of changes.entries()) made.push(yield* makeChange(known, change, index));
  return made;
}

type Change = WorkflowChange["change"];

function* makeChange(known: Known, change: Change, index: number): Steps<string> {
  const at = `changes[${index}]`;
  switch (change.case) {
    case "add":
      return yield* addStep(known, change.value, at);
    case "update":
      return yield* updateStep(known, change.value, at);
    case "connect":
      return yield* connect(known, change.value, at);
    case "disconnect":
      return yield* disconnect(known, change.value, at);
    default:
      return "";
  }
}

function* addStep(known: Known, { ref, action, payload, before }: AddedStep, at: string): Steps<string> {
  const name = actionName(action);
  const { workflowStep } = yield* write(
    `add ${name} of ${at}`,
    create,
    {
      linkId: known.link.id,
      eventAction: EventActionSchema.value[action]?.name,
      ...(payload && { payload }),
      ...(before !== "" && { insertBefore: stepOf(known, before).id }),
    },
    (answer) => `${at}: the step ${name} was added (${answer.workflowStep?.id})`,
  );
  if (workflowStep === undefined) throw new Error("an answer lacks its step");
  known.steps.set(workflowStep.id, workflowStep);
  if (ref !== "") known.refs.set(ref, workflowStep);
  return `added ${name} (${workflowStep.id})${before === "" ? "" : ` before ${before}`}`;
}

function* updateStep(known: Known, { step, payload }: ChangedStep, at: string): Steps<string> {
  const { id, eventAction } = stepOf(known, step);
  const name = actionName(eventAction);
  const answer = yield* write(
    `change ${name} of ${at}`,
    update,
    { linkId: known.link.id, id, ...(payload && { payload }) },
    () => `${at}: the step ${name} was changed (${id})`,
  );
  if (answer.workflowStep !== undefined) known.steps.set(id, answer.workflowStep);
  return `changed ${name} (${id})`;
}

function* connect(known: Known, { step, branch, to }: ConnectedBranch, at: string): Steps<string> {
  const from = stepOf(known, step);
  const [branchId, next] = [branchOf(from, branch), stepOf(known, to)];
  const line = `branch ${branchId} of ${actionName(from.eventAction)} leads to ${actionName(next.eventAction)}`;
  yield* write(
    `connect the branch of ${at}`,
    connectStep,
    { linkId: known.link.id, stepId: from.id, branchId, nextStepId: next.id },
    () => `${at}: ${line}`,
  );
  return line;
}

function* disconnect(known: Known, { step, branch }: DisconnectedBranch, at: string): Steps<string> {
  const from = stepOf(known, step);
  const branchId = branchOf(from, branch);
  const line = `branch ${branchId} of ${actionName(from.eventAction)} leads nowhere`;
  yield* write(
    `disconnect the branch of ${at}`,
    disconnectStep,
    { linkId: known.link.id, stepId: from.id, branchId },
    () => `${at}: ${line}`,
  );
  return line;
}

/** The step that an id or a `ref` names; the changes are checked before the first is made. */
function stepOf({ steps, refs }: Known, named: string): WorkflowStep {
  const step = refs.get(named) ?? steps.get(named);
  if (step === undefined) throw new Error(`the step ${named} was not made`);
  return step;
}

/** The id of the branch that an id or a label names; what is unknown is the operation's to refuse. */
function branchOf({ branches }: WorkflowStep, named: string): string {
  const branch = named || "next";
  if (branches.some(({ branchId }) => branchId === branch)) return branch;
  return branches.find(({ label }) => label.toLowerCase() === branch.toLowerCase())?.branchId ?? branch;
}

/** What is wrong with the settings that a change gives. */
function* payloadFaults({ link, steps }: Known, change: Change, at: string): Steps<Fault[]> {
  if (change.case !== "add" && change.case !== "update") return [];
  const payload = change.value.payload === undefined ? {} : { payload: change.value.payload };
  const known = change.case === "update" && steps.has(change.value.step);
  const [method, request] =
    change.case === "add"
      ? [create, { linkId: link.id, eventAction: EventActionSchema.value[change.value.action]?.name }]
      : [update, { linkId: link.id, id: known ? change.value.step : link.id }];
  const violations = yield* faultsIn(method, { ...request, ...payload });
  return violations.map(({ field, description }) =>
    invalidArgument(`${at}.${change.case}.${field}`, description),
  );
}

/** What a change names that there is not. It also notes the `ref` of an added step, for the changes after it. */
function faultsOf(known: Known, change: Change, at: string): Fault[] {
  const unknown = (field: string, named: string) =>
    unknownStep(known, `${at}.${change.case}.${field}`, named);
  switch (change.case) {
    case "add": {
      const { ref, before } = change.value;
      const faults = before === "" ? [] : unknown("before", before);
      if (ref === "") return faults;
      const isTaken = known.refs.has(ref);
      known.refs.set(ref, undefined);
      return isTaken ? [...faults, invalidArgument(`${at}.add.ref`, "is the name of another step")] : faults;
    }
    case "update":
      return unknown("step", change.value.step);
    case "connect":
      return [...unknown("step", change.value.step), ...unknown("to", change.value.to)];
    case "disconnect":
      return unknown("step", change.value.step);
    default:
      return [];
  }
}

function unknownStep({ steps, refs }: Known, field: string, named: string): Fault[] {
  if (steps.has(named) || refs.has(named)) return [];
  const ids = [...steps.values()].map(({ id, eventAction }) => `${actionName(eventAction)} ${id}`);
  const listed = ids.length > 8 ? "read the workflow without changes first" : `there are ${ids.join(", ")}`;
  return [invalidArgument(field, `is neither a step of the link nor a ref before it: ${listed}`)];
}

function plannedLine(change: Change): string {
  switch (change.case) {
    case "add": {
      const { action, before } = change.value;
      return `add ${actionName(action)}${before === "" ? "" : ` before ${before}`}`;
    }
    case "update":
      return `change ${change.value.step}`;
    case "connect":
      return `connect ${change.value.branch || "next"} of ${change.value.step} to ${change.value.to}`;
    case "disconnect":
      return `disconnect ${change.value.branch || "next"} of ${change.value.step}`;
    default:
      return "";
  }
}

function actionName(action: EventAction): string {
  return shortName(EventAction, action);
}
