import { parseTarget, type RedirectTarget } from "../links/redirect-target.ts";
import { type PageMedia, pageImage } from "../look/page-image.ts";
import type { SubscriptionType } from "../plans/entitlement.ts";
import { factsByAction, type Payloads, type StepAction, stepActions } from "../steps/kinds.ts";
import type { Lookup } from "../steps/step.ts";
import { type AttributeCapture, readAttributeCapture } from "./attribute-capture.ts";
import { readPayload } from "./read-payload.ts";
import type { StoredConnection, StoredStep } from "./workflow.ts";

/** How much a workspace keeps of its visitors. */
export type DataCollection = "NONE" | "BASIC" | "ADVANCED";

/** The facts of a link that its workflow and its pages may use. */
export interface PlanLink {
  readonly name: string;
  readonly shortlink: string;
  /** The names of its tags, in the order they were given. */
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly purpose: string;
}

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
  /** When a sandbox ends; null for other workspaces. */
  readonly workspaceExpiresAt: Date | null;
  readonly expiresAt: Date | null;
  readonly expiredDestination: string;
  readonly link: PlanLink;
  /** The stored styling of the link's page theme. Null without one. */
  readonly pageTheme: unknown;
  /** The storage keys of the copies of the theme's images. Null without a theme. */
  readonly pageFiles: { readonly badge: unknown; readonly cover: unknown } | null;
  readonly steps: readonly StoredStep[];
  readonly connections: readonly StoredConnection[];
  /** What the plan of the workspace follows from; of a sandbox, those of its parent. */
  readonly subscriptionType: SubscriptionType;
  readonly trialEndsAt: Date | null;
}

/** A step as it is run. */
export type PlanStep = { readonly [Action in StepAction]: PlanStepOf<Action> }[StepAction];

/** A step of one action; see `PlanStep`. */
export interface PlanStepOf<Action extends StepAction> {
  readonly id: string;
  readonly action: Action;
  readonly payload: Payloads[Action];
  /** Step ids by branch id. A branch without an entry is not connected. Every step named here is in the plan. */
  readonly next: ReadonlyMap<string, string>;
  /** The fewest steps from here to an exit, without conditions. 0 at an exit, and where no exit can be reached. */
  readonly stepsToExit: number;
  /** What the step saves to the visitor. Undefined for conditions, and for steps that save nothing. */
  readonly capture: AttributeCapture | undefined;
}

/** What has to be looked up before a walk. */
export type PlanNeeds = { readonly [Name in Lookup]: boolean };

/** What a plan holds in another form than its row. */
type CompiledField =
  | "pageFiles"
  | "steps"
  | "connections"
  | "workspaceExpiresAt"
  | "expiresAt"
  | "expiredDestination"
  | "subscriptionType"
  | "trialEndsAt";

/** Everything that a visit of a link needs to know, without another look at the database. */
export interface Plan extends Omit<PlanRow, CompiledField> {
  /** The address of the short link, without query. */
  readonly entrypoint: string;
  /** When the workspace ends, in milliseconds. Infinite for all but sandboxes. */
  readonly workspaceExpiresAtMs: number;
  /** When the link expires, in milliseconds. Infinite when it never does. */
  readonly expiresAtMs: number;
  /** Where an expired link leads. Undefined for the page that says so. */
  readonly afterExpiry: RedirectTarget | undefined;
  /** Empty when the workflow has no entry. */
  readonly entryStepId: string;
  readonly steps: ReadonlyMap<string, PlanStep>;
  /** What a walk from the entry may ask for before its first stop. */
  readonly needs: PlanNeeds;
  /** What any walk may ask for. */
  readonly needsAfter: PlanNeeds;
  /** Where visitors go whom the workflow cannot serve: the link's fallback, else the domain's root, else nowhere. */
  readonly fallback: RedirectTarget | undefined;
  /** The images of the theme. Undefined for a theme without images, and for a link without pages. */
  readonly media: PageMedia | undefined;
  /** Where the line that names the service leads, at the end of pages. Empty for pages without that line. */
  readonly brandUrl: string;
}

/**
 * Compiles the stored rows of a link. It leaves out steps of actions that this version does not know, and steps with a
 * broken payload. A branch to such a step is not connected.
 */
export function compilePlan(row: PlanRow, entrypoint: string, brandUrl = ""): Plan {
  const { steps: rows, connections, workspaceExpiresAt, expiresAt, expiredDestination, ...others } = row;
  const { subscriptionType: _, trialEndsAt: __, pageFiles, ...rest } = others;
  const readable = rows.flatMap((stored) => readStep(stored) ?? []);
  const next = new Map<string, Map<string, string>>(readable.map(({ id }) => [id, new Map()]));
  for (const { stepId, branchId, nextStepId } of connections)
    if (next.has(nextStepId)) next.get(stepId)?.set(branchId, nextStepId);
  const distances = distancesToExit(readable, next);
  const steps = new Map<string, PlanStep>();
  for (const step of readable) {
    const { id } = step;
    steps.set(id, { ...step, next: next.get(id) ?? new Map(), stepsToExit: distances.get(id) ?? 0 });
  }
  const entryStepId = readable.find(({ action }) => stepActions[action].kind === "ENTRY")?.id ?? "";
  const fallbackDestination = row.fallbackDestination || row.rootDestination;
  return {
    ...rest,
    entrypoint,
    brandUrl,
    media: readable.some(({ action }) => stepActions[action].hasPage) ? mediaOf(pageFiles) : undefined,
    workspaceExpiresAtMs: workspaceExpiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
    expiresAtMs: expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
    afterExpiry: expiredDestination === "" ? undefined : parseTarget(expiredDestination),
    entryStepId,
    steps,
    needs: needsOf(passedFrom(entryStepId, steps)),
    needsAfter: needsOf([...steps.values()]),
    fallback: fallbackDestination === "" ? undefined : parseTarget(fallbackDestination),
  };
}

function mediaOf(files: PlanRow["pageFiles"]): PageMedia | undefined {
  const [badge, cover] = [pageImage(files?.badge), pageImage(files?.cover)];
  return badge === undefined && cover === undefined ? undefined : { badge, cover };
}

/** A step, before it is known where it leads. */
type LoneStep = {
  readonly [Action in StepAction]: Omit<PlanStepOf<Action>, "next" | "stepsToExit">;
}[StepAction];

function readStep({ id, action, payload, attributeCapture }: StoredStep): LoneStep | undefined {
  if (!Object.hasOwn(stepActions, action)) return undefined;
  const read = readPayload(action, payload);
  if (read === undefined) return undefined;
  const capture =
    stepActions[action].kind === "CONDITION" ? undefined : readAttributeCapture(attributeCapture);
  // The payload was read for this action, but the compiler cannot follow that through a union.
  return { id, action, payload: read, capture } as LoneStep;
}

/** The steps that a walk may pass or reach from here before the visitor has to answer. */
function passedFrom(id: string, steps: ReadonlyMap<string, PlanStep>): PlanStep[] {
  const found = new Set<PlanStep>();
  const waiting = [id];
  for (let stepId = waiting.pop(); stepId !== undefined; stepId = waiting.pop()) {
    const step = steps.get(stepId);
    if (step === undefined || found.has(step)) continue;
    found.add(step);
    if (stepActions[step.action].kind !== "INTERACTION" || skipsItself(step))
      waiting.push(...step.next.values());
  }
  return [...found];
}

function needsOf(steps: readonly PlanStep[]): PlanNeeds {
  const lookups = new Set(steps.flatMap(lookupsOf));
  return { visitType: lookups.has("visitType"), visitor: lookups.has("visitor") };
}

function lookupsOf<Action extends StepAction>({ action, payload }: PlanStepOf<Action>): readonly Lookup[] {
  return factsByAction[action].lookupsOf(payload);
}

function skipsItself<Action extends StepAction>({ action, payload }: PlanStepOf<Action>): boolean {
  return factsByAction[action].skipsItself(payload);
}

/**
 * Finds the shortest ways by repeated relaxation. There are at most 100 steps, compiled once for each change of a link.
 */
function distancesToExit(
  steps: readonly LoneStep[],
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
