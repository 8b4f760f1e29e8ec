import { beforeEach, expect, test } from "vitest";
import { WorkflowStepsService } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { ask } from "../../../test/support/ask.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";

const api = await startApi();

let workspace: TestWorkspace;
let link: string;
let entry: string;
let redirect: string;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  const { json } = await workspace.rest("POST", "/v1/links", { destination: "https://example.com" });
  link = json.link.id;
  [entry, redirect] = json.workflowSteps.map(({ id }: { id: string }) => id);
});

const steps = () => `/v1/links/${link}/workflow-steps`;

async function add(eventAction: string, payload: object = {}, more: object = {}) {
  const body = { eventAction: `EVENT_ACTION_${eventAction}`, payload, ...more };
  const { status, json } = await workspace.rest("POST", steps(), body);
  expect(status, JSON.stringify(json)).toBe(200);
  return json.workflowStep;
}

async function connect(stepId: string, branchId: string, nextStepId: string) {
  const path = `${steps()}/${stepId}/branches/${encodeURIComponent(branchId)}/connection`;
  return workspace.rest("PUT", path, { nextStepId });
}

async function disconnect(stepId: string, branchId: string) {
  return workspace.rest("DELETE", `${steps()}/${stepId}/branches/${encodeURIComponent(branchId)}/connection`);
}

async function read(id: string) {
  return (await workspace.rest("GET", `${steps()}/${id}`)).json.workflowStep;
}

async function issues() {
  return (await workspace.rest("GET", `${steps()}/validate`)).json.issues;
}

const unreachable = { severity: "warning", message: expect.stringContaining("no visit reaches") };

test.each(["rest", "grpc"] as const)("a connection to nothing is refused over %s", async (protocol) => {
  const at = { linkId: link, stepId: entry, branchId: "next" };
  for (const given of [{}, { nextStepId: "" }]) {
    const request = { ...at, ...given };
    const method = WorkflowStepsService.method.connectStep;
    const refused = await ask(api, protocol, method, request, workspace.token);
    expect(refused).toMatchObject({ reason: "INVALID_ID" });
    expect(refused.message).toContain("nextStepId");
  }
});

test("connecting answers the step, what nothing reaches any more, and what leads nowhere", async () => {
  const page = await add("MULTI_LINK", { multiLink: { buttons: [{ id: "a b/c" }, { id: "b" }] } });
  const { status, json } = await connect(entry, "next", page.id);
  expect(status).toBe(200);
  expect(json).toMatchObject({
    workflowStep: { id: entry, childStepIds: [page.id] },
    disconnectedSteps: [{ ...unreachable, stepId: redirect, stepType: "EVENT_ACTION_CLIENT_REDIRECT" }],
    unconnectedBranchIds: [],
  });
  const again = await connect(page.id, "a b/c", redirect);
  expect(again.json).toMatchObject({
    workflowStep: {
      branches: [
        { branchId: "a b/c", nextStepId: redirect },
        { branchId: "b", nextStepId: "" },
      ],
    },
    disconnectedSteps: [],
    unconnectedBranchIds: ["b"],
  });
});

test("connecting to the present target changes nothing", async () => {
  const before = await read(entry);
  expect((await connect(entry, "next", redirect)).json.workflowStep).toEqual(before);
});

test("disconnecting answers the cleared branch among those that lead nowhere, and succeeds twice", async () => {
  for (let times = 0; times < 2; times++) {
    const { status, json } = await disconnect(entry, "next");
    expect(status).toBe(200);
    expect(json).toMatchObject({
      workflowStep: { id: entry, branches: [{ branchId: "next", nextStepId: "" }], childStepIds: [] },
      disconnectedSteps: [{ stepId: redirect }],
      unconnectedBranchIds: ["next"],
    });
  }
  expect((await read(redirect)).parentStepIds).toEqual([]);
});

test("gRPC connects and disconnects alike", async () => {
  const client = workspace.client(WorkflowStepsService);
  const { disconnectedSteps, unconnectedBranchIds } = await client.disconnectStep({
    linkId: link,
    stepId: entry,
    branchId: "next",
  });
  expect([disconnectedSteps.map(({ stepId }) => stepId), unconnectedBranchIds]).toEqual([
    [redirect],
    ["next"],
  ]);
  const back = await client.connectStep({
    linkId: link,
    stepId: entry,
    branchId: "next",
    nextStepId: redirect,
  });
  expect(back.workflowStep?.childStepIds).toEqual([redirect]);
  expect(back.disconnectedSteps).toEqual([]);
});

test("a step inserted before another takes over what led there and leads there by `next`", async () => {
  const condition = await add("COUNTRY_CONDITION", {
    countryCondition: { countries: [{ countryCode: "DE", nextStepId: redirect }], elseNextStepId: redirect },
  });
  await workspace.rest("PATCH", `${steps()}/${entry}`, { canvasPosition: { x: 40, y: 8 } });
  const form = await add("FORM_SUBMIT", {}, { insertBefore: redirect.toUpperCase() });
  expect(form).toMatchObject({
    branches: [{ branchId: "next", nextStepId: redirect }],
    parentStepIds: [entry, condition.id],
    childStepIds: [redirect],
    canvasPosition: { x: 360, y: 8 },
  });
  expect((await read(redirect)).parentStepIds).toEqual([form.id]);
  expect((await read(entry)).childStepIds).toEqual([form.id]);
  expect((await read(condition.id)).payload.countryCondition).toEqual({
    countries: [{ countryCode: "DE", nextStepId: form.id }],
    elseNextStepId: form.id,
  });
});

test("a step inserted before one that nothing leads to lies at 0, 0 unless it is placed", async () => {
  const lone = await add("CLIENT_REDIRECT");
  expect((await add("FORM_SUBMIT", {}, { insertBefore: lone.id })).canvasPosition).toEqual({ x: 0, y: 0 });
  const placed = await add("FORM_SUBMIT", {}, { insertBefore: lone.id, canvasPosition: { x: -3, y: 4 } });
  expect(placed.canvasPosition).toEqual({ x: -3, y: 4 });
});

test("a deleted step leaves unconnected branches behind, and the steps after it", async () => {
  const form = await add("FORM_SUBMIT", {}, { insertBefore: redirect });
  const { status, json } = await workspace.rest("DELETE", `${steps()}/${form.id}`);
  expect([status, json]).toEqual([200, {}]);
  expect((await read(entry)).branches).toEqual([{ branchId: "next", label: "next step", nextStepId: "" }]);
  expect((await read(redirect)).parentStepIds).toEqual([]);
  expect((await workspace.rest("DELETE", `${steps()}/${form.id}`)).status).toBe(404);
  const rows = await api.db
    .selectFrom("workflow_connections")
    .selectAll()
    .where("link_id", "=", link)
    .execute();
  expect(rows).toEqual([]);
});

test("steps may lead to each other in a circle when an interaction is among them", async () => {
  const condition = await add("COUNTRY_CONDITION");
  const form = await add("FORM_SUBMIT");
  expect((await connect(form.id, "next", condition.id)).status).toBe(200);
  expect((await connect(condition.id, "else", form.id)).status).toBe(200);
});

test("a circle of three conditions is refused where it closes, however it is made", async () => {
  const conditions = [];
  for (let count = 0; count < 3; count++) conditions.push((await add("COUNTRY_CONDITION")).id);
  const [first, second, third] = conditions;
  expect((await connect(first, "else", second)).status).toBe(200);
  expect((await connect(second, "else", third)).status).toBe(200);
  expect((await connect(third, "else", first)).json.error.codeType).toBe("CONDITION_CYCLE");
  // The connection that would close the circle may replace one that is part of it.
  expect((await disconnect(first, "else")).status).toBe(200);
  expect((await connect(third, "else", first)).status).toBe(200);
});

test("a sound workflow has no issues", async () => {
  expect(await issues()).toEqual([]);
});

test("an entry that leads nowhere and an exit that cannot be reached are errors", async () => {
  await disconnect(entry, "next");
  expect(await issues()).toEqual([
    {
      severity: "error",
      stepId: entry,
      stepType: "EVENT_ACTION_LINK_VISIT",
      message: expect.stringContaining("entry leads nowhere"),
    },
    {
      severity: "error",
      stepId: entry,
      stepType: "EVENT_ACTION_LINK_VISIT",
      message: expect.stringContaining("no exit"),
    },
    { ...unreachable, stepId: redirect, stepType: "EVENT_ACTION_CLIENT_REDIRECT" },
  ]);
});

test("steps that nothing reaches and branches that lead nowhere are warnings", async () => {
  const buttons = [
    { id: "a", label: "Shop", nextStepId: redirect },
    { id: "b", label: "Menu" },
  ];
  const page = await add("MULTI_LINK", { multiLink: { buttons } });
  expect(await issues()).toMatchObject([
    {
      severity: "warning",
      stepId: page.id,
      message: expect.stringContaining("branch b (Menu) leads nowhere"),
    },
    { ...unreachable, stepId: page.id },
  ]);
  await connect(entry, "next", page.id);
  expect(await issues()).toMatchObject([{ severity: "warning", stepId: page.id }]);
});

test("steps that lead only to each other are not reached", async () => {
  const [one, two] = [await add("FORM_SUBMIT"), await add("FORM_SUBMIT")];
  const fields = { payload: { form: { formFields: [{ key: "name" }] } } };
  for (const { id } of [one, two]) await workspace.rest("PATCH", `${steps()}/${id}`, fields);
  await connect(one.id, "next", two.id);
  await connect(two.id, "next", one.id);
  expect(await issues()).toMatchObject([
    { ...unreachable, stepId: one.id },
    { ...unreachable, stepId: two.id },
  ]);
});

test("payloads that cannot work are saved, and are errors", async () => {
  const broken: [string, object, string][] = [
    ["CLIENT_REDIRECT", {}, "no destination"],
    ["PASSWORD_VERIFY", {}, "no password"],
    ["FORM_SUBMIT", {}, "no fields"],
    [
      "FORM_SUBMIT",
      { form: { formFields: [{ key: "color", label: "Color", type: "FORM_FIELD_TYPE_RADIO" }] } },
      "field Color has no options",
    ],
    ["MULTI_LINK", {}, "no buttons"],
    ["CONTACT_CARD", { vcard: { organization: "Example" } }, "no name"],
    ["SOCIAL_LINKS_PAGE", {}, "no links to show"],
    ["SOCIAL_LINKS_PAGE", { socialLinks: { links: [{ platform: "github" }] } }, "no links to show"],
    [
      "DAY_OF_WEEK_CONDITION",
      { dayOfWeekCondition: { options: [{ name: "Never" }] } },
      '"Never" has no days',
    ],
    ["DEVICE_TYPE_CONDITION", { deviceTypeCondition: { options: [{ name: "Any" }] } }, '"Any" has no value'],
  ];
  for (const [action, payload, words] of broken) {
    const { id } = await add(action, payload);
    expect(await issues()).toContainEqual({
      severity: "error",
      stepId: id,
      stepType: `EVENT_ACTION_${action}`,
      message: expect.stringContaining(words),
    });
  }
});

test("validating and reading change nothing", async () => {
  const before = await api.db.selectFrom("links").selectAll().where("id", "=", link).execute();
  await issues();
  await read(entry);
  expect(await api.db.selectFrom("links").selectAll().where("id", "=", link).execute()).toEqual(before);
});

test("auto-layout arranges columns of 360 and rows of 200 from the entry, and again moves nothing", async () => {
  const page = await add("MULTI_LINK", { multiLink: { buttons: [{ id: "a" }, { id: "b" }] } });
  const [form, card, lone] = [await add("FORM_SUBMIT"), await add("CONTACT_CARD"), await add("CONTACT_CARD")];
  await connect(entry, "next", page.id);
  await connect(page.id, "a", form.id);
  await connect(page.id, "b", card.id);
  await connect(form.id, "next", redirect);
  const arrange = async () => (await workspace.rest("POST", `${steps()}/auto-layout`)).json;
  expect(await arrange()).toEqual({ stepsRepositioned: 5 });
  const positions = new Map<string, object>();
  for (const { id, canvasPosition } of (await workspace.rest("GET", steps())).json.workflowSteps)
    positions.set(id, canvasPosition);
  expect(Object.fromEntries(positions)).toEqual({
    [entry]: { x: 0, y: 0 },
    [page.id]: { x: 360, y: 0 },
    [form.id]: { x: 720, y: 0 },
    [redirect]: { x: 1080, y: 0 },
    [card.id]: { x: 720, y: 200 },
    [lone.id]: { x: 0, y: 400 },
  });
  expect(await arrange()).toEqual({ stepsRepositioned: 0 });
});

test("resolving collisions moves what overlaps and leaves the anchor and what is clear", async () => {
  const at = (x: number, y: number) => ({ canvasPosition: { x, y } });
  const near = await add("FORM_SUBMIT", {}, at(100, 0));
  const clear = await add("FORM_SUBMIT", {}, at(5_000, 0));
  const { json } = await workspace.rest("POST", `${steps()}/${entry}/resolve-collisions`);
  // The redirect lies at 320, 0, where the other steps are pushed to.
  expect(json.stepsRepositioned).toBeGreaterThanOrEqual(1);
  expect((await read(entry)).canvasPosition).toEqual({ x: 0, y: 0 });
  expect((await read(clear.id)).canvasPosition).toEqual({ x: 5_000, y: 0 });
  expect((await read(near.id)).canvasPosition.x).toBeGreaterThanOrEqual(280);
  const again = await workspace.rest("POST", `${steps()}/${entry}/resolve-collisions`);
  expect(again.json).toEqual({ stepsRepositioned: 0 });
});
