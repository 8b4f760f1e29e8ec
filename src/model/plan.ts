import { parseTarget, type RedirectTarget } from "./redirect-target.ts";
import {
  redirectPayload,
  type StepAction,
  type StoredConnection,
  type StoredStep,
  stepActions,
} from "./workflow.ts";

/** How much a workspace keeps of its visitors. */
export type DataCollection = "NONE" | "BASIC" | "ADVANCED";

/** What a plan is compiled from; steps and connections in any order. */
export interface PlanRow {
  readonly workspaceId: string;
  readonly linkId: string;
  /** The custom domain, or empty for the service's own short host. */
  readonly host: string;
  readonly shortlink: string;
  readonly environment: "live" | "test";
  readonly timezone: string;
  readonly dataCollection: DataCollection;
  readonly fallbackDestination: string;
  readonly rootDestination: string;
  readonly expiresAt: Date | null;
  readonly steps: readonly StoredStep[];
  readonly connections: readonly StoredConnection[];
}

/** A step as it is run. */
export interface PlanStep extends StoredStep {
  /** Step ids by branch id; a branch without one is not connected. */
  readonly next: ReadonlyMap<string, string>;
  /** The fewest steps, conditions not counted, from here to an exit; 0 at an exit and where none can be reached. */
  readonly stepsToExit: number;
  /** Set for CLIENT_REDIRECT steps with a destination. */
  readonly redirect: PlanRedirect | undefined;
}

export interface PlanRedirect {
  readonly target: RedirectTarget;
  readonly conversionTracking: boolean;
}

/** Everything that a visit of a link needs to know, without another look at the database. */
export interface Plan extends Omit<PlanRow, "steps" | "connections" | "expiresAt"> {
  /** Address of the short link, without query. */
  readonly entrypoint: string;
  /** When the workspace ends, in milliseconds; infinite for all but sandboxes. */
  readonly expiresAtMs: number;
  /** Empty when the workflow has no entry. */
  readonly entryStepId: string;
  readonly steps: ReadonlyMap<string, PlanStep>;
  /** Where visitors go whom the workflow cannot serve: the link's fallback, else the domain's root, else nowhere. */
  readonly fallback: RedirectTarget | undefined;
}

/** Compiles the stored rows of a link. Steps of actions that this version does not know are left out, as if missing. */
export function compilePlan(row: PlanRow, entrypoint: string): Plan {
  const { steps: rows, connections, expiresAt, ...rest } = row;
  const known = rows.filter(({ action }) => Object.hasOwn(stepActions, action));
  const branches = new Map<string, Map<string, string>>(known.map(({ id }) => [id, new Map()]));
  for (const { stepId, branchId, nextStepId } of connections) branches.get(stepId)?.set(branchId, nextStepId);
  const distances = distancesToExit(known, branches);
  const steps = new Map(
    known.map((step): [string, PlanStep] => [
      step.id,
      {
        ...step,
        next: branches.get(step.id) ?? new Map(),
        stepsToExit: distances.get(step.id) ?? 0,
        redirect: redirectOf(step),
      },
    ]),
  );
  const fallbackDestination = row.fallbackDestination || row.rootDestination;
  return {
    ...rest,
    entrypoint,
    expiresAtMs: expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
    entryStepId: known.find(({ action }) => action === "LINK_VISIT")?.id ?? "",
    steps,
    fallback: fallbackDestination === "" ? undefined : parseTarget(fallbackDestination),
  };
}

function redirectOf({ action, payload }: StoredStep): PlanRedirect | undefined {
  if (action !== "CLIENT_REDIRECT") return undefined;
  const { destination, conversionTracking } = redirectPayload(payload);
  return destination === "" ? undefined : { target: parseTarget(destination), conversionTracking };
}

/** Shortest ways by repeated relaxation: at most 100 steps, compiled once per change of a link. */
function distancesToExit(
  steps: readonly StoredStep[],
  branches: ReadonlyMap<string, ReadonlyMap<string, string>>,
): Map<string, number> {
  const actions = new Map<string, StepAction>(steps.map(({ id, action }) => [id, action]));
  const distances = new Map<string, number>();
  for (const { id, action } of steps) if (stepActions[action].kind === "EXIT") distances.set(id, 0);
  for (let changed = true; changed; ) {
    changed = false;
    for (const [id, next] of branches) {
      for (const nextId of next.values()) {
        const beyond = distances.get(nextId);
        const action = actions.get(nextId);
        if (beyond === undefined || action === undefined) continue;
        const distance = beyond + (stepActions[action].kind === "CONDITION" ? 0 : 1);
        if (distance >= (distances.get(id) ?? Number.POSITIVE_INFINITY)) continue;
        distances.set(id, distance);
        changed = true;
      }
    }
  }
  return distances;
}
