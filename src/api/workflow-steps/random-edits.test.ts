import fc from "fast-check";
import { expect, test } from "vitest";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { type StepAction, stepActions } from "../../model/steps/kinds.ts";
import { branchesOf } from "../../model/workflow/workflow.ts";
import { closesConditionCycle, graphOf } from "../../model/workflow/workflow-graph.ts";

const api = await startApi();
const workspace: TestWorkspace = await api.newWorkspace();

const targets = fc.nat(30);
const choices = fc.array(fc.record({ id: fc.nat(3), target: fc.option(targets) }), { maxLength: 4 });
type Choices = typeof choices extends fc.Arbitrary<infer C> ? C : never;

/** An edit. It names steps by numbers, which are taken modulo the number of steps when the edit is made. */
const edit = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("create"),
      action: fc.nat(30),
      before: fc.option(targets, { freq: 1 }),
      choices,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("connect"), step: targets, branch: fc.nat(5), target: targets }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("payload"), step: targets, choices }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("disconnect"), step: targets, branch: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete"), step: targets }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("arrange"), step: targets }) },
  // Conditions that lead to each other, which are rare otherwise.
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("chain"), step: targets, branch: fc.nat(5), target: targets }),
  },
);
type Edit = typeof edit extends fc.Arbitrary<infer E> ? E : never;

interface Step {
  readonly id: string;
  readonly eventAction: string;
  readonly payload: Record<string, Record<string, unknown>>;
  readonly branches: readonly { readonly branchId: string; readonly nextStepId: string }[];
  readonly parentStepIds: readonly string[];
  readonly childStepIds: readonly string[];
}

const creatable = Object.keys(stepActions).filter((action) => action !== "LINK_VISIT") as StepAction[];

function actionOf({ eventAction }: Step): StepAction {
  return eventAction.replace("EVENT_ACTION_", "") as StepAction; // the service's own
}

function at<Item>(items: readonly Item[], position: number): Item {
  const item = items[position % items.length];
  if (item === undefined) throw new Error("nothing to choose from");
  return item;
}

const countries = ["DE", "AT", "CH", "FR"];
const visitTypes = ["VISIT_TYPE_FIRST", "VISIT_TYPE_RETURNING"];

/** A payload whose branches lead to steps at the given positions. Some of the ids come up twice and are refused. */
function payloadOf(action: StepAction, list: Choices, steps: readonly Step[]): object {
  const items = list.map(({ id, target }) => ({
    ...(target === null ? {} : { nextStepId: at(steps, target).id }),
    ...fieldsOf(action, id),
  }));
  const name = stepActions[action].payload;
  if (action === "MULTI_LINK") return { [name]: { buttons: items } };
  if (action === "COUNTRY_CONDITION") return { [name]: { countries: items } };
  if (action === "TIME_OF_DAY_CONDITION") return { [name]: { ranges: items } };
  if (stepActions[action].kind === "CONDITION") return { [name]: { options: items } };
  if (action === "MESSAGE_PAGE")
    return { [name]: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" } };
  return { [name]: action === "THANK_YOU_PAGE" ? { title: "Bye" } : {} };
}

function fieldsOf(action: StepAction, id: number): object {
  switch (action) {
    case "COUNTRY_CONDITION":
      return { countryCode: countries[id] };
    case "VISIT_TYPE_CONDITION":
      return { value: visitTypes[id % 2] };
    case "TIME_OF_DAY_CONDITION":
      return { id: id === 0 ? "" : `c${id}`, startTime: "08:00", endTime: "09:00" };
    case "DAY_OF_MONTH_CONDITION":
      return { id: id === 0 ? "" : `c${id}`, dayOfMonth: 1 };
    case "SPECIFIC_DATE_CONDITION":
      return { id: id === 0 ? "" : `c${id}`, month: 1, day: 1 };
    case "VISITOR_DATA_CONDITION":
      return { id: id === 0 ? "" : `c${id}`, attributeKey: "color", operator: "EXISTS" };
    default:
      return { id: id === 0 ? "" : `c${id}` };
  }
}

async function apply(base: string, edited: Edit, steps: readonly Step[]) {
  if (edited.kind === "create") {
    const action = at(creatable, edited.action);
    const insertBefore = edited.before === null ? "" : at(steps, edited.before).id;
    const payload = payloadOf(action, edited.choices, steps);
    return workspace.rest("POST", base, { eventAction: `EVENT_ACTION_${action}`, payload, insertBefore });
  }
  const conditions = steps.filter((each) => stepActions[actionOf(each)].kind === "CONDITION");
  const among = edited.kind === "chain" && conditions.length > 0 ? conditions : steps;
  const step = at(among, edited.step);
  const path = `${base}/${step.id}`;
  switch (edited.kind) {
    case "payload":
      return workspace.rest("PATCH", path, { payload: payloadOf(actionOf(step), edited.choices, steps) });
    case "delete":
      return workspace.rest("DELETE", path);
    case "arrange":
      return workspace.rest("POST", `${path}/resolve-collisions`);
    default: {
      const branch = step.branches.length === 0 ? "next" : at(step.branches, edited.branch).branchId;
      const connection = `${path}/branches/${branch}/connection`;
      return edited.kind === "disconnect"
        ? workspace.rest("DELETE", connection)
        : workspace.rest("PUT", connection, { nextStepId: at(among, edited.target).id });
    }
  }
}

async function stepsOf(base: string): Promise<Step[]> {
  return (await workspace.rest("GET", base)).json.workflowSteps;
}

/** Every `nextStepId` and `elseNextStepId` of a payload that is not empty, in any order. */
function targetsIn({ payload }: Step): string[] {
  return [...JSON.stringify(payload).matchAll(/"(?:elseN|n)extStepId":"([^"]+)"/g)]
    .map(([, id = ""]) => id)
    .toSorted(byText);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

async function checkInvariants(link: string, steps: readonly Step[]) {
  const entries = steps.filter(({ eventAction }) => eventAction === "EVENT_ACTION_LINK_VISIT");
  expect(entries).toHaveLength(1);
  expect(entries[0]?.parentStepIds).toEqual([]);
  const byId = new Map(steps.map((step) => [step.id, step]));
  for (const step of steps) {
    const action = actionOf(step);
    const stored = step.payload[stepActions[action].payload];
    expect(step.branches.map(({ branchId }) => branchId)).toEqual(
      branchesOf({ action, payload: stored }).map(({ id }) => id),
    );
    expect(new Set(step.branches.map(({ branchId }) => branchId)).size).toBe(step.branches.length);
    const connected = step.branches.map(({ nextStepId }) => nextStepId).filter((id) => id !== "");
    expect(connected.filter((id) => !byId.has(id) || id === step.id)).toEqual([]);
    expect(step.childStepIds).toEqual([...new Set(connected)]);
    for (const child of connected) expect(byId.get(child)?.parentStepIds).toContain(step.id);
    for (const parent of step.parentStepIds) expect(byId.get(parent)?.childStepIds).toContain(step.id);
    if (stepActions[action].nodeType === "COMPOSITE")
      expect(targetsIn(step)).toEqual(connected.toSorted(byText));
  }
  const connections = steps.flatMap(({ id: stepId, branches }) =>
    branches.flatMap(({ branchId, nextStepId }) =>
      nextStepId === "" ? [] : [{ stepId, branchId, nextStepId }],
    ),
  );
  const rows = await api.db
    .selectFrom("workflow_connections")
    .selectAll()
    .where("link_id", "=", link)
    .execute();
  expect(rows).toHaveLength(connections.length);
  const stored = steps.map((step) => {
    const action = actionOf(step);
    return { id: step.id, action, payload: step.payload[stepActions[action].payload] };
  });
  const graph = graphOf({ steps: stored, connections });
  expect(
    connections.filter(({ stepId, nextStepId }) => closesConditionCycle(graph, stepId, nextStepId)),
  ).toEqual([]);
}

test("whatever is edited, the workflow holds together, and what is refused changes nothing", async () => {
  const outcomes = new Map<string, number>();
  const sequences = fc.asyncProperty(fc.array(edit, { minLength: 25, maxLength: 40 }), async (edits) => {
    const { link } = (await workspace.rest("POST", "/v1/links", { destination: "https://example.com" })).json;
    const base = `/v1/links/${link.id}/workflow-steps`;
    let steps = await stepsOf(base);
    for (const edited of edits) {
      const { status, json } = await apply(base, edited, steps);
      const outcome = `${edited.kind} ${status === 200 ? "done" : json.error.codeType}`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      expect([200, 400, 404, 412], JSON.stringify(json)).toContain(status);
      const after = await stepsOf(base);
      if (status !== 200) expect(after).toEqual(steps);
      steps = after;
    }
    await checkInvariants(link.id, steps);
    expect((await workspace.rest("GET", `${base}/validate`)).status).toBe(200);
    expect((await workspace.rest("POST", `${base}/auto-layout`)).status).toBe(200);
  });
  await fc.assert(sequences, { seed: 20_261_121, numRuns: 25 });
  // The test is of use only when enough edits of each kind are made, and refused.
  for (const kind of ["create", "connect", "payload", "disconnect", "delete", "chain"])
    expect(outcomes.get(`${kind} done`), kind).toBeGreaterThan(10);
  for (const outcome of ["chain CONDITION_CYCLE", "create INVALID_ARGUMENT", "payload INVALID_ARGUMENT"])
    expect(outcomes.get(outcome), outcome).toBeGreaterThan(5);
}, 120_000);
