import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { beforeEach, describe, expect, test } from "vitest";
import { WorkflowStepsService } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { ask } from "../../../test/support/ask.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { stepActions } from "../../model/steps/kinds.ts";

const api = await startApi();
const operations = WorkflowStepsService.method;
const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

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

async function change(id: string, body: object) {
  const { status, json } = await workspace.rest("PATCH", `${steps()}/${id}`, body);
  expect(status, JSON.stringify(json)).toBe(200);
  return json.workflowStep;
}

async function read(id: string) {
  return (await workspace.rest("GET", `${steps()}/${id}`)).json.workflowStep;
}

/** For every action that can be added: a payload, the ids of its branches in order, and what is filled in. */
const variants: [action: string, payload: JsonObject, branchIds: string[], filled?: object][] = [
  ["PASSWORD_VERIFY", { title: "Members", description: "Only", password: " sécret " }, ["next"]],
  [
    "FORM_SUBMIT",
    {
      formTitle: "Hello",
      formFields: [
        {
          id: "mail",
          key: "$email",
          label: "E-mail",
          type: "FORM_FIELD_TYPE_EMAIL",
          required: true,
          order: 3,
        },
        { id: "color", key: "color", type: "FORM_FIELD_TYPE_RADIO", options: [{ label: "Red", value: "r" }] },
      ],
      skipForm: true,
      autoSkipIfKnown: true,
    },
    ["next"],
  ],
  [
    "MESSAGE_PAGE",
    { title: "Wait", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_TIMER", timerSeconds: 300 },
    ["next"],
  ],
  [
    "MULTI_LINK",
    {
      buttons: [{ id: "b", label: "Second", order: 2 }, { id: "a/ü", label: "First", order: 1 }, { id: "c" }],
    },
    ["a/ü", "b", "c"],
  ],
  ["CLIENT_REDIRECT", { destination: "mailto:ada@example.com", conversionTracking: true }, []],
  ["THANK_YOU_PAGE", { title: "Bye", description: "See you" }, []],
  [
    "CONTACT_CARD",
    { firstName: "Ada", socialLinks: [{ url: "https://t.me/ada", platform: "" }] },
    [],
    { socialLinks: [{ url: "https://t.me/ada", platform: "telegram" }] },
  ],
  [
    "SOCIAL_LINKS_PAGE",
    {
      links: [
        { id: "x", url: "https://x.com/ada" },
        { id: "y", url: "https://t.me/ada" },
      ],
    },
    [],
    {
      displayStyle: "SOCIAL_LINKS_DISPLAY_STYLE_DETAILED",
      links: [
        { id: "x", url: "https://x.com/ada", platform: "twitter" },
        { id: "y", url: "https://t.me/ada", platform: "website" },
      ],
    },
  ],
  [
    "VISIT_TYPE_CONDITION",
    { options: [{ value: "VISIT_TYPE_RETURNING" }, { value: "VISIT_TYPE_FIRST" }] },
    ["VISIT_TYPE_RETURNING", "VISIT_TYPE_FIRST", "else"],
  ],
  [
    "VISITOR_DATA_CONDITION",
    { options: [{ id: "o", attributeKey: "$email", operator: "STRING_IS_NOT_EMPTY" }] },
    ["o", "else"],
  ],
  ["COUNTRY_CONDITION", { countries: [{ countryCode: "DE" }, { countryCode: "AT" }] }, ["DE", "AT", "else"]],
  ["DAY_OF_WEEK_CONDITION", { options: [{ id: "o", name: "Weekend", daysOfWeek: [0, 6] }] }, ["o", "else"]],
  ["TIME_OF_DAY_CONDITION", { ranges: [{ id: "r", startTime: "22:00", endTime: "06:00" }] }, ["r", "else"]],
  ["DAY_OF_MONTH_CONDITION", { options: [{ id: "o", name: "Last", dayOfMonth: -1 }] }, ["o", "else"]],
  [
    "SPECIFIC_DATE_CONDITION",
    {
      options: [
        { id: "o", month: 2, day: 29 },
        { id: "p", year: 2028, month: 2, day: 29 },
      ],
    },
    ["o", "p", "else"],
  ],
  [
    "DEVICE_TYPE_CONDITION",
    { options: [{ id: "o", value: "DEVICE_TYPE_CONDITION_VALUE_TABLET" }] },
    ["o", "else"],
  ],
  [
    "DEVICE_PLATFORM_CONDITION",
    { options: [{ id: "o", value: "DEVICE_PLATFORM_CONDITION_VALUE_IOS" }] },
    ["o", "else"],
  ],
  [
    "DEVICE_BROWSER_CONDITION",
    { options: [{ id: "o", value: "DEVICE_BROWSER_CONDITION_VALUE_EDGE" }] },
    ["o", "else"],
  ],
  [
    "DEVICE_BRAND_CONDITION",
    { options: [{ id: "o", value: "DEVICE_BRAND_CONDITION_VALUE_APPLE" }] },
    ["o", "else"],
  ],
  [
    "DEVICE_ACTOR_CONDITION",
    { options: [{ id: "o", value: "DEVICE_ACTOR_CONDITION_VALUE_AGENT" }] },
    ["o", "else"],
  ],
];

test("the table below has every action but the entry's", () => {
  expect(new Set(["LINK_VISIT", ...variants.map(([action]) => action)])).toEqual(
    new Set(Object.keys(stepActions)),
  );
});

describe.each(["rest", "grpc"] as const)("over %s", (protocol) => {
  test.each(variants)(
    "%s keeps its payload and has its branches",
    async (action, payload, branchIds, filled) => {
      const { kind, nodeType, payload: name } = stepActions[action as keyof typeof stepActions];
      const request = { linkId: link, eventAction: `EVENT_ACTION_${action}`, payload: { [name]: payload } };
      const created = await ask(api, protocol, operations.create, request, workspace.token);
      expect(created.reason, created.message).toBe("OK");
      const { workflowStep } = created.body as { workflowStep: JsonObject & { id: string } };
      expect(workflowStep).toMatchObject({
        linkId: link,
        eventAction: `EVENT_ACTION_${action}`,
        kind: `KIND_${kind}`,
        nodeType: `NODE_TYPE_${nodeType}`,
        payload: { [name]: { ...payload, ...filled } },
        branches: branchIds.map((branchId) => ({ branchId, nextStepId: "" })),
        parentStepIds: [],
        childStepIds: [],
        canvasPosition: { x: 0, y: 0 },
      });
      expect(Object.keys(workflowStep.payload as object)).toEqual([name]);
      const got = await ask(
        api,
        protocol,
        operations.get,
        { linkId: link, id: workflowStep.id },
        workspace.token,
      );
      expect(got.body).toEqual({ workflowStep });
      const same = { linkId: link, id: workflowStep.id, payload: { [name]: payload } };
      const updated = await ask(api, protocol, operations.update, same, workspace.token);
      expect(updated.body).toEqual({ workflowStep });
    },
  );
});

test.each(["PASSWORD_VERIFY", "FORM_SUBMIT", "MULTI_LINK", "CLIENT_REDIRECT", "COUNTRY_CONDITION"])(
  "%s without payload gets the defaults",
  async (action) => {
    const { json } = await workspace.rest("POST", steps(), { eventAction: `EVENT_ACTION_${action}` });
    const name = stepActions[action as keyof typeof stepActions].payload;
    expect(json.workflowStep.payload).toHaveProperty(name);
  },
);

test("branches have labels: button texts, option names, country codes, `fallback` and `next step`", async () => {
  const labels = ({ branches }: { branches: { label: string }[] }) => branches.map(({ label }) => label);
  const option = { name: "Weekend", daysOfWeek: [0] };
  expect(labels(await add("FORM_SUBMIT"))).toEqual(["next step"]);
  expect(labels(await add("MULTI_LINK", { multiLink: { buttons: [{ label: "Shop" }] } }))).toEqual(["Shop"]);
  expect(labels(await add("DAY_OF_WEEK_CONDITION", { dayOfWeekCondition: { options: [option] } }))).toEqual([
    "Weekend",
    "fallback",
  ]);
  expect(
    labels(await add("COUNTRY_CONDITION", { countryCondition: { countries: [{ countryCode: "DE" }] } })),
  ).toEqual(["DE", "fallback"]);
});

test("ids inside payloads are made when they are empty, and kept when not", async () => {
  const { payload, branches } = await add("MULTI_LINK", {
    multiLink: { buttons: [{ label: "One" }, { id: "two", label: "Two" }, { label: "Three" }] },
  });
  const ids = payload.multiLink.buttons.map(({ id }: { id: string }) => id);
  expect(ids).toEqual([expect.stringMatching(uuidForm), "two", expect.stringMatching(uuidForm)]);
  expect(new Set(ids).size).toBe(3);
  expect(branches.map(({ branchId }: { branchId: string }) => branchId)).toEqual(ids);
  const social = await add("SOCIAL_LINKS_PAGE", { socialLinks: { links: [{ url: "https://example.com" }] } });
  expect(social.payload.socialLinks.links[0].id).toMatch(uuidForm);
  const form = await add("FORM_SUBMIT", { form: { formFields: [{ key: "name" }] } });
  expect(form.payload.form.formFields[0].id).toMatch(uuidForm);
});

test("`nextStepId` in a payload connects, and shows what connecting elsewhere did", async () => {
  const form = await add("FORM_SUBMIT");
  const condition = await add("COUNTRY_CONDITION", {
    countryCondition: {
      countries: [{ countryCode: "DE", nextStepId: form.id }, { countryCode: "AT" }],
      elseNextStepId: redirect.toUpperCase(),
    },
  });
  expect(condition).toMatchObject({
    branches: [
      { branchId: "DE", nextStepId: form.id },
      { branchId: "AT", nextStepId: "" },
      { branchId: "else", nextStepId: redirect },
    ],
    childStepIds: [form.id, redirect],
    payload: { countryCondition: { elseNextStepId: redirect } },
  });
  expect((await read(form.id)).parentStepIds).toEqual([condition.id]);
  expect((await read(redirect)).parentStepIds).toEqual([entry, condition.id]);
  const path = `${steps()}/${condition.id}/branches/AT/connection`;
  await workspace.rest("PUT", path, { nextStepId: redirect });
  await workspace.rest("DELETE", `${steps()}/${condition.id}/branches/else/connection`);
  expect((await read(condition.id)).payload.countryCondition).toEqual({
    countries: [
      { countryCode: "DE", nextStepId: form.id },
      { countryCode: "AT", nextStepId: redirect },
    ],
    elseNextStepId: "",
  });
});

test("an id that is kept over an update keeps its branch, a removed one loses it, and a new one has none", async () => {
  const form = await add("FORM_SUBMIT");
  const buttons = [
    { id: "keep", label: "Keep", nextStepId: form.id },
    { id: "drop", label: "Drop", nextStepId: redirect },
    { id: "move", label: "Move", nextStepId: form.id },
  ];
  const page = await add("MULTI_LINK", { multiLink: { buttons } });
  const changed = await change(page.id, {
    payload: {
      multiLink: {
        title: "Anew",
        buttons: [{ id: "keep", label: "Kept" }, { id: "fresh" }, { id: "move", nextStepId: redirect }],
      },
    },
  });
  const branches = [
    { branchId: "keep", label: "Kept", nextStepId: form.id },
    { branchId: "fresh", label: "", nextStepId: "" },
    { branchId: "move", label: "", nextStepId: redirect },
  ];
  expect(changed).toMatchObject({ branches, childStepIds: [form.id, redirect] });
  // An id that was deleted and comes back belongs to a new button.
  const back = await change(page.id, { payload: { multiLink: { buttons: [{ id: "drop" }] } } });
  expect(back.branches).toEqual([{ branchId: "drop", label: "", nextStepId: "" }]);
  expect((await read(redirect)).parentStepIds).toEqual([entry]);
});

test("an update changes what it names and no more; what changes nothing leaves `updatedAt`", async () => {
  const capture = { enabled: true, writes: [{ key: "stage", value: "form" }] };
  const form = await add("FORM_SUBMIT", { form: { formTitle: "Hello" } }, { attributeCapture: capture });
  const moved = await change(form.id, { canvasPosition: { x: 5, y: -7.5 } });
  expect(moved).toEqual({ ...form, canvasPosition: { x: 5, y: -7.5 }, updatedAt: moved.updatedAt });
  expect(moved.updatedAt > form.updatedAt).toBe(true);
  expect(await change(form.id, {})).toEqual(moved);
  expect(await change(form.id, { payload: { form: { formTitle: "Hello" } } })).toEqual(moved);
  const replaced = await change(form.id, {
    payload: { form: { submitButtonText: "Go" } },
    canvasPosition: null,
  });
  expect(replaced.payload.form).toMatchObject({ formTitle: "", submitButtonText: "Go" });
  expect(replaced.attributeCapture).toEqual(moved.attributeCapture);
  const kept = await change(form.id, { attributeCapture: { writes: [{ key: "other", value: "" }] } });
  expect(kept.attributeCapture).toMatchObject({ enabled: false, writes: [{ key: "other", value: "" }] });
  expect(kept.attributeCapture.writes).toHaveLength(1);
  const off = await change(form.id, { attributeCapture: {} });
  expect(off).not.toHaveProperty("attributeCapture");
  expect(off.payload).toEqual(replaced.payload);
});

test("what a step captures is answered as it came", async () => {
  const writes = [
    { key: "choice", value: "{{choice.label}} ({{choice.id}})", type: "VISITOR_ATTRIBUTE_TYPE_ENUM" },
    { key: "campaign", value: "{{link.metadata.two words}}", mode: "ATTRIBUTE_WRITE_MODE_SET_ONCE" },
    { key: "seen.at-last_1", value: "{{now}}", type: "VISITOR_ATTRIBUTE_TYPE_DATE" },
  ];
  const { attributeCapture } = await add("MULTI_LINK", {}, { attributeCapture: { enabled: true, writes } });
  expect(attributeCapture).toMatchObject({ enabled: true, writes });
});

test("every step but conditions captures, 20 writes on one", async () => {
  const writes = Array.from({ length: 20 }, (_, index) => ({
    key: `piece.${index}`,
    value: "{{link.name}}",
  }));
  const attributeCapture = { enabled: true, writes };
  expect((await change(entry, { attributeCapture })).attributeCapture).toMatchObject(attributeCapture);
  for (const [action, payload] of variants) {
    const { kind, payload: name } = stepActions[action as keyof typeof stepActions];
    if (kind === "CONDITION") continue;
    const step = await add(action, { [name]: payload }, { attributeCapture });
    expect(step.attributeCapture).toMatchObject(attributeCapture);
  }
});

test("a list in a payload may have as many elements as its limit says", async () => {
  const many = (count: number, item: object) => Array.from({ length: count }, () => item);
  const page = await add("MULTI_LINK", { multiLink: { buttons: many(50, { label: "Shop" }) } });
  expect(page.branches).toHaveLength(50);
  const ranges = many(50, { startTime: "08:00", endTime: "09:00" });
  const condition = await add("TIME_OF_DAY_CONDITION", { timeOfDayCondition: { ranges } });
  expect(condition.branches).toHaveLength(51);
  const links = many(10, { url: "https://example.com" });
  const social = await add("SOCIAL_LINKS_PAGE", { socialLinks: { links } });
  expect(social.payload.socialLinks.links).toHaveLength(10);
});

test("steps are listed oldest first, in pages that lose and repeat none", async () => {
  const made = [entry, redirect];
  for (let count = 0; count < 5; count++) made.push((await add("FORM_SUBMIT")).id);
  const found: string[] = [];
  let token = "";
  do {
    const { json } = await workspace.rest(
      "GET",
      `${steps()}?pageSize=2&pageToken=${encodeURIComponent(token)}`,
    );
    expect(json.workflowSteps.length).toBeLessThanOrEqual(2);
    expect(json.totalCount).toBe("7");
    found.push(...json.workflowSteps.map(({ id }: { id: string }) => id));
    token = json.nextPageToken;
  } while (token !== "");
  expect(found).toEqual(made);
  const grpc = await workspace.client(WorkflowStepsService).list({ linkId: link, pageSize: 1n });
  expect(grpc.totalCount).toBe(7n);
});

test("a page token is good for no other link", async () => {
  const { nextPageToken } = (await workspace.rest("GET", `${steps()}?pageSize=1`)).json;
  const other = (await workspace.rest("POST", "/v1/links", { destination: "https://example.com" })).json.link
    .id;
  const query = new URLSearchParams({ pageToken: nextPageToken });
  const { json } = await workspace.rest("GET", `/v1/links/${other}/workflow-steps?${query}`);
  expect(json.error.codeType).toBe("INVALID_PAGE_TOKEN");
});

test("a step gets the id asked for, in small letters", async () => {
  const id = randomUUID();
  expect((await add("FORM_SUBMIT", {}, { id: id.toUpperCase() })).id).toBe(id);
  expect((await read(id.toUpperCase())).id).toBe(id);
});

test("a deleted link has no steps to read or change", async () => {
  await workspace.rest("DELETE", `/v1/links/${link}`);
  expect((await workspace.rest("GET", steps())).status).toBe(404);
  expect((await workspace.rest("POST", steps(), { eventAction: "EVENT_ACTION_FORM_SUBMIT" })).status).toBe(
    404,
  );
  expect((await workspace.rest("POST", `${steps()}/auto-layout`)).status).toBe(404);
});

test("an idempotency key makes one step of two calls", async () => {
  const send = () =>
    workspace.rest(
      "POST",
      steps(),
      { eventAction: "EVENT_ACTION_FORM_SUBMIT" },
      { "idempotency-key": "once" },
    );
  const [first, second] = [await send(), await send()];
  expect(second.json).toEqual(first.json);
  expect((await workspace.rest("GET", steps())).json.workflowSteps).toHaveLength(3);
});
