import { stepActions } from "../steps/kinds.ts";
import { branchesOf, elseBranchId, type StoredConnection, type StoredStep } from "./workflow.ts";

/** The workflow of a link: steps in the order they were made, connections in any order. */
export interface Workflow<Step extends StoredStep = StoredStep> {
  readonly steps: readonly Step[];
  readonly connections: readonly StoredConnection[];
}

/** A workflow as a graph. Connections from or to missing steps are left out. */
export interface Graph {
  readonly steps: ReadonlyMap<string, StoredStep>;
  /**
   * Step ids by branch id, for each step that they leave from, in the order of its branches. Only connected branches
   * are in it.
   */
  readonly next: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** The ids of the steps with a branch to a step, in the order they were made. */
  readonly parents: ReadonlyMap<string, readonly string[]>;
}

export function graphOf({ steps, connections }: Workflow): Graph {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const targets = new Map<string, Map<string, string>>(steps.map(({ id }) => [id, new Map()]));
  for (const { stepId, branchId, nextStepId } of connections)
    if (byId.has(nextStepId)) targets.get(stepId)?.set(branchId, nextStepId);
  const next = new Map<string, Map<string, string>>();
  const parents = new Map<string, string[]>(steps.map(({ id }) => [id, []]));
  for (const step of steps) {
    const ways = new Map<string, string>();
    for (const { id } of branchesOf(step)) {
      const target = targets.get(step.id)?.get(id);
      if (target !== undefined) ways.set(id, target);
    }
    next.set(step.id, ways);
    for (const target of new Set(ways.values())) parents.get(target)?.push(step.id);
  }
  return { steps: byId, next, parents };
}

/** The ids of the steps that a step has a branch to, in the order of its branches. */
export function childrenOf({ next }: Graph, stepId: string): string[] {
  return [...new Set(next.get(stepId)?.values())];
}

/** The ids of the branches of a step that lead nowhere. */
export function unconnectedBranchIds({ next }: Graph, step: StoredStep): string[] {
  const connected = next.get(step.id);
  return branchesOf(step)
    .map(({ id }) => id)
    .filter((id) => connected?.has(id) !== true);
}

/** Whether a connection of two different steps would close a circle of conditions, in which a visit would never end. */
export function closesConditionCycle(graph: Graph, stepId: string, nextStepId: string): boolean {
  const isCondition = (id: string) => {
    const action = graph.steps.get(id)?.action;
    return action !== undefined && stepActions[action].kind === "CONDITION";
  };
  if (!isCondition(stepId)) return false;
  return reachableFrom(nextStepId, (id) => (isCondition(id) ? childrenOf(graph, id) : [])).has(stepId);
}

/** The steps that no visit can reach, in the order they were made. */
export function unreachableSteps(graph: Graph): StoredStep[] {
  const steps = [...graph.steps.values()];
  const entry = steps.find(({ action }) => stepActions[action].kind === "ENTRY");
  const reached = entry && reachableFrom(entry.id, (id) => childrenOf(graph, id));
  return steps.filter(({ id }) => reached?.has(id) !== true);
}

/** A step and every step that ways lead to from it. */
function reachableFrom(start: string, waysFrom: (id: string) => readonly string[]): Set<string> {
  const reached = new Set([start]);
  // Iterating a set also visits what is added to it meanwhile.
  for (const id of reached) for (const nextId of waysFrom(id)) reached.add(nextId);
  return reached;
}

/** Something in a workflow that visitors would stumble over. */
export interface Issue {
  /** `error` when no visitor gets through, `warning` when some do not. */
  readonly severity: "error" | "warning";
  readonly step: StoredStep;
  /** What is wrong and how to mend it, in words for people. */
  readonly message: string;
}

/** An issue for every step that no visit can reach. */
export function unreachableIssues(graph: Graph): Issue[] {
  return unreachableSteps(graph).map((step) => ({
    severity: "warning",
    step,
    message: "no visit reaches this step: connect a branch to it, or delete it",
  }));
}

/**
 * Everything that visitors of a workflow would stumble over. `payloadFaults` gives what is wrong with the payload of a
 * step, in words.
 */
export function workflowIssues(
  graph: Graph,
  payloadFaults: (step: StoredStep) => readonly string[],
): Issue[] {
  const steps = [...graph.steps.values()];
  const ways = steps.flatMap((step) => [
    ...payloadFaults(step).map((message): Issue => ({ severity: "error", step, message })),
    ...unconnectedIssues(graph, step),
  ]);
  return [...ways, ...exitIssues(graph), ...unreachableIssues(graph)];
}

function unconnectedIssues(graph: Graph, step: StoredStep): Issue[] {
  const labels = new Map(branchesOf(step).map(({ id, label }) => [id, label]));
  return unconnectedBranchIds(graph, step).map((id) =>
    stepActions[step.action].kind === "ENTRY"
      ? {
          severity: "error",
          step,
          message: "the entry leads nowhere, and every visitor gets the fallback: connect it",
        }
      : {
          severity: "warning",
          step,
          message: `${nameOf(id, labels.get(id))} leads nowhere, and visitors who take it get the fallback: connect it`,
        },
  );
}

function nameOf(branchId: string, label = ""): string {
  if (branchId === elseBranchId || label === "" || label === branchId) return `branch ${branchId}`;
  return `branch ${branchId} (${label})`;
}

function exitIssues(graph: Graph): Issue[] {
  const unreachable = new Set(unreachableSteps(graph));
  const reached = [...graph.steps.values()].filter((step) => !unreachable.has(step));
  const entry = reached.find(({ action }) => stepActions[action].kind === "ENTRY");
  if (entry === undefined || reached.some(({ action }) => stepActions[action].kind === "EXIT")) return [];
  return [
    {
      severity: "error",
      step: entry,
      message: "no exit can be reached from the entry: connect a redirect or a closing page",
    },
  ];
}
