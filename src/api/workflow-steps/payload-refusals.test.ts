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

/** A new step, why it is refused, and the path of the field with which the message begins. */
type Row<Given> = readonly [rule: string, action: string, given: Given, reason: string, field: string];

const invalid = "INVALID_ARGUMENT";
const fiftyOne = Array.from({ length: 51 }, (_, index) => index);
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

function buttons(...list: JsonObject[]): JsonObject {
  return { multiLink: { buttons: list } };
}

function known(attributeKey: string, operator: string, comparisonValue = ""): JsonObject {
  return { visitorDataCondition: { options: [{ attributeKey, operator, comparisonValue }] } };
}

const knownPlace = "payload.visitorDataCondition.options[0]";

const payloads: Row<JsonObject>[] = [
  ...[
    ["no operator", known("plan", ""), "operator"],
    ["UNSPECIFIED", known("plan", "VISITOR_ATTRIBUTE_FILTER_OPERATOR_UNSPECIFIED"), "operator"],
    ["an operator that there is not", known("plan", "STRING_MATCHES"), "operator"],
    ["a number of a reserved key", known("$phone", "NUMBER_EQUALS", "1"), "operator"],
    ["a number that is none", known("age", "NUMBER_LESS_THAN", "ten"), "comparisonValue"],
    ["a date that there is not", known("since", "DATE_AFTER", "2026-02-30"), "comparisonValue"],
  ].map(
    ([rule, payload, part]): Row<JsonObject> => [
      `visitor data: ${rule}`,
      "VISITOR_DATA_CONDITION",
      payload as JsonObject, // of rows of text and payload
      invalid,
      `${knownPlace}.${part}`,
    ],
  ),
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

const stage = { key: "stage", value: "seen" };
const readyPage = {
  payload: { messagePage: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" } },
};

const captures: Row<JsonObject[]>[] = [
  ["capture on a condition", "COUNTRY_CONDITION", [stage], invalid, "attributeCapture"],
  ["a reserved key", "FORM_SUBMIT", [{ ...stage, key: "$email" }], invalid, "attributeCapture.writes[0].key"],
  [
    "a key with a space",
    "FORM_SUBMIT",
    [{ ...stage, key: "a b" }],
    invalid,
    "attributeCapture.writes[0].key",
  ],
  ["no key", "FORM_SUBMIT", [{ ...stage, key: "" }], invalid, "attributeCapture.writes[0].key"],
  [
    "a key of 65 characters",
    "FORM_SUBMIT",
    [{ ...stage, key: "k".repeat(65) }],
    invalid,
    "attributeCapture.writes[0].key",
  ],
  ["one key twice", "FORM_SUBMIT", [stage, stage], invalid, "attributeCapture.writes"],
  ...["{{}}", "{{ now }}", "{{link.shortlink}}", "{{link.metadata.}}", "a{{choice}}b", "{{{now}}}"].map(
    (value): Row<JsonObject[]> => [
      `the template ${value}`,
      "MULTI_LINK",
      [stage, { key: "other", value }],
      invalid,
      "attributeCapture.writes[1].value",
    ],
  ),
  ...["MESSAGE_PAGE", "SOCIAL_LINKS_PAGE", "CONTACT_CARD", "PASSWORD_VERIFY"].map(
    (action): Row<JsonObject[]> => [
      `a choice on ${action}`,
      action,
      [{ key: "choice", value: "{{choice.id}}" }],
      invalid,
      "attributeCapture.writes[0].value",
    ],
  ),
  [
    "a type that there is not",
    "FORM_SUBMIT",
    [{ ...stage, type: 77 }],
    invalid,
    "attributeCapture.writes[0].type",
  ],
  [
    "21 writes",
    "FORM_SUBMIT",
    [...fiftyOne.slice(0, 21).map((n) => ({ ...stage, key: `k${n}` }))],
    invalid,
    "attributeCapture.writes",
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

  test.each(captures)("attribute capture: refuses %s", async (_, action, writes, reason, field) => {
    const step = { ...(action === "MESSAGE_PAGE" && readyPage), attributeCapture: { writes } };
    await expectRefusal(step, action, reason, field);
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
