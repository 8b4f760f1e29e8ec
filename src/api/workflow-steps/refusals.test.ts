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

interface Row {
  readonly rule: string;
  readonly operation: Operation;
  readonly request: (ids: Ids) => JsonObject;
  readonly reason: string;
  /** What the message begins with: the path of the field, where one is to blame. */
  readonly field: string;
}

const uuid = () => randomUUID();

/** A call that creates a step with this action and payload. */
function creating(eventAction: string, payload: JsonObject = {}, more: JsonObject = {}): Row["request"] {
  return ({ link }) => ({ linkId: link, eventAction: `EVENT_ACTION_${eventAction}`, payload, ...more });
}

function capturing(action: string, ...attributes: JsonObject[]): Row["request"] {
  return creating(action, {}, { attributeCapture: { attributes } });
}

const milestone = { key: "stage", source: "ATTRIBUTE_CAPTURE_SOURCE_MILESTONE", value: "seen" };
const choice = { key: "choice", source: "ATTRIBUTE_CAPTURE_SOURCE_CHOICE" };
const context = { key: "campaign", source: "ATTRIBUTE_CAPTURE_SOURCE_LINK_CONTEXT" };

function buttons(...list: JsonObject[]): JsonObject {
  return { multiLink: { buttons: list } };
}

const fiftyOne = Array.from({ length: 51 }, (_, index) => index);
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const invalid = "INVALID_ARGUMENT";

const rows: Row[] = [
  // Exactly one entry step.
  {
    rule: "a second entry step",
    operation: "create",
    request: creating("LINK_VISIT"),
    reason: invalid,
    field: "eventAction",
  },
  {
    rule: "no action",
    operation: "create",
    request: ({ link }) => ({ linkId: link }),
    reason: invalid,
    field: "eventAction",
  },
  {
    rule: "deleting the entry step",
    operation: "delete",
    request: ({ link, entry }) => ({ linkId: link, id: entry }),
    reason: "ENTRY_STEP_REQUIRED",
    field: "",
  },

  // Connecting.
  {
    rule: "connecting to the entry step",
    operation: "connectStep",
    request: ({ link, form, entry }) => ({ linkId: link, stepId: form, branchId: "next", nextStepId: entry }),
    reason: invalid,
    field: "nextStepId",
  },
  {
    rule: "connecting to the step itself",
    operation: "connectStep",
    request: ({ link, form }) => ({ linkId: link, stepId: form, branchId: "next", nextStepId: form }),
    reason: invalid,
    field: "nextStepId",
  },
  {
    rule: "connecting to the step itself in capitals",
    operation: "connectStep",
    request: ({ link, form }) => ({
      linkId: link,
      stepId: form,
      branchId: "next",
      nextStepId: form.toUpperCase(),
    }),
    reason: invalid,
    field: "nextStepId",
  },
  {
    rule: "an unknown branch",
    operation: "connectStep",
    request: ({ link, form, redirect }) => ({
      linkId: link,
      stepId: form,
      branchId: "else",
      nextStepId: redirect,
    }),
    reason: "NOT_FOUND",
    field: "branchId",
  },
  {
    rule: "a branch of an exit",
    operation: "connectStep",
    request: ({ link, form, redirect }) => ({
      linkId: link,
      stepId: redirect,
      branchId: "next",
      nextStepId: form,
    }),
    reason: "NOT_FOUND",
    field: "branchId",
  },
  {
    rule: "an unknown branch to disconnect",
    operation: "disconnectStep",
    request: ({ link, multiLink }) => ({ linkId: link, stepId: multiLink, branchId: "next" }),
    reason: "NOT_FOUND",
    field: "branchId",
  },
  {
    rule: "connecting to a step of another link",
    operation: "connectStep",
    request: ({ link, form, otherStep }) => ({
      linkId: link,
      stepId: form,
      branchId: "next",
      nextStepId: otherStep,
    }),
    reason: "NOT_FOUND",
    field: "nextStepId",
  },
  {
    rule: "connecting a step of another link",
    operation: "connectStep",
    request: ({ link, redirect, otherStep }) => ({
      linkId: link,
      stepId: otherStep,
      branchId: "next",
      nextStepId: redirect,
    }),
    reason: "NOT_FOUND",
    field: "stepId",
  },
  {
    rule: "connecting to nothing",
    operation: "connectStep",
    request: ({ link, form }) => ({ linkId: link, stepId: form, branchId: "next", nextStepId: "" }),
    reason: "INVALID_ID",
    field: "nextStepId",
  },

  // Conditions in a circle.
  {
    rule: "a circle of conditions by connecting",
    operation: "connectStep",
    request: ({ link, country, weekday }) => ({
      linkId: link,
      stepId: country,
      branchId: "DE",
      nextStepId: weekday,
    }),
    reason: "CONDITION_CYCLE",
    field: "nextStepId",
  },
  {
    rule: "a circle of conditions by a payload",
    operation: "update",
    request: ({ link, country, weekday }) => ({
      linkId: link,
      id: country,
      payload: {
        countryCondition: { countries: [{ countryCode: "DE" }, { countryCode: "AT", nextStepId: weekday }] },
      },
    }),
    reason: "CONDITION_CYCLE",
    field: "payload.countryCondition.countries[1].nextStepId",
  },
  {
    rule: "a circle of conditions by `else`",
    operation: "update",
    request: ({ link, country, weekday }) => ({
      linkId: link,
      id: country,
      payload: { countryCondition: { elseNextStepId: weekday } },
    }),
    reason: "CONDITION_CYCLE",
    field: "payload.countryCondition.elseNextStepId",
  },

  // nextStepId in payloads follows the rules of connecting.
  {
    rule: "a payload that leads to the entry step",
    operation: "create",
    request: (own) => creating("MULTI_LINK", buttons({ nextStepId: own.entry }))(own),
    reason: invalid,
    field: "payload.multiLink.buttons[0].nextStepId",
  },
  {
    rule: "a payload that leads to its own step",
    operation: "create",
    request: (own) => {
      const id = uuid();
      return creating("MULTI_LINK", buttons({}, { nextStepId: id }), { id })(own);
    },
    reason: invalid,
    field: "payload.multiLink.buttons[1].nextStepId",
  },
  {
    rule: "a payload that leads to a step of another link",
    operation: "create",
    request: (own) => creating("MULTI_LINK", buttons({ nextStepId: own.otherStep }))(own),
    reason: "NOT_FOUND",
    field: "payload.multiLink.buttons[0].nextStepId",
  },
  {
    rule: "an `else` that leads nowhere known",
    operation: "create",
    request: creating("DEVICE_TYPE_CONDITION", { deviceTypeCondition: { elseNextStepId: uuid() } }),
    reason: "NOT_FOUND",
    field: "payload.deviceTypeCondition.elseNextStepId",
  },

  // insertBefore.
  {
    rule: "inserting before the entry step",
    operation: "create",
    request: (own) => creating("FORM_SUBMIT", {}, { insertBefore: own.entry })(own),
    reason: invalid,
    field: "insertBefore",
  },
  {
    rule: "inserting an exit before a step",
    operation: "create",
    request: (own) => creating("CLIENT_REDIRECT", {}, { insertBefore: own.redirect })(own),
    reason: invalid,
    field: "insertBefore",
  },
  {
    rule: "inserting a multi-link before a step",
    operation: "create",
    request: (own) => creating("MULTI_LINK", {}, { insertBefore: own.redirect })(own),
    reason: invalid,
    field: "insertBefore",
  },
  {
    rule: "inserting a condition before a step",
    operation: "create",
    request: (own) => creating("COUNTRY_CONDITION", {}, { insertBefore: own.redirect })(own),
    reason: invalid,
    field: "insertBefore",
  },
  {
    rule: "inserting before an unknown step",
    operation: "create",
    request: creating("FORM_SUBMIT", {}, { insertBefore: uuid() }),
    reason: "NOT_FOUND",
    field: "insertBefore",
  },
  {
    rule: "inserting before a step of another link",
    operation: "create",
    request: (own) => creating("FORM_SUBMIT", {}, { insertBefore: own.otherStep })(own),
    reason: "NOT_FOUND",
    field: "insertBefore",
  },

  // Payloads.
  {
    rule: "a payload of another action at creation",
    operation: "create",
    request: creating("FORM_SUBMIT", { password: {} }),
    reason: invalid,
    field: "payload.password",
  },
  {
    rule: "a payload of another action in an update",
    operation: "update",
    request: ({ link, form }) => ({ linkId: link, id: form, payload: { clientRedirect: {} } }),
    reason: invalid,
    field: "payload.clientRedirect",
  },
  {
    rule: "an update with an empty payload",
    operation: "update",
    request: ({ link, form }) => ({ linkId: link, id: form, payload: {} }),
    reason: invalid,
    field: "payload",
  },
  {
    rule: "a message page without payload",
    operation: "create",
    request: creating("MESSAGE_PAGE"),
    reason: invalid,
    field: "payload.messagePage.title",
  },
  {
    rule: "a message page without title",
    operation: "create",
    request: creating("MESSAGE_PAGE", {
      messagePage: { navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" },
    }),
    reason: invalid,
    field: "payload.messagePage.title",
  },
  {
    rule: "a message page without way onward",
    operation: "create",
    request: creating("MESSAGE_PAGE", { messagePage: { title: "Hello" } }),
    reason: invalid,
    field: "payload.messagePage.navigationType",
  },
  {
    rule: "a timer without seconds",
    operation: "create",
    request: creating("MESSAGE_PAGE", {
      messagePage: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_TIMER" },
    }),
    reason: invalid,
    field: "payload.messagePage",
  },
  {
    rule: "a timer of 301 seconds",
    operation: "create",
    request: creating("MESSAGE_PAGE", {
      messagePage: {
        title: "Hello",
        navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_TIMER",
        timerSeconds: 301,
      },
    }),
    reason: invalid,
    field: "payload.messagePage",
  },
  {
    rule: "a thank-you page without payload",
    operation: "create",
    request: creating("THANK_YOU_PAGE"),
    reason: invalid,
    field: "payload.thankYouPage.title",
  },
  {
    rule: "a thank-you page without title",
    operation: "create",
    request: creating("THANK_YOU_PAGE", { thankYouPage: { description: "Bye" } }),
    reason: invalid,
    field: "payload.thankYouPage.title",
  },
  {
    rule: "a range that is empty",
    operation: "create",
    request: creating("TIME_OF_DAY_CONDITION", {
      timeOfDayCondition: { ranges: [{ startTime: "08:00", endTime: "08:00" }] },
    }),
    reason: invalid,
    field: "payload.timeOfDayCondition.ranges[0]",
  },
  {
    rule: "a time that no clock shows",
    operation: "create",
    request: creating("TIME_OF_DAY_CONDITION", {
      timeOfDayCondition: { ranges: [{ startTime: "24:00", endTime: "08:00" }] },
    }),
    reason: invalid,
    field: "payload.timeOfDayCondition.ranges[0].startTime",
  },
  {
    rule: "30 February",
    operation: "create",
    request: creating("SPECIFIC_DATE_CONDITION", {
      specificDateCondition: { options: [{ month: 2, day: 30 }] },
    }),
    reason: invalid,
    field: "payload.specificDateCondition.options[0]",
  },
  {
    rule: "29 February of a common year",
    operation: "create",
    request: creating("SPECIFIC_DATE_CONDITION", {
      specificDateCondition: { options: [{ year: 2027, month: 2, day: 29 }] },
    }),
    reason: invalid,
    field: "payload.specificDateCondition.options[0]",
  },
  {
    rule: "the day 0 of the month",
    operation: "create",
    request: creating("DAY_OF_MONTH_CONDITION", { dayOfMonthCondition: { options: [{ dayOfMonth: 0 }] } }),
    reason: invalid,
    field: "payload.dayOfMonthCondition.options[0].dayOfMonth",
  },
  {
    rule: "the weekday 7",
    operation: "create",
    request: creating("DAY_OF_WEEK_CONDITION", { dayOfWeekCondition: { options: [{ daysOfWeek: [7] }] } }),
    reason: invalid,
    field: "payload.dayOfWeekCondition.options[0].daysOfWeek[0]",
  },
  {
    rule: "a country code in small letters",
    operation: "create",
    request: creating("COUNTRY_CONDITION", { countryCondition: { countries: [{ countryCode: "de" }] } }),
    reason: invalid,
    field: "payload.countryCondition.countries[0].countryCode",
  },
  {
    rule: "a country twice",
    operation: "create",
    request: creating("COUNTRY_CONDITION", {
      countryCondition: { countries: [{ countryCode: "DE" }, { countryCode: "DE" }] },
    }),
    reason: invalid,
    field: "payload.countryCondition",
  },
  {
    rule: "a visit type twice",
    operation: "create",
    request: creating("VISIT_TYPE_CONDITION", {
      visitTypeCondition: { options: [{ value: "VISIT_TYPE_FIRST" }, { value: "VISIT_TYPE_FIRST" }] },
    }),
    reason: invalid,
    field: "payload.visitTypeCondition",
  },
  {
    rule: "a button id twice",
    operation: "create",
    request: creating("MULTI_LINK", buttons({ id: "a" }, { id: "a" })),
    reason: invalid,
    field: "payload.multiLink",
  },
  {
    rule: "an option with the id of the fallback",
    operation: "create",
    request: creating("DEVICE_TYPE_CONDITION", { deviceTypeCondition: { options: [{ id: "else" }] } }),
    reason: invalid,
    field: "payload.deviceTypeCondition.options[0].id",
  },
  {
    rule: "an unknown platform of a social link",
    operation: "create",
    request: creating("SOCIAL_LINKS_PAGE", {
      socialLinks: { links: [{ url: "https://example.com", platform: "spotify" }] },
    }),
    reason: invalid,
    field: "payload.socialLinks.links[0].platform",
  },
  {
    rule: "an unknown platform of a card's link",
    operation: "create",
    request: creating("CONTACT_CARD", { vcard: { socialLinks: [{}, { platform: "myspace" }] } }),
    reason: invalid,
    field: "payload.vcard.socialLinks[1].platform",
  },

  // Limits.
  {
    rule: "51 buttons",
    operation: "create",
    request: creating("MULTI_LINK", buttons(...fiftyOne.map(() => ({})))),
    reason: invalid,
    field: "payload.multiLink.buttons",
  },
  {
    rule: "51 options",
    operation: "create",
    request: creating("DEVICE_BRAND_CONDITION", {
      deviceBrandCondition: { options: fiftyOne.map(() => ({})) },
    }),
    reason: invalid,
    field: "payload.deviceBrandCondition.options",
  },
  {
    rule: "51 ranges",
    operation: "create",
    request: creating("TIME_OF_DAY_CONDITION", {
      timeOfDayCondition: { ranges: fiftyOne.map(() => ({ startTime: "01:00", endTime: "02:00" })) },
    }),
    reason: invalid,
    field: "payload.timeOfDayCondition.ranges",
  },
  {
    rule: "51 form fields",
    operation: "create",
    request: creating("FORM_SUBMIT", { form: { formFields: fiftyOne.map((n) => ({ key: `k${n}` })) } }),
    reason: invalid,
    field: "payload.form.formFields",
  },
  {
    rule: "51 countries",
    operation: "create",
    request: creating("COUNTRY_CONDITION", {
      countryCondition: {
        countries: fiftyOne.map((n) => ({ countryCode: `${letters[Math.floor(n / 26)]}${letters[n % 26]}` })),
      },
    }),
    reason: invalid,
    field: "payload.countryCondition.countries",
  },
  {
    rule: "11 social links",
    operation: "create",
    request: creating("SOCIAL_LINKS_PAGE", {
      socialLinks: { links: fiftyOne.slice(0, 11).map(() => ({ url: "https://example.com" })) },
    }),
    reason: invalid,
    field: "payload.socialLinks.links",
  },
  {
    rule: "a position off the canvas",
    operation: "create",
    request: creating("FORM_SUBMIT", {}, { canvasPosition: { x: 1e9, y: 0 } }),
    reason: invalid,
    field: "canvasPosition.x",
  },

  // Addresses in payloads are screened as destinations are.
  {
    rule: "a script as destination",
    operation: "create",
    request: creating("CLIENT_REDIRECT", { clientRedirect: { destination: "javascript:alert(1)" } }),
    reason: "INVALID_DESTINATION",
    field: "payload.clientRedirect.destination",
  },
  {
    rule: "a short link of the service as destination",
    operation: "update",
    request: ({ link, redirect }) => ({
      linkId: link,
      id: redirect,
      payload: { clientRedirect: { destination: "https://short.test/4BnH-R19p" } },
    }),
    reason: "INVALID_DESTINATION",
    field: "payload.clientRedirect.destination",
  },
  {
    rule: "data as a social link",
    operation: "create",
    request: creating("SOCIAL_LINKS_PAGE", {
      socialLinks: { links: [{ url: "https://example.com" }, { url: "data:text/html,x" }] },
    }),
    reason: "INVALID_DESTINATION",
    field: "payload.socialLinks.links[1].url",
  },
  {
    rule: "a file as website of a card",
    operation: "create",
    request: creating("CONTACT_CARD", { vcard: { website: "file:///etc/passwd" } }),
    reason: "INVALID_DESTINATION",
    field: "payload.vcard.website",
  },
  {
    rule: "a bare word as a card's link",
    operation: "create",
    request: creating("CONTACT_CARD", { vcard: { socialLinks: [{ url: "example" }] } }),
    reason: "INVALID_DESTINATION",
    field: "payload.vcard.socialLinks[0].url",
  },

  // attributeCapture.
  {
    rule: "capture on a condition",
    operation: "create",
    request: capturing("COUNTRY_CONDITION", milestone),
    reason: invalid,
    field: "attributeCapture",
  },
  {
    rule: "capture on a condition by an update",
    operation: "update",
    request: ({ link, country }) => ({
      linkId: link,
      id: country,
      attributeCapture: { attributes: [milestone] },
    }),
    reason: invalid,
    field: "attributeCapture",
  },
  {
    rule: "capture of a reserved key",
    operation: "create",
    request: capturing("FORM_SUBMIT", { ...milestone, key: "$email" }),
    reason: invalid,
    field: "attributeCapture.attributes[0].key",
  },
  {
    rule: "capture without key",
    operation: "create",
    request: capturing("FORM_SUBMIT", { ...milestone, key: "" }),
    reason: invalid,
    field: "attributeCapture.attributes[0].key",
  },
  {
    rule: "capture of one key twice",
    operation: "create",
    request: capturing("FORM_SUBMIT", milestone, milestone),
    reason: invalid,
    field: "attributeCapture",
  },
  {
    rule: "capture without source",
    operation: "create",
    request: capturing("FORM_SUBMIT", { key: "stage", value: "seen" }),
    reason: invalid,
    field: "attributeCapture.attributes[0].source",
  },
  {
    rule: "a milestone without value",
    operation: "create",
    request: capturing("FORM_SUBMIT", { ...milestone, value: "" }),
    reason: invalid,
    field: "attributeCapture.attributes[0]",
  },
  {
    rule: "a choice with a value",
    operation: "create",
    request: capturing("MULTI_LINK", { ...choice, value: "x" }),
    reason: invalid,
    field: "attributeCapture.attributes[0]",
  },
  {
    rule: "a choice on a form",
    operation: "create",
    request: capturing("FORM_SUBMIT", milestone, choice),
    reason: invalid,
    field: "attributeCapture.attributes[1].source",
  },
  {
    rule: "a choice on a password page",
    operation: "create",
    request: capturing("PASSWORD_VERIFY", choice),
    reason: invalid,
    field: "attributeCapture.attributes[0].source",
  },
  {
    rule: "a choice on a redirect",
    operation: "create",
    request: capturing("CLIENT_REDIRECT", choice),
    reason: invalid,
    field: "attributeCapture.attributes[0].source",
  },
  {
    rule: "a choice on the entry step",
    operation: "update",
    request: ({ link, entry }) => ({ linkId: link, id: entry, attributeCapture: { attributes: [choice] } }),
    reason: invalid,
    field: "attributeCapture.attributes[0].source",
  },
  {
    rule: "a piece of the link that there is not",
    operation: "create",
    request: capturing("FORM_SUBMIT", { ...context, value: "purpose" }),
    reason: invalid,
    field: "attributeCapture.attributes[0]",
  },
  {
    rule: "21 captured attributes",
    operation: "create",
    request: capturing("FORM_SUBMIT", ...fiftyOne.slice(0, 21).map((n) => ({ ...milestone, key: `k${n}` }))),
    reason: invalid,
    field: "attributeCapture.attributes",
  },

  // Ids.
  {
    rule: "an id in use",
    operation: "create",
    request: (own) => creating("FORM_SUBMIT", {}, { id: own.form })(own),
    reason: "ID_TAKEN",
    field: "",
  },
  {
    rule: "an id that is no UUID",
    operation: "create",
    request: creating("FORM_SUBMIT", {}, { id: "7" }),
    reason: "INVALID_ID",
    field: "id",
  },
  {
    rule: "an unknown step",
    operation: "get",
    request: ({ link }) => ({ linkId: link, id: uuid() }),
    reason: "NOT_FOUND",
    field: "id",
  },
  {
    rule: "a step of another link",
    operation: "get",
    request: ({ link, otherStep }) => ({ linkId: link, id: otherStep }),
    reason: "NOT_FOUND",
    field: "id",
  },
  {
    rule: "an unknown step to change",
    operation: "update",
    request: ({ link }) => ({ linkId: link, id: uuid(), payload: { form: {} } }),
    reason: "NOT_FOUND",
    field: "id",
  },
  {
    rule: "an unknown step to delete",
    operation: "delete",
    request: ({ link }) => ({ linkId: link, id: uuid() }),
    reason: "NOT_FOUND",
    field: "id",
  },
  {
    rule: "an unknown anchor",
    operation: "resolveStepCollisions",
    request: ({ link }) => ({ linkId: link, stepId: uuid() }),
    reason: "NOT_FOUND",
    field: "stepId",
  },
  {
    rule: "an unknown link to list",
    operation: "list",
    request: () => ({ linkId: uuid() }),
    reason: "NOT_FOUND",
    field: "linkId",
  },
  {
    rule: "an unknown link to validate",
    operation: "validateWorkflow",
    request: () => ({ linkId: uuid() }),
    reason: "NOT_FOUND",
    field: "linkId",
  },
  {
    rule: "an unknown link to arrange",
    operation: "autoLayoutWorkflow",
    request: () => ({ linkId: uuid() }),
    reason: "NOT_FOUND",
    field: "linkId",
  },
];

describe.each(["rest", "grpc"] as const)("over %s", (protocol) => {
  test.each(rows)("$operation refuses $rule", async ({ operation, request, reason, field }) => {
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
  expect(json.error.message).toContain("payload.password: must not come together with form");
});

test("a mask that names what no update changes is refused", async () => {
  const steps = workspace.client(WorkflowStepsService);
  for (const path of ["event_action", "payload.form.form_title", "branches"])
    await expect(
      steps.update({ linkId: ids.link, id: ids.form, updateMask: { paths: [path] } }),
    ).rejects.toThrow(/updateMask/);
});

test("hosts of the block list are refused in every address of a payload, and nothing is saved", async () => {
  const values = { host: "evil.example", reason: "malware", created_at: api.now() };
  await api.db.insertInto("blocked_hosts").values(values).execute();
  const before = await stepsOf(ids.link);
  const bad = "https://a.evil.example/x";
  const payloads: [string, object, string][] = [
    ["CLIENT_REDIRECT", { clientRedirect: { destination: bad } }, "payload.clientRedirect.destination"],
    ["SOCIAL_LINKS_PAGE", { socialLinks: { links: [{ url: bad }] } }, "payload.socialLinks.links[0].url"],
    ["CONTACT_CARD", { vcard: { website: bad } }, "payload.vcard.website"],
    ["CONTACT_CARD", { vcard: { socialLinks: [{ url: bad }] } }, "payload.vcard.socialLinks[0].url"],
  ];
  for (const [action, payload, field] of payloads) {
    const body = { eventAction: `EVENT_ACTION_${action}`, payload };
    const { json } = await workspace.rest("POST", `/v1/links/${ids.link}/workflow-steps`, body);
    expect(json.error).toMatchObject({ code: 400, codeType: "MALICIOUS_URL" });
    expect(json.error.message).toContain(`${field}:`);
  }
  const update = { payload: { clientRedirect: { destination: bad } } };
  const path = `/v1/links/${ids.link}/workflow-steps/${ids.redirect}`;
  expect((await workspace.rest("PATCH", path, update)).json.error.codeType).toBe("MALICIOUS_URL");
  expect(await stepsOf(ids.link)).toEqual(before);
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
