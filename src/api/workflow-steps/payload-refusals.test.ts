import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { WorkflowStepsService } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { ask } from "../../../test/support/ask.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";

const api = await startApi();

let workspace: TestWorkspace;
let link: string;
let redirect: string;
beforeAll(async () => {
  workspace = await api.newWorkspace();
  const { json } = await workspace.rest("POST", "/v1/links", { destination: "https://example.com" });
  link = json.link.id;
  redirect = json.workflowSteps[1].id;
});

const steps = () => `/v1/links/${link}/workflow-steps`;

async function listed() {
  return (await workspace.rest("GET", steps())).json;
}

/** What a new step has, why it is refused, and what the message begins with: the path of the field. */
type Row<Given> = readonly [rule: string, action: string, given: Given, reason: string, field: string];

const invalid = "INVALID_ARGUMENT";
const fiftyOne = Array.from({ length: 51 }, (_, index) => index);
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

function buttons(...list: JsonObject[]): JsonObject {
  return { multiLink: { buttons: list } };
}

const payloads: Row<JsonObject>[] = [
  ["a payload of another action at creation", "FORM_SUBMIT", { password: {} }, invalid, "payload.password"],
  ["a message page without payload", "MESSAGE_PAGE", {}, invalid, "payload.messagePage.title"],
  [
    "a message page without title",
    "MESSAGE_PAGE",
    { messagePage: { navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" } },
    invalid,
    "payload.messagePage.title",
  ],
  [
    "a message page without way onward",
    "MESSAGE_PAGE",
    { messagePage: { title: "Hello" } },
    invalid,
    "payload.messagePage.navigationType",
  ],
  [
    "a timer without seconds",
    "MESSAGE_PAGE",
    { messagePage: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_TIMER" } },
    invalid,
    "payload.messagePage",
  ],
  [
    "a timer of 301 seconds",
    "MESSAGE_PAGE",
    {
      messagePage: {
        title: "Hello",
        navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_TIMER",
        timerSeconds: 301,
      },
    },
    invalid,
    "payload.messagePage",
  ],
  ["a thank-you page without payload", "THANK_YOU_PAGE", {}, invalid, "payload.thankYouPage.title"],
  [
    "a thank-you page without title",
    "THANK_YOU_PAGE",
    { thankYouPage: { description: "Bye" } },
    invalid,
    "payload.thankYouPage.title",
  ],
  [
    "a range that is empty",
    "TIME_OF_DAY_CONDITION",
    { timeOfDayCondition: { ranges: [{ startTime: "08:00", endTime: "08:00" }] } },
    invalid,
    "payload.timeOfDayCondition.ranges[0]",
  ],
  [
    "a time that no clock shows",
    "TIME_OF_DAY_CONDITION",
    { timeOfDayCondition: { ranges: [{ startTime: "24:00", endTime: "08:00" }] } },
    invalid,
    "payload.timeOfDayCondition.ranges[0].startTime",
  ],
  [
    "30 February",
    "SPECIFIC_DATE_CONDITION",
    { specificDateCondition: { options: [{ month: 2, day: 30 }] } },
    invalid,
    "payload.specificDateCondition.options[0]",
  ],
  [
    "29 February of a common year",
    "SPECIFIC_DATE_CONDITION",
    { specificDateCondition: { options: [{ year: 2027, month: 2, day: 29 }] } },
    invalid,
    "payload.specificDateCondition.options[0]",
  ],
  [
    "the day 0 of the month",
    "DAY_OF_MONTH_CONDITION",
    { dayOfMonthCondition: { options: [{ dayOfMonth: 0 }] } },
    invalid,
    "payload.dayOfMonthCondition.options[0].dayOfMonth",
  ],
  [
    "the weekday 7",
    "DAY_OF_WEEK_CONDITION",
    { dayOfWeekCondition: { options: [{ daysOfWeek: [7] }] } },
    invalid,
    "payload.dayOfWeekCondition.options[0].daysOfWeek[0]",
  ],
  [
    "a country code in small letters",
    "COUNTRY_CONDITION",
    { countryCondition: { countries: [{ countryCode: "de" }] } },
    invalid,
    "payload.countryCondition.countries[0].countryCode",
  ],
  [
    "a country twice",
    "COUNTRY_CONDITION",
    { countryCondition: { countries: [{ countryCode: "DE" }, { countryCode: "DE" }] } },
    invalid,
    "payload.countryCondition",
  ],
  [
    "a visit type twice",
    "VISIT_TYPE_CONDITION",
    { visitTypeCondition: { options: [{ value: "VISIT_TYPE_FIRST" }, { value: "VISIT_TYPE_FIRST" }] } },
    invalid,
    "payload.visitTypeCondition",
  ],
  ["a button id twice", "MULTI_LINK", buttons({ id: "a" }, { id: "a" }), invalid, "payload.multiLink"],
  [
    "an option with the id of the fallback",
    "DEVICE_TYPE_CONDITION",
    { deviceTypeCondition: { options: [{ id: "else" }] } },
    invalid,
    "payload.deviceTypeCondition.options[0].id",
  ],
  [
    "an unknown platform of a social link",
    "SOCIAL_LINKS_PAGE",
    { socialLinks: { links: [{ url: "https://example.com", platform: "spotify" }] } },
    invalid,
    "payload.socialLinks.links[0].platform",
  ],
  [
    "an unknown platform of a card's link",
    "CONTACT_CARD",
    { vcard: { socialLinks: [{}, { platform: "myspace" }] } },
    invalid,
    "payload.vcard.socialLinks[1].platform",
  ],
  ["51 buttons", "MULTI_LINK", buttons(...fiftyOne.map(() => ({}))), invalid, "payload.multiLink.buttons"],
  [
    "51 options",
    "DEVICE_BRAND_CONDITION",
    { deviceBrandCondition: { options: fiftyOne.map(() => ({})) } },
    invalid,
    "payload.deviceBrandCondition.options",
  ],
  [
    "51 ranges",
    "TIME_OF_DAY_CONDITION",
    { timeOfDayCondition: { ranges: fiftyOne.map(() => ({ startTime: "01:00", endTime: "02:00" })) } },
    invalid,
    "payload.timeOfDayCondition.ranges",
  ],
  [
    "51 form fields",
    "FORM_SUBMIT",
    { form: { formFields: fiftyOne.map((n) => ({ key: `k${n}` })) } },
    invalid,
    "payload.form.formFields",
  ],
  [
    "51 countries",
    "COUNTRY_CONDITION",
    {
      countryCondition: {
        countries: fiftyOne.map((n) => ({ countryCode: `${letters[Math.floor(n / 26)]}${letters[n % 26]}` })),
      },
    },
    invalid,
    "payload.countryCondition.countries",
  ],
  [
    "11 social links",
    "SOCIAL_LINKS_PAGE",
    { socialLinks: { links: fiftyOne.slice(0, 11).map(() => ({ url: "https://example.com" })) } },
    invalid,
    "payload.socialLinks.links",
  ],
  [
    "a script as destination",
    "CLIENT_REDIRECT",
    { clientRedirect: { destination: "javascript:alert(1)" } },
    "INVALID_DESTINATION",
    "payload.clientRedirect.destination",
  ],
  [
    "data as a social link",
    "SOCIAL_LINKS_PAGE",
    { socialLinks: { links: [{ url: "https://example.com" }, { url: "data:text/html,x" }] } },
    "INVALID_DESTINATION",
    "payload.socialLinks.links[1].url",
  ],
  [
    "a file as website of a card",
    "CONTACT_CARD",
    { vcard: { website: "file:///etc/passwd" } },
    "INVALID_DESTINATION",
    "payload.vcard.website",
  ],
  [
    "a bare word as a card's link",
    "CONTACT_CARD",
    { vcard: { socialLinks: [{ url: "example" }] } },
    "INVALID_DESTINATION",
    "payload.vcard.socialLinks[0].url",
  ],
];

const milestone = { key: "stage", source: "ATTRIBUTE_CAPTURE_SOURCE_MILESTONE", value: "seen" };
const choice = { key: "choice", source: "ATTRIBUTE_CAPTURE_SOURCE_CHOICE" };
const context = { key: "campaign", source: "ATTRIBUTE_CAPTURE_SOURCE_LINK_CONTEXT" };

const captures: Row<JsonObject[]>[] = [
  ["capture on a condition", "COUNTRY_CONDITION", [milestone], invalid, "attributeCapture"],
  [
    "capture of a reserved key",
    "FORM_SUBMIT",
    [{ ...milestone, key: "$email" }],
    invalid,
    "attributeCapture.attributes[0].key",
  ],
  [
    "capture without key",
    "FORM_SUBMIT",
    [{ ...milestone, key: "" }],
    invalid,
    "attributeCapture.attributes[0].key",
  ],
  ["capture of one key twice", "FORM_SUBMIT", [milestone, milestone], invalid, "attributeCapture"],
  [
    "capture without source",
    "FORM_SUBMIT",
    [{ key: "stage", value: "seen" }],
    invalid,
    "attributeCapture.attributes[0].source",
  ],
  [
    "a milestone without value",
    "FORM_SUBMIT",
    [{ ...milestone, value: "" }],
    invalid,
    "attributeCapture.attributes[0]",
  ],
  [
    "a choice with a value",
    "MULTI_LINK",
    [{ ...choice, value: "x" }],
    invalid,
    "attributeCapture.attributes[0]",
  ],
  [
    "a choice on a form",
    "FORM_SUBMIT",
    [milestone, choice],
    invalid,
    "attributeCapture.attributes[1].source",
  ],
  [
    "a choice on a password page",
    "PASSWORD_VERIFY",
    [choice],
    invalid,
    "attributeCapture.attributes[0].source",
  ],
  ["a choice on a redirect", "CLIENT_REDIRECT", [choice], invalid, "attributeCapture.attributes[0].source"],
  [
    "a piece of the link that there is not",
    "FORM_SUBMIT",
    [{ ...context, value: "purpose" }],
    invalid,
    "attributeCapture.attributes[0]",
  ],
  [
    "21 captured attributes",
    "FORM_SUBMIT",
    [...fiftyOne.slice(0, 21).map((n) => ({ ...milestone, key: `k${n}` }))],
    invalid,
    "attributeCapture.attributes",
  ],
];

describe.each(["rest", "grpc"] as const)("over %s", (protocol) => {
  async function expectRefusal(step: JsonObject, action: string, reason: string, field: string) {
    const before = await listed();
    const request = { linkId: link, eventAction: `EVENT_ACTION_${action}`, ...step };
    const answer = await ask(api, protocol, WorkflowStepsService.method.create, request, workspace.token);
    expect(answer).toMatchObject({ reason, message: expect.stringMatching(/./) });
    expect(answer.message.slice(0, field.length)).toBe(field);
    expect(await listed()).toEqual(before);
  }

  test.each(payloads)("payloads: refuses %s", async (_, action, payload, reason, field) => {
    await expectRefusal({ payload }, action, reason, field);
  });

  test.each(captures)("attribute capture: refuses %s", async (_, action, attributes, reason, field) => {
    await expectRefusal({ attributeCapture: { attributes } }, action, reason, field);
  });
});

test("hosts of the block list are refused in every address of a payload, and nothing is saved", async () => {
  const values = { host: "evil.example", reason: "malware", created_at: api.now() };
  await api.db.insertInto("blocked_hosts").values(values).execute();
  const before = await listed();
  const bad = "https://a.evil.example/x";
  const payloads: [string, object, string][] = [
    ["CLIENT_REDIRECT", { clientRedirect: { destination: bad } }, "payload.clientRedirect.destination"],
    ["SOCIAL_LINKS_PAGE", { socialLinks: { links: [{ url: bad }] } }, "payload.socialLinks.links[0].url"],
    ["CONTACT_CARD", { vcard: { website: bad } }, "payload.vcard.website"],
    ["CONTACT_CARD", { vcard: { socialLinks: [{ url: bad }] } }, "payload.vcard.socialLinks[0].url"],
  ];
  for (const [action, payload, field] of payloads) {
    const body = { eventAction: `EVENT_ACTION_${action}`, payload };
    const { json } = await workspace.rest("POST", steps(), body);
    expect(json.error).toMatchObject({ code: 400, codeType: "MALICIOUS_URL" });
    expect(json.error.message).toContain(`${field}:`);
  }
  const update = { payload: { clientRedirect: { destination: bad } } };
  const path = `${steps()}/${redirect}`;
  expect((await workspace.rest("PATCH", path, update)).json.error.codeType).toBe("MALICIOUS_URL");
  expect(await listed()).toEqual(before);
});
