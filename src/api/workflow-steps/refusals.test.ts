import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { WorkflowStepsService } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { ask } from "../../../test/support/ask.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";

const api = await startApi();
const operations = WorkflowStepsService.method;

type Operation = keyof typeof operations;

/** What the rows refer to: a link with entry, redirect, form, multi-link and two conditions. */
interface Ids {
  readonly link: string;
  readonly entry: string;
  readonly redirect: string;
  readonly form: string;
  readonly multiLink: string;
  /** Its branch `else` leads to `country`. */
  readonly weekday: string;
  readonly country: string;
  /** A link of the same workspace, and a step of it. */
  readonly otherLink: string;
  readonly otherStep: string;
}

let workspace: TestWorkspace;
let ids: Ids;

beforeAll(async () => {
  workspace = await api.newWorkspace();
  const newLink = async () =>
    (await workspace.rest("POST", "/v1/links", { destination: "https://example.com" })).json;
  const [first, other] = [await newLink(), await newLink()];
  const link = first.link.id;
  const add = async (eventAction: string, payload: object) => {
    const body = { eventAction: `EVENT_ACTION_${eventAction}`, payload };
    const { status, json } = await workspace.rest("POST", `/v1/links/${link}/workflow-steps`, body);
    expect(status, JSON.stringify(json)).toBe(200);
    return json.workflowStep.id;
  };
  const country = await add("COUNTRY_CONDITION", {
    countryCondition: { countries: [{ countryCode: "DE" }] },
  });
  ids = {
    link,
    entry: first.workflowSteps[0].id,
    redirect: first.workflowSteps[1].id,
    form: await add("FORM_SUBMIT", { form: { formTitle: "Hello" } }),
    multiLink: await add("MULTI_LINK", { multiLink: { buttons: [{ id: "shop", label: "Shop" }] } }),
    weekday: await add("DAY_OF_WEEK_CONDITION", {
      dayOfWeekCondition: { options: [{ id: "weekend", daysOfWeek: [0, 6] }], elseNextStepId: country },
    }),
    country,
    otherLink: other.link.id,
    otherStep: other.workflowSteps[1].id,
  };
});

type Row = readonly [
  operation: Operation,
  rule: string,
  request: (ids: Ids) => JsonObject,
  reason: string,
  /** The path of the field with which the message begins. Empty when no field is to blame. */
  field: string,
];

const uuid = () => randomUUID();

/** A call that creates a step with this action and payload. */
function creating(eventAction: string, payload: JsonObject = {}, more: JsonObject = {}): Row[2] {
  return ({ link }) => ({ linkId: link, eventAction: `EVENT_ACTION_${eventAction}`, payload, ...more });
}

function buttons(...list: JsonObject[]): JsonObject {
  return { multiLink: { buttons: list } };
}

const stage = { key: "stage", value: "seen" };
const choice = { key: "choice", value: "{{choice.label}}" };
const invalid = "INVALID_ARGUMENT";

const rows: Row[] = [
  // Exactly one entry step.
  ["create", "a second entry step", creating("LINK_VISIT"), invalid, "eventAction"],
  ["create", "no action", ({ link }) => ({ linkId: link }), invalid, "eventAction"],
  [
    "delete",
    "deleting the entry step",
    ({ link, entry }) => ({ linkId: link, id: entry }),
    "ENTRY_STEP_REQUIRED",
    "",
  ],
  // Connecting.
  [
    "connectStep",
    "connecting to the entry step",
    ({ link, form, entry }) => ({ linkId: link, stepId: form, branchId: "next", nextStepId: entry }),
    invalid,
    "nextStepId",
  ],
  [
    "connectStep",
    "connecting to the step itself",
    ({ link, form }) => ({ linkId: link, stepId: form, branchId: "next", nextStepId: form }),
    invalid,
    "nextStepId",
  ],
  [
    "connectStep",
    "connecting to the step itself in capitals",
    ({ link, form }) => ({ linkId: link, stepId: form, branchId: "next", nextStepId: form.toUpperCase() }),
    invalid,
    "nextStepId",
  ],
  [
    "connectStep",
    "an unknown branch",
    ({ link, form, redirect }) => ({ linkId: link, stepId: form, branchId: "else", nextStepId: redirect }),
    "NOT_FOUND",
    "branchId",
  ],
  [
    "connectStep",
    "a branch of an exit",
    ({ link, form, redirect }) => ({ linkId: link, stepId: redirect, branchId: "next", nextStepId: form }),
    "NOT_FOUND",
    "branchId",
  ],
  [
    "disconnectStep",
    "an unknown branch to disconnect",
    ({ link, multiLink }) => ({ linkId: link, stepId: multiLink, branchId: "next" }),
    "NOT_FOUND",
    "branchId",
  ],
  [
    "connectStep",
    "connecting to a step of another link",
    ({ link, form, otherStep }) => ({ linkId: link, stepId: form, branchId: "next", nextStepId: otherStep }),
    "NOT_FOUND",
    "nextStepId",
  ],
  [
    "connectStep",
    "connecting a step of another link",
    ({ link, redirect, otherStep }) => ({
      linkId: link,
      stepId: otherStep,
      branchId: "next",
      nextStepId: redirect,
    }),
    "NOT_FOUND",
    "stepId",
  ],
  [
    "connectStep",
    "connecting to nothing",
    ({ link, form }) => ({ linkId: link, stepId: form, branchId: "next", nextStepId: "" }),
    "INVALID_ID",
    "nextStepId",
  ],
  // Circles of conditions.
  [
    "connectStep",
    "a circle of conditions by connecting",
    ({ link, country, weekday }) => ({ linkId: link, stepId: country, branchId: "DE", nextStepId: weekday }),
    "CONDITION_CYCLE",
    "nextStepId",
  ],
  [
    "update",
    "a circle of conditions by a payload",
    ({ link, country, weekday }) => ({
      linkId: link,
      id: country,
      payload: {
        countryCondition: { countries: [{ countryCode: "DE" }, { countryCode: "AT", nextStepId: weekday }] },
      },
    }),
    "CONDITION_CYCLE",
    "payload.countryCondition.countries[1].nextStepId",
  ],
  [
    "update",
    "a circle of conditions by `else`",
    ({ link, country, weekday }) => ({
      linkId: link,
      id: country,
      payload: { countryCondition: { elseNextStepId: weekday } },
    }),
    "CONDITION_CYCLE",
    "payload.countryCondition.elseNextStepId",
  ],
  // Ways onward in payloads follow the rules of connecting.
  [
    "create",
    "a payload that leads to the entry step",
    (own) => creating("MULTI_LINK", buttons({ nextStepId: own.entry }))(own),
    invalid,
    "payload.multiLink.buttons[0].nextStepId",
  ],
  [
    "create",
    "a payload that leads to its own step",
    (own) => {
      const id = uuid();
      return creating("MULTI_LINK", buttons({}, { nextStepId: id }), { id })(own);
    },
    invalid,
    "payload.multiLink.buttons[1].nextStepId",
  ],
  [
    "create",
    "a payload that leads to a step of another link",
    (own) => creating("MULTI_LINK", buttons({ nextStepId: own.otherStep }))(own),
    "NOT_FOUND",
    "payload.multiLink.buttons[0].nextStepId",
  ],
  [
    "create",
    "an `else` that leads nowhere known",
    creating("DEVICE_TYPE_CONDITION", { deviceTypeCondition: { elseNextStepId: uuid() } }),
    "NOT_FOUND",
    "payload.deviceTypeCondition.elseNextStepId",
  ],
  // Inserting.
  [
    "create",
    "inserting before the entry step",
    (own) => creating("FORM_SUBMIT", {}, { insertBefore: own.entry })(own),
    invalid,
    "insertBefore",
  ],
  [
    "create",
    "inserting an exit before a step",
    (own) => creating("CLIENT_REDIRECT", {}, { insertBefore: own.redirect })(own),
    invalid,
    "insertBefore",
  ],
  [
    "create",
    "inserting a multi-link before a step",
    (own) => creating("MULTI_LINK", {}, { insertBefore: own.redirect })(own),
    invalid,
    "insertBefore",
  ],
  [
    "create",
    "inserting a condition before a step",
    (own) => creating("COUNTRY_CONDITION", {}, { insertBefore: own.redirect })(own),
    invalid,
    "insertBefore",
  ],
  [
    "create",
    "inserting before an unknown step",
    creating("FORM_SUBMIT", {}, { insertBefore: uuid() }),
    "NOT_FOUND",
    "insertBefore",
  ],
  [
    "create",
    "inserting before a step of another link",
    (own) => creating("FORM_SUBMIT", {}, { insertBefore: own.otherStep })(own),
    "NOT_FOUND",
    "insertBefore",
  ],
  // What an update changes.
  [
    "update",
    "a payload of another action in an update",
    ({ link, form }) => ({ linkId: link, id: form, payload: { clientRedirect: {} } }),
    invalid,
    "payload.clientRedirect",
  ],
  [
    "update",
    "an update with an empty payload",
    ({ link, form }) => ({ linkId: link, id: form, payload: {} }),
    invalid,
    "payload",
  ],
  // Ids and places.
  [
    "create",
    "the nil UUID as the id of a step, under which fallbacks leave their traces",
    creating("FORM_SUBMIT", { form: {} }, { id: "00000000-0000-0000-0000-000000000000" }),
    invalid,
    "id",
  ],
  [
    "update",
    "a short link of the service with a final dot as destination",
    ({ link, redirect }) => ({
      linkId: link,
      id: redirect,
      payload: { clientRedirect: { destination: "https://Short.Test./4BnH-R19p" } },
    }),
    "INVALID_DESTINATION",
    "payload.clientRedirect.destination",
  ],
  ...["ms-msdt:/id", "search-ms:query=a", "intent://a#Intent;end", "jar:https://a.example/b!/"].map(
    (url): Row => [
      "create",
      `${url} as a social link`,
      creating("SOCIAL_LINKS_PAGE", { socialLinks: { links: [{ url }] } }),
      "INVALID_DESTINATION",
      "payload.socialLinks.links[0].url",
    ],
  ),
  [
    "create",
    "a position off the canvas",
    creating("FORM_SUBMIT", {}, { canvasPosition: { x: 1e9, y: 0 } }),
    invalid,
    "canvasPosition.x",
  ],
  [
    "update",
    "a short link of the service as destination",
    ({ link, redirect }) => ({
      linkId: link,
      id: redirect,
      payload: { clientRedirect: { destination: "https://short.test/4BnH-R19p" } },
    }),
    "INVALID_DESTINATION",
    "payload.clientRedirect.destination",
  ],
  [
    "update",
    "capture on a condition by an update",
    ({ link, country }) => ({ linkId: link, id: country, attributeCapture: { writes: [stage] } }),
    invalid,
    "attributeCapture",
  ],
  [
    "update",
    "a choice on the entry step",
    ({ link, entry }) => ({ linkId: link, id: entry, attributeCapture: { writes: [choice] } }),
    invalid,
    "attributeCapture.writes[0].value",
  ],
  ["create", "an id in use", (own) => creating("FORM_SUBMIT", {}, { id: own.form })(own), "ID_TAKEN", ""],
  ["create", "an id that is no UUID", creating("FORM_SUBMIT", {}, { id: "7" }), "INVALID_ID", "id"],
  ["get", "an unknown step", ({ link }) => ({ linkId: link, id: uuid() }), "NOT_FOUND", "id"],
  [
    "get",
    "a step of another link",
    ({ link, otherStep }) => ({ linkId: link, id: otherStep }),
    "NOT_FOUND",
    "id",
  ],
  [
    "update",
    "an unknown step to change",
    ({ link }) => ({ linkId: link, id: uuid(), payload: { form: {} } }),
    "NOT_FOUND",
    "id",
  ],
  ["delete", "an unknown step to delete", ({ link }) => ({ linkId: link, id: uuid() }), "NOT_FOUND", "id"],
  [
    "resolveStepCollisions",
    "an unknown anchor",
    ({ link }) => ({ linkId: link, stepId: uuid() }),
    "NOT_FOUND",
    "stepId",
  ],
  ["list", "an unknown link to list", () => ({ linkId: uuid() }), "NOT_FOUND", "linkId"],
  ["validateWorkflow", "an unknown link to validate", () => ({ linkId: uuid() }), "NOT_FOUND", "linkId"],
  ["autoLayoutWorkflow", "an unknown link to arrange", () => ({ linkId: uuid() }), "NOT_FOUND", "linkId"],
];

describe.each(["rest", "grpc"] as const)("over %s", (protocol) => {
  test.each(rows)("%s refuses %s", async (operation, _, request, reason, field) => {
    const before = await stepsOf(ids.link);
    const answer = await ask(api, protocol, operations[operation], request(ids), workspace.token);
    expect(answer).toMatchObject({ reason, message: expect.stringMatching(/./) });
    expect(answer.message.slice(0, field.length)).toBe(field);
    expect(await stepsOf(ids.link)).toEqual(before);
  });
});

async function stepsOf(link: string) {
  return (await workspace.rest("GET", `/v1/links/${link}/workflow-steps`)).json;
}

test("two variants in one payload are refused", async () => {
  const payload = { form: {}, password: {} };
  const body = { eventAction: "EVENT_ACTION_FORM_SUBMIT", payload };
  const { status, json } = await workspace.rest("POST", `/v1/links/${ids.link}/workflow-steps`, body);
  expect([status, json.error.codeType]).toEqual([400, "INVALID_ARGUMENT"]);
  expect(json.error.message).toContain("payload.password: must not be given together with form");
});

test("a mask that names what no update changes is refused", async () => {
  const steps = workspace.client(WorkflowStepsService);
  for (const path of ["event_action", "payload.form.title", "branches"])
    await expect(
      steps.update({ linkId: ids.link, id: ids.form, updateMask: { paths: [path] } }),
    ).rejects.toThrow(/updateMask/);
});

test("a step to another workspace's link or step is what one to an unknown id is", async () => {
  const theirs = await api.newWorkspace();
  const made = await theirs.rest("POST", "/v1/links", { destination: "https://example.com" });
  const foreign = made.json.workflowSteps[1].id;
  for (const id of [foreign, uuid()]) {
    const body = { eventAction: "EVENT_ACTION_MULTI_LINK", payload: buttons({ nextStepId: id }) };
    const { json } = await workspace.rest("POST", `/v1/links/${ids.link}/workflow-steps`, body);
    expect(json.error.message).toBe(
      `payload.multiLink.buttons[0].nextStepId: there is no workflow step ${id} on this link`,
    );
  }
});

test("the 101st step of a link is refused with LIMIT_REACHED", async () => {
  const { link } = (await workspace.rest("POST", "/v1/links", { destination: "https://example.com" })).json;
  const add = () =>
    workspace.rest("POST", `/v1/links/${link.id}/workflow-steps`, {
      eventAction: "EVENT_ACTION_FORM_SUBMIT",
    });
  for (let count = 2; count < 100; count++) expect((await add()).status).toBe(200);
  const { status, json, headers } = await add();
  expect([status, json.error.codeType, headers["retry-after"]]).toEqual([429, "LIMIT_REACHED", undefined]);
  expect((await stepsOf(link.id)).workflowSteps).toHaveLength(100);
});

test("a step that would make its workflow larger than 1 MiB is refused with LIMIT_REACHED, over REST and gRPC", async () => {
  const { link } = (await workspace.rest("POST", "/v1/links", { destination: "https://example.com" })).json;
  const options = Array.from({ length: 50 }, (_, index) => ({
    label: `${index}`,
    value: `${index}`.padEnd(500, "ü"),
  }));
  const formFields = Array.from({ length: 20 }, (_, index) => ({
    key: `field ${index}`,
    label: "Which?",
    type: "FORM_FIELD_TYPE_DROPDOWN",
    options,
  }));
  const request = {
    linkId: link.id,
    eventAction: "EVENT_ACTION_FORM_SUBMIT",
    payload: { form: { formFields } },
  };
  const add = (protocol: "rest" | "grpc") =>
    ask(api, protocol, WorkflowStepsService.method.create, request, workspace.token);
  expect((await add("rest")).reason).toBe("OK");
  for (const protocol of ["rest", "grpc"] as const)
    expect((await add(protocol)).reason).toBe("LIMIT_REACHED");
  expect((await stepsOf(link.id)).workflowSteps).toHaveLength(3);
});
