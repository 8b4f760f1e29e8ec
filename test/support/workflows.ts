import type { RestApi } from "./rest-api.ts";

/** A step to make, under a name that the test chooses. */
export interface StepPlan {
  /** The action without `EVENT_ACTION_`. */
  readonly action: string;
  readonly payload?: object;
  readonly capture?: object;
  /**
   * Names of steps by branch; a string stands for the branch `next`. A branch of a button or an option is named by its
   * label.
   */
  readonly next?: string | Readonly<Record<string, string>>;
}

export interface MadeWorkflow {
  readonly linkId: string;
  readonly shortlink: string;
  /** Step ids by name; the entry is `entry`. */
  readonly steps: Readonly<Record<string, string>>;
}

interface StepAnswer {
  readonly id: string;
  readonly eventAction: string;
  readonly branches: readonly { readonly branchId: string; readonly label: string }[];
}

/**
 * Makes a link with a workflow through the public interface. `first` is the step after the entry. A step named
 * `redirect` that the plan does not describe is the redirect of every new link, to https://example.com/.
 */
export async function makeWorkflow(
  api: RestApi,
  first: string,
  steps: Readonly<Record<string, StepPlan>>,
  request: object = {},
): Promise<MadeWorkflow> {
  const created = await api.call<{ link: { id: string; shortlink: string }; workflowSteps: StepAnswer[] }>(
    "POST",
    "/v1/links",
    { destination: "https://example.com/", ...request },
  );
  const { id: linkId, shortlink } = created.link;
  const made = new Map<string, StepAnswer>();
  for (const step of created.workflowSteps)
    made.set(step.eventAction === "EVENT_ACTION_LINK_VISIT" ? "entry" : "redirect", step);
  const path = `/v1/links/${linkId}/workflow-steps`;
  for (const [name, { action, payload, capture }] of Object.entries(steps)) {
    const body = {
      eventAction: `EVENT_ACTION_${action}`,
      ...(payload && { payload }),
      ...(capture && { attributeCapture: capture }),
    };
    const { workflowStep } = await api.call<{ workflowStep: StepAnswer }>("POST", path, body);
    made.set(name, workflowStep);
  }
  const known = (name: string): StepAnswer => {
    const step = made.get(name);
    if (step === undefined) throw new Error(`no step is called ${name}`);
    return step;
  };
  const connect = (from: StepAnswer, branchId: string, to: string) =>
    api.call("PUT", `${path}/${from.id}/branches/${encodeURIComponent(branchId)}/connection`, {
      nextStepId: known(to).id,
    });
  await connect(known("entry"), "next", first);
  for (const [name, { next = {} }] of Object.entries(steps)) {
    const from = known(name);
    for (const [branch, to] of Object.entries(typeof next === "string" ? { next } : next)) {
      const found = from.branches.find(({ branchId, label }) => branchId === branch || label === branch);
      if (found === undefined) throw new Error(`${name} has no branch ${branch}`);
      await connect(from, found.branchId, to);
    }
  }
  return { linkId, shortlink, steps: Object.fromEntries([...made].map(([name, { id }]) => [name, id])) };
}
