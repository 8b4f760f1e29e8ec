import type { StepAction } from "../../src/model/steps/kinds.ts";
import type { AttributeType } from "../../src/model/workflow/attribute-capture.ts";
import { compilePlan, type Plan, type PlanRow } from "../../src/model/workflow/plan.ts";
import type { StoredConnection, StoredStep } from "../../src/model/workflow/workflow.ts";
import type { KnownAttributes, Visit, VisitDevice } from "../../src/workflow/visit.ts";

/** A step as it would be stored. */
export function storedStep<Action extends StepAction>(
  id: string,
  action: Action,
  payload: unknown = {},
  attributeCapture?: unknown,
): StoredStep {
  return { id, action, payload, attributeCapture };
}

export const entryStep = storedStep("entry", "LINK_VISIT");

/** A redirect to `https://example.com/<id>`. */
export function redirectStep(id: string, conversionTracking = false): StoredStep {
  return storedStep(id, "CLIENT_REDIRECT", { destination: `https://example.com/${id}`, conversionTracking });
}

/** Connections written as `step.branch → next`: `{ "entry.next": "redirect" }`. */
export type Wires = Readonly<Record<string, string>>;

export function connectionsOf(wires: Wires): StoredConnection[] {
  return Object.entries(wires).map(([from, nextStepId]) => {
    const dot = from.indexOf(".");
    return { stepId: from.slice(0, dot), branchId: from.slice(dot + 1), nextStepId };
  });
}

/** The plan of a link with these steps. */
export function planOf(steps: readonly StoredStep[], wires: Wires, row: Partial<PlanRow> = {}): Plan {
  const base: PlanRow = {
    workspaceId: "workspace",
    linkId: "link",
    host: "",
    shortlink: "menu",
    environment: "live",
    timezone: "UTC",
    dataCollection: "BASIC",
    fallbackDestination: "",
    rootDestination: "",
    workspaceExpiresAt: null,
    expiresAt: null,
    expiredDestination: "",
    link: { name: "Menu", shortlink: "menu", tags: [], metadata: {}, purpose: "" },
    pageTheme: null,
    pageFiles: null,
    steps,
    connections: connectionsOf(wires),
    subscriptionType: "ENTERPRISE_PLAN",
    trialEndsAt: null,
  };
  return compilePlan({ ...base, ...row }, "https://go.example/menu");
}

export interface SeenBy extends Partial<Omit<Visit, "country" | "device">> {
  readonly country?: string;
  readonly device?: Partial<VisitDevice>;
}

/** The known attributes of a visitor, captured as texts unless given otherwise. */
export function knownAttributes(
  values: Readonly<Record<string, string>>,
  types: Readonly<Record<string, AttributeType>> = {},
): KnownAttributes {
  const entries = Object.entries(values);
  return new Map(entries.map(([key, value]) => [key, { value, type: types[key] ?? "STRING" }]));
}

/** A visit of a person without any other known facts. */
export function visitOf({ country = "", device = {}, ...seen }: SeenBy = {}): Visit {
  const unknown: VisitDevice = {
    deviceType: "UNKNOWN",
    deviceActor: "HUMAN",
    platformName: "",
    browserName: "",
    deviceBrand: "",
  };
  return {
    query: "",
    lbid: () => "AZJ4mJx0cHOxu8xGVRAGRg",
    dataCollection: "BASIC",
    visitType: "FIRST",
    country: () => country,
    device: () => ({ ...unknown, ...device }),
    attributes: undefined,
    ...seen,
  };
}
