import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { WorkflowStepsService } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { type Answer, ask } from "../../../test/support/ask.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";

const api = await startApi();
const protocols = ["rest", "grpc"] as const;

/** A link: password → form → country → buttons → redirect, thank-you page or social links. */
interface Built {
  readonly workspace: TestWorkspace;
  readonly link: string;
  readonly entrypoint: string;
  readonly entry: string;
  readonly password: string;
  readonly form: string;
  readonly country: string;
  readonly buttons: string;
  readonly redirect: string;
  readonly thanks: string;
  readonly social: string;
}

let built: Built;

beforeAll(async () => {
  built = await build();
});

async function build(): Promise<Built> {
  const workspace = await api.newWorkspace();
  const made = await workspace.rest("POST", "/v1/links", {
    destination: "https://shop.example/?a=1",
    conversionTracking: true,
  });
  const { link, workflowSteps } = made.json;
  const [entry, redirect] = workflowSteps.map(({ id }: { id: string }) => id);
  const steps = `/v1/links/${link.id}/workflow-steps`;
  const add = async (action: string, payload: object, rest: object = {}) => {
    const body = { eventAction: `EVENT_ACTION_${action}`, payload, ...rest };
    const { status, json } = await workspace.rest("POST", steps, body);
    expect(status, JSON.stringify(json)).toBe(200);
    return json.workflowStep.id;
  };
  const capture = (...writes: object[]) => ({ attributeCapture: { enabled: true, writes } });
  const social = await add(
    "SOCIAL_LINKS_PAGE",
    { socialLinks: { title: "Follow", links: [{ id: "i", url: "https://instagram.com/ada" }] } },
    capture({ key: "network", value: "social" }),
  );
  const thanks = await add("THANK_YOU_PAGE", { thankYouPage: { title: "Thanks" } });
  const buttons = await add(
    "MULTI_LINK",
    {
      multiLink: {
        title: "Choose",
        buttons: [
          { id: "shop", label: "Shop", nextStepId: redirect },
          { id: "bye", label: "Bye", nextStepId: thanks },
          { id: "follow", label: "Follow", nextStepId: social },
          { id: "nowhere", label: "Nowhere" },
        ],
      },
    },
    capture(
      { key: "wish", value: "{{choice.label}}", type: "VISITOR_ATTRIBUTE_TYPE_ENUM" },
      { key: "stage", value: "chose" },
    ),
  );
  const country = await add("COUNTRY_CONDITION", {
    countryCondition: { countries: [{ countryCode: "DE", nextStepId: buttons }], elseNextStepId: thanks },
  });
  const form = await add("FORM_SUBMIT", {
    form: {
      formTitle: "Who?",
      skipForm: true,
      formFields: [
        { id: "mail", key: "$email", type: "FORM_FIELD_TYPE_EMAIL", required: true },
        { id: "stars", key: "stars", type: "FORM_FIELD_TYPE_RATING" },
      ],
    },
  });
  const password = await add("PASSWORD_VERIFY", { password: { title: "Members", password: "open sesame" } });
  const connect = async (stepId: string, nextStepId: string) => {
    const answer = await workspace.rest("PUT", `${steps}/${stepId}/branches/next/connection`, { nextStepId });
    expect(answer.status).toBe(200);
  };
  await connect(entry, password);
  await connect(password, form);
  await connect(form, country);
  const { id, entrypoint } = link;
  return {
    workspace,
    link: id,
    entrypoint,
    entry,
    password,
    form,
    country,
    buttons,
    redirect,
    thanks,
    social,
  };
}

function simulate(
  protocol: (typeof protocols)[number],
  request: JsonObject,
  { workspace, link }: Built = built,
): Promise<Answer> {
  return ask(
    api,
    protocol,
    WorkflowStepsService.method.simulate,
    { linkId: link, ...request },
    workspace.token,
  );
}

/** Answers that lead to the buttons. */
function toButtons({ password, form }: Built): JsonObject[] {
  return [
    { stepId: password, passwordMatches: true },
    { stepId: form, form: { fields: [{ field: "mail", values: ["ada@example.com"] }] } },
  ];
}

const germany = { country: "DE", at: "2026-11-21T12:00:00Z" };

describe.each(protocols)("over %s", (protocol) => {
  test("tells the way, the reason of each branch, what is saved, and where it ends", async () => {
    const { entry, password, form, country, buttons, redirect, entrypoint } = built;
    const { body } = await simulate(protocol, {
      visit: { ...germany, query: "qr&utm=1", visitType: "VISIT_TYPE_RETURNING" },
      answers: [...toButtons(built), { stepId: buttons, button: "shop" }],
    });
    const destination = "https://shop.example/?a=1&utm=1&lbid=LBID";
    const saved = (key: string, value: string, type = "STRING", setOnce = false) => ({
      key,
      value,
      type: `VISITOR_ATTRIBUTE_TYPE_${type}`,
      setOnce,
    });
    expect(body).toMatchObject({
      path: [
        {
          stepId: entry,
          eventAction: "EVENT_ACTION_LINK_VISIT",
          kind: "KIND_ENTRY",
          branchId: "next",
          reason: "everybody is let in",
          completed: true,
          stepData: {
            entryAccess: {
              accessedAt: "2026-11-21T12:00:00.000Z",
              action: "SCAN",
              entrypoint,
              httpMethod: "GET",
              visitType: "RETURNING",
            },
          },
        },
        {
          stepId: password,
          branchId: "next",
          reason: "the password matches",
          stepData: { password: { title: "Members", validated: true } },
        },
        {
          stepId: form,
          kind: "KIND_INTERACTION",
          branchId: "next",
          reason: "the form is submitted",
          completed: true,
          stepData: { form: { action: "SUBMITTED", submittedFields: 1, totalFields: 2 } },
          savedAttributes: [saved("$email", "ada@example.com")],
        },
        {
          stepId: country,
          kind: "KIND_CONDITION",
          branchId: "DE",
          reason: 'the country is DE; country 1, "DE", matches',
          stepData: { countryCondition: { countries: [{ countryCode: "DE", hasRoute: true }] } },
        },
        {
          stepId: buttons,
          branchId: "shop",
          reason: 'button "Shop" is pressed',
          stepData: { multiLink: { selectedButton: { id: "shop", label: "Shop" } } },
          savedAttributes: [saved("wish", "Shop", "ENUM"), saved("stage", "chose")],
        },
        {
          stepId: redirect,
          kind: "KIND_EXIT",
          branchId: "",
          completed: true,
          stepData: { redirect: { destination, conversionTracking: true, fallback: false } },
        },
      ],
      end: { kind: "KIND_REDIRECT", stepId: redirect, destination },
      journey: {
        stepsReached: 5,
        stepsTotal: 5,
        completed: true,
      },
      unusedAnswers: 0,
    });
  });

  test("waits at the first page without an answer, after every answer that was refused", async () => {
    const { password, form, thanks } = built;
    const refusedMail = { stepId: form, form: { fields: [{ field: "stars", values: ["6"] }] } };
    const { body } = await simulate(protocol, {
      answers: [
        refusedMail,
        { stepId: password, passwordMatches: false },
        { stepId: password, passwordMatches: true },
      ],
    });
    expect(body).toMatchObject({
      path: [
        {},
        {
          stepId: password,
          completed: true,
          refusedAnswers: [{ status: 401, faults: [{ field: "password", kind: "KIND_PASSWORD" }] }],
        },
        {
          stepId: form,
          branchId: "",
          completed: false,
          reason: "the page waits for an answer",
          refusedAnswers: [
            {
              status: 422,
              faults: [
                { field: "mail", kind: "KIND_REQUIRED" },
                { field: "stars", kind: "KIND_RATING" },
              ],
            },
          ],
          savedAttributes: [],
        },
      ],
      end: { kind: "KIND_WAITING", stepId: form, destination: "" },
      journey: { stepsReached: 3, stepsTotal: 4, completed: false },
    });
    const left = await simulate(protocol, { answers: [{ stepId: form, form: { skip: true } }] });
    expect(left.body).toMatchObject({ end: { stepId: password }, unusedAnswers: 1 });
    const skipped = await simulate(protocol, {
      answers: [
        { stepId: password, passwordMatches: true },
        { stepId: form, form: { skip: true } },
      ],
    });
    expect(skipped.body).toMatchObject({
      path: [{}, {}, { reason: "the form is skipped" }, { branchId: "else" }, { stepId: thanks }],
      end: { kind: "KIND_PAGE", stepId: thanks },
    });
  });

  test("shows what a press on an exit's page saves, where the visit stays", async () => {
    const { buttons, social } = built;
    const { body } = await simulate(protocol, {
      visit: germany,
      answers: [
        ...toButtons(built),
        { stepId: buttons, button: "follow" },
        { stepId: social, socialLink: "i" },
      ],
    });
    expect(body).toMatchObject({
      path: [
        {},
        {},
        {},
        {},
        {},
        {
          stepId: social,
          branchId: "",
          stepData: { socialLinks: { selectedLink: { id: "i", platform: "instagram" } } },
          savedAttributes: [{ key: "network", value: "social" }],
        },
      ],
      end: { kind: "KIND_PAGE", stepId: social },
    });
  });

  test("says where a branch leads nowhere, and what the fallback is", async () => {
    const { buttons, workspace, link } = built;
    const fallbackDestination = "https://fallback.example/";
    await workspace.rest("PATCH", `/v1/links/${link}`, { fallbackDestination });
    const { body } = await simulate(protocol, {
      visit: { ...germany, query: "utm=1" },
      answers: [...toButtons(built), { stepId: buttons, button: "nowhere" }],
    });
    expect(body).toMatchObject({
      path: [{}, {}, {}, {}, { reason: 'button "Nowhere" is pressed, which leads nowhere' }],
      end: { kind: "KIND_FALLBACK", stepId: "", destination: `${fallbackDestination}?utm=1` },
      journey: { completed: false, stepsReached: 4, stepsTotal: 5 },
    });
  });

  test("a bot gets a page to preview, an agent is asked and leaves nothing", async () => {
    const { password, buttons } = built;
    const answers = [...toButtons(built), { stepId: buttons, button: "bye" }];
    const as = (deviceActor: string) => simulate(protocol, { visit: { ...germany, deviceActor }, answers });
    const bot = await as("DEVICE_ACTOR_BOT");
    expect(bot.body).toMatchObject({
      path: [{}, { stepId: password, completed: false }],
      end: { kind: "KIND_PREVIEW", stepId: password },
      unusedAnswers: 3,
    });
    const agent = await as("DEVICE_ACTOR_AGENT");
    expect(agent.body).toMatchObject({ end: { kind: "KIND_PAGE" }, unusedAnswers: 0 });
    expect(JSON.stringify(agent.body)).not.toContain("VISITOR_ATTRIBUTE_TYPE");
  });

  describe("refuses", () => {
    test.each<[string, (ids: Built) => JsonObject, string, string]>([
      ["an unknown link", () => ({ linkId: randomUUID() }), "NOT_FOUND", "linkId"],
      [
        "a step of no link",
        () => ({ answers: [{ stepId: randomUUID(), button: "a" }] }),
        "NOT_FOUND",
        "answers[0].stepId",
      ],
      [
        "a step that asks nothing",
        ({ redirect }) => ({ answers: [{ stepId: redirect, proceed: true }] }),
        "INVALID_ARGUMENT",
        "answers[0].stepId",
      ],
      [
        "an answer of another kind of step",
        ({ buttons, password }) => ({
          answers: [
            { stepId: password, passwordMatches: true },
            { stepId: buttons, proceed: true },
          ],
        }),
        "INVALID_ARGUMENT",
        "answers[1].proceed",
      ],
      [
        "a field that the form does not have",
        ({ form }) => ({ answers: [{ stepId: form, form: { fields: [{ field: "gone", values: ["x"] }] } }] }),
        "INVALID_ARGUMENT",
        "answers[0].form.fields[0].field",
      ],
      [
        "an answer that says nothing",
        ({ form }) => ({ answers: [{ stepId: form }] }),
        "INVALID_ARGUMENT",
        "answers[0]",
      ],
      [
        "a country that is no code",
        () => ({ visit: { country: "Germany" } }),
        "INVALID_ARGUMENT",
        "visit.country",
      ],
      [
        "an attribute that nobody has",
        () => ({ visit: { attributes: { $age: "7" } } }),
        "INVALID_ARGUMENT",
        "visit.attributes",
      ],
    ])("%s", async (_, request, reason, field) => {
      const answer = await simulate(protocol, request(built));
      expect(answer.reason).toBe(reason);
      expect(answer.message.slice(0, field.length)).toBe(field);
    });
  });
});

test("nothing is recorded", async () => {
  const { buttons, workspace } = built;
  const rows = async () => {
    const counts = [];
    for (const table of [
      "events",
      "traces",
      "visits",
      "visitors",
      "visitor_attributes",
      "devices",
    ] as const) {
      const { count } = await api.db
        .selectFrom(table)
        .select((e) => e.fn.countAll().as("count"))
        .where("workspace_id", "=", workspace.workspaceId)
        .executeTakeFirstOrThrow();
      counts.push(count);
    }
    return counts;
  };
  const before = await rows();
  const answers = [...toButtons(built), { stepId: buttons, button: "shop" }];
  expect((await simulate("rest", { visit: germany, answers })).reason).toBe("OK");
  expect(await rows()).toEqual(before);
});

test("the time is now unless it is given, where the workspace is", async () => {
  const workspace = await api.newWorkspace();
  await api.db
    .updateTable("workspaces")
    .set({ timezone: "Asia/Tokyo" })
    .where("id", "=", workspace.workspaceId)
    .execute();
  const made = await workspace.rest("POST", "/v1/links", { destination: "https://example.com" });
  const { link, workflowSteps } = made.json;
  const steps = `/v1/links/${link.id}/workflow-steps`;
  await workspace.rest("POST", steps, {
    eventAction: "EVENT_ACTION_TIME_OF_DAY_CONDITION",
    payload: {
      timeOfDayCondition: {
        ranges: [
          { id: "day", name: "Day", startTime: "08:00", endTime: "20:00", nextStepId: workflowSteps[1].id },
        ],
        elseNextStepId: workflowSteps[1].id,
      },
    },
  });
  const all = await workspace.rest("GET", steps);
  const condition = all.json.workflowSteps[2].id;
  await workspace.rest("PUT", `${steps}/${workflowSteps[0].id}/branches/next/connection`, {
    nextStepId: condition,
  });
  const reasonAt = async (visit: JsonObject) => {
    const { json } = await workspace.rest("POST", `/v1/links/${link.id}/workflow-steps:simulate`, { visit });
    return json.path[1].reason;
  };
  expect(await reasonAt({ at: "2026-11-21T12:30:00Z" })).toBe("it is 21:30 in Asia/Tokyo; no range matches");
  expect(await reasonAt({ at: "2026-11-21T00:30:00Z" })).toBe(
    'it is 09:30 in Asia/Tokyo; range 1, "Day", matches',
  );
  const clock = (at: Date) => at.toLocaleTimeString("en-GB", { timeZone: "Asia/Tokyo" }).slice(0, 5);
  const [before, reason, after] = [clock(api.now()), await reasonAt({}), clock(api.now())];
  expect([before, after]).toContain(/\d\d:\d\d/.exec(reason)?.[0]);
});
