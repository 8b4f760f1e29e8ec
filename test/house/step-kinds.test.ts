import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { EventTraceDataSchema } from "../../gen/signpost/v1/event_trace_pb.js";
import { SimulatedAnswerSchema } from "../../gen/signpost/v1/workflow_simulation_pb.js";
import { WorkflowStepPayloadSchema } from "../../gen/signpost/v1/workflow_step_payload_pb.js";
import { EventActionSchema } from "../../gen/signpost/v1/workflow_step_pb.js";
import { factsByAction, type StepAction, stepActions } from "../../src/model/steps/kinds.ts";
import { stepKinds } from "../../src/workflow/steps/kinds.ts";
import { steps as specimens } from "../pages/specimens.ts";
import { testDatabase } from "../support/test-database.ts";

// The record's type guarantees that its keys are actions.
const actions = Object.keys(stepActions) as StepAction[];

describe("the record of step kinds has every name of the contract", () => {
  test("actions, in the contract and in the database alike", async () => {
    const contract = EventActionSchema.values
      .map(({ name }) => name.replace("EVENT_ACTION_", ""))
      .filter((name) => name !== "UNSPECIFIED");
    expect(new Set(actions)).toEqual(new Set(contract));
    const { pool } = await testDatabase();
    const { rows } = await pool.query<{ name: string }>(
      "select unnest(enum_range(null::event_action))::text as name",
    );
    expect(new Set(rows.map(({ name }) => name))).toEqual(new Set(actions));
  });

  test("payloads and traces, each one's own, and the answers of simulations", () => {
    const facts = actions.map((action) => factsByAction[action]);
    const payloads = new Set(facts.map(({ payload }) => payload));
    expect(payloads).toEqual(variantsOf(WorkflowStepPayloadSchema));
    const traces = new Set(facts.map(({ trace }) => trace));
    // An identify call leaves a trace too, but it is no step.
    expect(new Set([...traces, "identifyVisitor"])).toEqual(variantsOf(EventTraceDataSchema));
    expect([payloads.size, traces.size]).toEqual([actions.length, actions.length]);
    expect(new Set(facts.flatMap(({ answeredBy }) => answeredBy ?? []))).toEqual(
      variantsOf(SimulatedAnswerSchema),
    );
  });
});

function variantsOf({ oneofs }: DescMessage): Set<string> {
  return new Set(oneofs.flatMap(({ fields }) => fields.map(({ jsonName }) => jsonName)));
}

describe.each(actions)("%s describes its payload as the contract does", (action) => {
  const { kind, nodeType, payload, list, urls, hasPage, answeredBy, offersChoice } = factsByAction[action];
  const fields = WorkflowStepPayloadSchema.fields.find(({ jsonName }) => jsonName === payload)?.message
    ?.fields;
  const lists = (fields ?? []).filter((field) => field.fieldKind === "list" && field.message !== undefined);

  test("its list of elements with ids or branches", () => {
    const named = lists.filter((field) => has(field, "id") || has(field, "nextStepId"));
    expect(named.map(({ jsonName }) => jsonName)).toEqual(list === undefined ? [] : [list.name]);
    const branches = named.filter((field) => has(field, "nextStepId"));
    expect(branches.length).toBe(list?.branch === undefined ? 0 : 1);
    expect(nodeType).toBe(list?.branch === undefined ? "ATOMIC" : "COMPOSITE");
    for (const field of branches) {
      expect(has(field, list?.branch?.id ?? "")).toBe(true);
      expect(has(field, list?.branch?.label ?? "")).toBe(true);
      expect(has(field, "order")).toBe(list?.branch?.isOrdered);
    }
    const hasElse = (fields ?? []).some(({ jsonName }) => jsonName === "elseNextStepId");
    expect(hasElse).toBe(kind === "CONDITION");
  });

  test("its fields with visitors' destinations", () => {
    const found = (fields ?? []).flatMap((field) =>
      isAddress(field)
        ? [field.jsonName]
        : (field.message?.fields ?? [])
            .filter(isAddress)
            .map(({ jsonName }) => `${field.jsonName}[].${jsonName}`),
    );
    expect(new Set(found)).toEqual(new Set<string>(urls));
  });

  test("whether its page asks; only then the engine takes an answer", () => {
    expect(stepKinds[action].submit !== undefined).toBe(answeredBy !== undefined);
    if (kind === "INTERACTION") expect(answeredBy).toBeDefined();
    if (answeredBy !== undefined) expect(hasPage).toBe(true);
    if (offersChoice) expect(answeredBy).toBeDefined();
  });

  test("whether it has a page; the tests of pages draw each", () => {
    expect(Object.values(specimens).some((step) => step.action === action)).toBe(hasPage);
  });
});

function has({ message }: DescField, jsonName: string): boolean {
  return message?.fields.some((field) => field.jsonName === jsonName) === true;
}

function isAddress({ fieldKind, jsonName }: DescField): boolean {
  return fieldKind === "scalar" && /url|uri|href|link|destination|website$/i.test(jsonName);
}

/**
 * The files that name a step kind, outside of the rooms where each kind has a file or an entry of an exhaustive record.
 * Such code concerns only the kinds it names. Properties that every kind has are in the record, where the compiler
 * requires them.
 */
const elsewhere: Record<string, string[]> = {
  // An event tells its entry and its redirect in place of traces.
  "analytics/segments/read-ways.ts": ["LINK_VISIT", "CLIENT_REDIRECT"],
  // A link is made with an entry and one of three exits.
  "api/links/wanted-link.ts": ["CLIENT_REDIRECT", "THANK_YOU_PAGE", "CONTACT_CARD", "socialLinks"],
  "api/links/message.ts": ["LINK_VISIT", "linkVisit"],
  "api/links/create-writes.ts": ["LINK_VISIT", "CLIENT_REDIRECT", "THANK_YOU_PAGE", "CONTACT_CARD"],
  // Conditions on an attribute must be found when the attribute is deleted.
  "api/visitors/writes.ts": ["visitorDataCondition"],
  // Passwords are sealed, opened, compared, and the attempts counted.
  "api/workflow-steps/message.ts": ["PASSWORD_VERIFY"],
  "api/workflow-steps/step-password.ts": ["PASSWORD_VERIFY"],
  // A link that is one contact card is shown as a person in chat apps.
  "hosted/preview-tags.ts": ["CONTACT_CARD"],
  // A preview of a theme shows an example of each page.
  "hosted/samples.ts": [
    "PASSWORD_VERIFY",
    "FORM_SUBMIT",
    "MESSAGE_PAGE",
    "MULTI_LINK",
    "THANK_YOU_PAGE",
    "CONTACT_CARD",
    "SOCIAL_LINKS_PAGE",
    "socialLinks",
  ],
  // Redirects may lead to a form.
  "integrations/google-forms/find-forms.ts": ["CLIENT_REDIRECT"],
  // Tried visits get an answer that fits the page, and a campaign that moves changes its redirects.
  "mcp/steps/try-visits.ts": ["messagePage", "multiLink"],
  "mcp/tasks/redirect-links.ts": ["clientRedirect"],
  "scan/steps/step-password.ts": ["PASSWORD_VERIFY"],
  "scan/steps/take-step.ts": ["PASSWORD_VERIFY"],
  // Values that conditions saw of a visitor are not stored when the visitor has been deleted since.
  "scan/store/write-answers.ts": ["visitorDataCondition"],
  // A visit carries what its own workflow will ask for.
  "scan/visit/asked.ts": ["FORM_SUBMIT", "VISITOR_DATA_CONDITION"],
  // Simulated answers of forms and timer pages are posted in the form of the pages.
  "api/workflow-steps/simulated-answers.ts": ["FORM_SUBMIT", "MESSAGE_PAGE"],
  // The comparison value must fit the operator.
  "api/workflow-steps/rules.ts": ["visitorDataCondition"],
  // Of the exits, three are types of links that people prefer.
  "api/metrics/insight.ts": ["CLIENT_REDIRECT", "CONTACT_CARD", "SOCIAL_LINKS_PAGE"],
  // A form that was answered counts for the score.
  "visitors/score-visit.ts": ["FORM_SUBMIT"],
  // Timers run on their own, and contact cards are served as files.
  "scan/steps/step-timer.ts": ["MESSAGE_PAGE"],
  "scan/steps/step-handler.ts": ["CONTACT_CARD"],
  // The traces of entries and redirects derive from the event, including a redirect to the fallback.
  "scan/steps/step-place.ts": ["CLIENT_REDIRECT"],
  "scan/steps/step-traces.ts": ["CLIENT_REDIRECT"],
  "scan/store/write-events.ts": ["CLIENT_REDIRECT"],
  "scan/store/write-traces.ts": ["LINK_VISIT", "CLIENT_REDIRECT", "entryAccess"],
  "workflow/simulate.ts": ["CLIENT_REDIRECT", "entryAccess"],
};

// Names such as `form` are everyday words that occur everywhere.
const variants = actions.flatMap((action) => [stepActions[action].payload, stepActions[action].trace]);
const names = new Set<string>([...actions, ...variants.filter((name) => /[A-Z]/.test(name))]);

function namesIn(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const words = new Set(code.match(/\w+/g));
  return [...names].filter((name) => words.has(name));
}

test("a step kind is named only in the model, the engine, the pages and the listed files", () => {
  expect(
    namesIn(
      '/** MULTI_LINK */\n// messagePage\nif (action === "COUNTRY_CONDITION") return vcard.socialLinks;',
    ),
  ).toEqual(["COUNTRY_CONDITION", "socialLinks"]);
  const root = fileURLToPath(new URL("../../src", import.meta.url));
  const found = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.[jt]s$/.test(file) && !file.endsWith(".test.ts"))
    .filter(
      (file) => !/^(?:model\/steps|workflow\/steps|scan\/pages|hosted\/steps|db\/migrations)\//.test(file),
    )
    .flatMap((file): [string, string[]][] => {
      const named = namesIn(readFileSync(`${root}/${file}`, "utf8"));
      return named.length === 0 ? [] : [[file, named]];
    });
  expect(Object.fromEntries(found)).toEqual(elsewhere);
});
