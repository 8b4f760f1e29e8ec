import fc from "fast-check";
import type { StepAction, stepActions } from "../../src/model/steps/kinds.ts";
import type { StepRole } from "../../src/model/steps/step.ts";
import { elseBranchId, nextBranchId } from "../../src/model/workflow/workflow.ts";
import type { StepSeed } from "../support/insert-workflow.ts";

export const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kathmandu",
  "Pacific/Apia",
  "Australia/Lord_Howe",
];
const addresses = ["81.2.69.142", "8.8.8.8", "133.242.0.3", "185.60.216.35", "196.25.1.1", "203.0.113.7"];
const userAgents = [
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Linux; Android 15; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
  "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0",
  "Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ChatGPT-User/1.0; +https://openai.com/bot)",
  "",
];

const stepName = fc.integer({ min: 0, max: 8 }).map((number) => `s${number}`);
/** The next step of a branch; a few branches have none. */
const target = fc.option(stepName, { freq: 8 });

type Seed = Omit<StepSeed, "action">;

/** The settings of a step of some kind, with the branches that its payload makes. */
function step(payload: fc.Arbitrary<object>, branches: (payload: object) => string[]) {
  return payload.chain((made) =>
    fc
      .tuple(...branches(made).map((branch) => target.map((to) => [branch, to] as const)))
      .map((wires): Seed => {
        const next = Object.fromEntries(wires.filter((wire): wire is [string, string] => wire[1] !== null));
        return { payload: made, next };
      }),
  );
}

/** A record of every action of a role; a missing action does not compile. */
type StepsOf<Role extends StepRole> = {
  readonly [Action in StepAction as (typeof stepActions)[Action]["kind"] extends Role
    ? Action
    : never]: fc.Arbitrary<Seed>;
};

function seedsOf(steps: Readonly<Record<string, fc.Arbitrary<Seed>>>): fc.Arbitrary<StepSeed>[] {
  return Object.entries(steps).map(
    ([action, made]) => made.map((seed) => ({ action: action as StepAction, ...seed })), // by its type
  );
}

const onward = () => [nextBranchId];
const title = fc.constantFrom("Hello", "Wie geht's?", "<b>مرحبا</b>");

function options<Value>(choice: fc.Arbitrary<Value>) {
  return fc.array(choice, { minLength: 0, maxLength: 3 }).map((choices) => ({
    options: choices.map((value, index) => ({ id: `o${index}`, name: `Option ${index}`, ...value })),
  }));
}
const optionIds = (payload: object) => [
  ...Array.from({ length: (payload as { options: object[] }).options.length }, (_, index) => `o${index}`), // made by `options`
  elseBranchId,
];
const oneOf = (prefix: string, values: readonly string[]) =>
  options(fc.constantFrom(...values).map((value) => ({ value: `${prefix}${value}` })));

const clock = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom("00", "15", "30", "59"))
  .map(([hour, minute]) => `${String(hour).padStart(2, "0")}:${minute}`);

const conditions: StepsOf<"CONDITION"> = {
  VISIT_TYPE_CONDITION: step(
    fc
      .subarray(["VISIT_TYPE_FIRST", "VISIT_TYPE_RETURNING"])
      .map((values) => ({ options: values.map((value) => ({ value })) })),
    (payload) => [
      ...(payload as { options: { value: string }[] }).options.map(({ value }) => value), // made above
      elseBranchId,
    ],
  ),
  COUNTRY_CONDITION: step(
    fc
      .subarray(["GB", "US", "JP", "ZA", "IE", "DE"])
      .map((codes) => ({ countries: codes.map((countryCode) => ({ countryCode })) })),
    (payload) => [
      ...(payload as { countries: { countryCode: string }[] }).countries.map(
        ({ countryCode }) => countryCode,
      ), // made above
      elseBranchId,
    ],
  ),
  DAY_OF_WEEK_CONDITION: step(
    options(fc.record({ daysOfWeek: fc.subarray([0, 1, 2, 3, 4, 5, 6]) })),
    optionIds,
  ),
  TIME_OF_DAY_CONDITION: step(
    options(fc.record({ startTime: clock, endTime: clock })).map(({ options: ranges }) => ({ ranges })),
    (payload) => optionIds({ options: (payload as { ranges: object[] }).ranges }), // made above
  ),
  DAY_OF_MONTH_CONDITION: step(
    options(fc.record({ dayOfMonth: fc.constantFrom(-1, 1, 2, 15, 28, 29, 30, 31) })),
    optionIds,
  ),
  SPECIFIC_DATE_CONDITION: step(
    options(
      fc.record(
        {
          year: fc.constantFrom(2026, 2027),
          month: fc.constantFrom(1, 2, 3, 11, 12),
          day: fc.integer({ min: 1, max: 28 }),
        },
        { requiredKeys: ["month", "day"] },
      ),
    ),
    optionIds,
  ),
  DEVICE_TYPE_CONDITION: step(
    oneOf("DEVICE_TYPE_CONDITION_VALUE_", ["MOBILE", "DESKTOP", "TABLET", "UNKNOWN"]),
    optionIds,
  ),
  DEVICE_PLATFORM_CONDITION: step(
    oneOf("DEVICE_PLATFORM_CONDITION_VALUE_", ["IOS", "ANDROID", "WINDOWS", "LINUX"]),
    optionIds,
  ),
  DEVICE_BROWSER_CONDITION: step(
    oneOf("DEVICE_BROWSER_CONDITION_VALUE_", ["CHROME", "SAFARI", "FIREFOX", "EDGE"]),
    optionIds,
  ),
  DEVICE_BRAND_CONDITION: step(oneOf("DEVICE_BRAND_CONDITION_VALUE_", ["APPLE", "SAMSUNG"]), optionIds),
  DEVICE_ACTOR_CONDITION: step(
    oneOf("DEVICE_ACTOR_CONDITION_VALUE_", ["HUMAN", "BOT", "AGENT", "UNKNOWN"]),
    optionIds,
  ),
  VISITOR_DATA_CONDITION: step(
    options(
      fc.record({
        attributeKey: fc.constantFrom("$email", "plan", "age", "since", "news", "color"),
        operator: fc
          .constantFrom(
            ...[
              "EQUALS",
              "NOT_EQUALS",
              "CONTAINS",
              "NOT_CONTAINS",
              "STARTS_WITH",
              "ENDS_WITH",
              "IS_EMPTY",
              "IS_NOT_EMPTY",
            ].map((name) => `STRING_${name}`),
            "NUMBER_EQUALS",
            "NUMBER_GREATER_THAN",
            "NUMBER_NOT_EQUALS",
            "NUMBER_LESS_OR_EQUAL",
            "DATE_EQUALS",
            "DATE_BEFORE",
            "DATE_AFTER",
            "BOOLEAN_IS_TRUE",
            "BOOLEAN_IS_FALSE",
            "DATE_BEFORE_OR_EQUAL",
            "DATE_AFTER_OR_EQUAL",
            "EXISTS",
            "NOT_EXISTS",
          )
          .map((name) => `VISITOR_ATTRIBUTE_FILTER_OPERATOR_${name}`),
        comparisonValue: fc.constantFrom("pro", "PR", "18", "30", "2026-03-01", "example.com"),
      }),
    ),
    optionIds,
  ),
};

const interactions: StepsOf<"INTERACTION"> = {
  PASSWORD_VERIFY: step(fc.record({ title }), onward),
  FORM_SUBMIT: step(
    fc.record({ formTitle: title, skipForm: fc.boolean(), autoSkipIfKnown: fc.boolean() }).map((form) => ({
      ...form,
      formFields: [
        { id: "mail", key: "$email", label: "E-mail", type: "FORM_FIELD_TYPE_EMAIL" },
        { id: "plan", key: "plan", label: "Plan", type: "FORM_FIELD_TYPE_TEXT", required: true },
        { id: "age", key: "age", label: "Age", type: "FORM_FIELD_TYPE_NUMBER" },
      ],
    })),
    onward,
  ),
  MESSAGE_PAGE: step(
    fc.record({ title, navigationType: fc.constant("MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON") }),
    onward,
  ),
  MULTI_LINK: step(
    fc.record({ title }).map((page) => ({
      ...page,
      buttons: [
        { id: "a", label: "One" },
        { id: "b", label: "Two", order: 0 },
      ],
    })),
    () => ["a", "b"],
  ),
};

const exits: StepsOf<"EXIT"> = {
  CLIENT_REDIRECT: step(
    fc.record({
      destination: fc.constantFrom(
        "https://example.com/?a=1#top",
        "https://example.org",
        "mailto:ada@example.com",
      ),
      conversionTracking: fc.boolean(),
    }),
    () => [],
  ),
  THANK_YOU_PAGE: step(fc.record({ title }), () => []),
  CONTACT_CARD: step(fc.constant({ firstName: "Ada", lastName: "Lovelace" }), () => []),
  SOCIAL_LINKS_PAGE: step(fc.constant({ links: [{ id: "l", url: "https://example.net" }] }), () => []),
};

const attributeWrite = fc.record({
  key: fc.constantFrom("plan", "color", "age", "since"),
  value: fc.constantFrom(
    "pro",
    "18",
    "2026-03-01",
    "{{link.name}}",
    "{{choice.id}}",
    "{{link.metadata.none}}",
  ),
  type: fc.constantFrom("UNSPECIFIED", "NUMBER", "DATE").map((type) => `VISITOR_ATTRIBUTE_TYPE_${type}`),
  mode: fc.constantFrom("UNSPECIFIED", "SET_ONCE").map((mode) => `ATTRIBUTE_WRITE_MODE_${mode}`),
});

/** Adds attribute writes to steps that may have them. */
function capturing(seeds: StepSeed, write: object | null): StepSeed {
  if (write === null || seeds.action.endsWith("_CONDITION")) return seeds;
  return { ...seeds, capture: { enabled: true, writes: [write] } };
}

export interface RandomWorkflow {
  readonly steps: Readonly<Record<string, StepSeed>>;
  readonly hasFallback: boolean;
  readonly zone: string;
}

/** A workflow of three to nine steps after an entry, wired at random, with possible circles. */
export const workflow: fc.Arbitrary<RandomWorkflow> = fc
  .tuple(
    fc.array(
      fc.tuple(
        fc.oneof(
          { weight: 5, arbitrary: fc.oneof(...seedsOf(conditions)) },
          { weight: 3, arbitrary: fc.oneof(...seedsOf(interactions)) },
          { weight: 3, arbitrary: fc.oneof(...seedsOf(exits)) },
        ),
        fc.option(attributeWrite, { freq: 2, nil: null }),
      ),
      { minLength: 3, maxLength: 9 },
    ),
    fc.boolean(),
    fc.constantFrom(...zones),
  )
  .map(([seeds, hasFallback, zone]) => {
    const named = seeds.map(([made, write], index) => [`s${index}`, capturing(made, write)] as const);
    const known = new Set<string>(named.map(([name]) => name));
    const steps: Record<string, StepSeed> = {
      entry: { action: "LINK_VISIT", next: { [nextBranchId]: "s0" } },
    };
    for (const [name, made] of named) {
      const wires = Object.entries(made.next ?? {}).filter(([, to]) => known.has(to));
      steps[name] = { ...made, next: Object.fromEntries(wires) };
    }
    return { steps, hasFallback, zone };
  });

/** A visitor with a past, and the visitor's answers. */
export interface RandomVisit {
  readonly atMs: number;
  readonly address: string;
  readonly userAgent: string;
  readonly query: string;
  /** What earlier visits left with the visitor; null on a first visit. */
  readonly known: Readonly<Record<string, string>> | null;
  /** The index of the answer at the nth page. */
  readonly choices: readonly number[];
}

export const visit: fc.Arbitrary<RandomVisit> = fc.record({
  atMs: fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 0, 1) }),
  address: fc.constantFrom(...addresses),
  userAgent: fc.constantFrom(...userAgents),
  query: fc.constantFrom("", "qr", "utm_source=x&a=2", "qr&lbid=zzz"),
  known: fc.option(
    fc.record(
      {
        $email: fc.constantFrom("ada@example.com", "bob@example.net"),
        plan: fc.constantFrom("pro", "Basic"),
        age: fc.constantFrom("17", "18", "31", "old"),
        since: fc.constantFrom("2026-02-28", "2026-03-01", "2026-03-02T12:00:00Z"),
        news: fc.constantFrom("true", "false"),
      },
      { requiredKeys: [] },
    ),
  ),
  choices: fc.array(fc.nat({ max: 5 }), { minLength: 6, maxLength: 6 }),
});
