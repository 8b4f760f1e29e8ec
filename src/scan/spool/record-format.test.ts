import fc from "fast-check";
import { expect, test } from "vitest";
import { compilePlan, type Plan, type PlanRow } from "../../model/workflow/plan.ts";
import { decide } from "../../workflow/decide.ts";
import { journeyOf } from "../../workflow/journey.ts";
import type { Visit, VisitDevice } from "../../workflow/visit.ts";
import { framedLength, type RecordText } from "./framed-records.ts";
import { decodeVisit } from "./read-record.ts";
import { encodeVisit, type SeenVisit } from "./record-format.ts";
import { createVisitIds, lbidOf, textOfId } from "./visit-id.ts";

const uuid = (digit: number) => `0198aaaa-0000-7000-8000-00000000000${digit}`;
const row: PlanRow = {
  workspaceId: uuid(1),
  linkId: uuid(2),
  host: "",
  shortlink: "menu",
  environment: "live",
  timezone: "UTC",
  dataCollection: "BASIC",
  fallbackDestination: "",
  rootDestination: "",
  workspaceExpiresAt: null,
  expiresAt: null,
  expiredDestination: "",
  link: { name: "Menu", shortlink: "menu", tags: [], metadata: {}, purpose: "" },
  pageTheme: null,
  pageFiles: null,
  steps: [
    { id: uuid(3), action: "LINK_VISIT", payload: {} },
    { id: uuid(4), action: "CLIENT_REDIRECT", payload: { destination: "https://example.com/" } },
  ],
  connections: [{ stepId: uuid(3), branchId: "next", nextStepId: uuid(4) }],
  subscriptionType: "ENTERPRISE_PLAN",
  trialEndsAt: null,
};
const plan = compilePlan(row, "https://go.example/menu");
const capture = {
  enabled: true,
  writes: [{ key: "came", value: "yes", mode: "ATTRIBUTE_WRITE_MODE_SET_ONCE" }],
};
const askingPlan = compilePlan(
  {
    ...row,
    steps: [
      { id: uuid(3), action: "LINK_VISIT", payload: {}, attributeCapture: capture },
      { id: uuid(5), action: "COUNTRY_CONDITION", payload: { countries: [{ countryCode: "DE" }] } },
      {
        id: uuid(6),
        action: "MESSAGE_PAGE",
        payload: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" },
      },
    ],
    connections: [
      { stepId: uuid(3), branchId: "next", nextStepId: uuid(5) },
      { stepId: uuid(5), branchId: "DE", nextStepId: uuid(6) },
    ],
  },
  "https://go.example/menu",
);
const atMs = Date.UTC(2026, 7, 1);
const seen: SeenVisit = {
  id: createVisitIds()(atMs),
  action: "SCAN",
  level: "BASIC",
  headers: {
    "user-agent": "Mozilla",
    "accept-language": "de",
    "sec-purpose": "prefetch",
    cookie: "secret=1",
  },
  address: "203.0.113.7",
  cookie: "2f1e8c3a-0c0b-4b7e-9d55-6a0c7d7f0e11",
  cookieWasSent: true,
  query: "a=1",
};

/** The record of a German visitor. */
function encoded(of: Plan, changed: Partial<SeenVisit> = {}): RecordText {
  const visit: Visit = {
    query: "a=1",
    lbid: () => "",
    dataCollection: "BASIC",
    visitType: "FIRST",
    country: () => "DE",
    device: () => device,
    attributes: undefined,
  };
  const walk = decide(of, visit, new Date(atMs));
  return encodeVisit(of, { ...seen, ...changed }, walk, journeyOf(of, walk));
}

function decoded({ own, shared }: RecordText) {
  return decodeVisit({
    id: seen.id,
    own: Buffer.from(own),
    shared: shared === "" ? undefined : Buffer.from(shared),
  });
}

const device: VisitDevice = {
  deviceType: "MOBILE",
  deviceActor: "HUMAN",
  platformName: "",
  browserName: "",
  deviceBrand: "",
};

test("reads back what was written, and of headers only what decides on the class of a visit", () => {
  const text = encoded(plan);
  expect(decoded(text)).toEqual({
    id: textOfId(seen.id),
    atMs,
    workspaceId: uuid(1),
    linkId: uuid(2),
    entrypoint: "https://go.example/menu",
    entryStepId: uuid(3),
    level: "BASIC",
    action: "SCAN",
    headers: { "sec-purpose": "prefetch" },
    userAgent: "Mozilla",
    language: "de",
    address: "203.0.113.7",
    cookie: seen.cookie,
    cookieWasSent: true,
    outcome: "COMPLETED",
    destination: "https://example.com/?a=1",
    conversionTracking: false,
    stepsReached: 2,
    stepsTotal: 2,
    lastStepId: uuid(4),
    lastStepAction: "CLIENT_REDIRECT",
    opened: [],
    saved: [],
    waitsAt: "",
    query: "",
  });
  expect(text.own + text.shared).not.toContain("secret");
});

test("the reader finds every field of a visit where the writer has put it, whatever it holds", () => {
  const unit = fc.constantFrom("a", "0", ",", '"', "\\", "]", "\n", "\u001f", "ü", "€", "🙂");
  const text = fc.string({ unit });
  const visits = fc.record({
    action: fc.constantFrom("SCAN", "CLICK"),
    level: fc.constantFrom("NONE", "BASIC", "ADVANCED"),
    userAgent: text,
    language: text,
    purpose: text,
    address: text,
    cookie: text,
    cookieWasSent: fc.boolean(),
    query: text,
  });
  fc.assert(
    fc.property(visits, ({ userAgent, language, purpose, ...visit }) => {
      const headers = { "user-agent": userAgent, "accept-language": language, purpose };
      expect(decoded(encoded(askingPlan, { ...visit, headers }))).toMatchObject({
        ...visit,
        userAgent,
        language,
        headers: { purpose },
        lastStepAction: "MESSAGE_PAGE",
        waitsAt: uuid(6),
      });
    }),
  );
});

test("reads back the way to a page: traces, what is saved, where the visit waits and what it carries on", () => {
  expect(decoded(encoded(askingPlan))).toMatchObject({
    outcome: "IN_PROGRESS",
    destination: "",
    stepsReached: 2,
    lastStepId: uuid(6),
    lastStepAction: "MESSAGE_PAGE",
    opened: [
      {
        id: uuid(5),
        action: "COUNTRY_CONDITION",
        data: JSON.stringify({
          countryCondition: { countries: [{ countryCode: "DE", hasRoute: true }], hasElse: false },
        }),
        isCompleted: true,
      },
      {
        id: uuid(6),
        action: "MESSAGE_PAGE",
        data: JSON.stringify({ messagePage: { title: "Hello", navigationType: "BUTTON", outcome: "" } }),
        isCompleted: false,
      },
    ],
    saved: [{ stepId: uuid(3), key: "came", value: "yes", type: "STRING", setOnce: true }],
    waitsAt: uuid(6),
    query: "a=1",
  });
});

/** Conditions that lead to the redirect; `else` of the second leads to the first again, as often as it may. */
function conditional(choice: string): Plan {
  return compilePlan(
    {
      ...row,
      steps: [
        ...row.steps,
        { id: uuid(5), action: "COUNTRY_CONDITION", payload: { countries: [{ countryCode: "DE" }] } },
        {
          id: uuid(6),
          action: "DEVICE_TYPE_CONDITION",
          payload: { options: [{ id: "o", name: "It", value: choice }] },
        },
      ],
      connections: [
        { stepId: uuid(3), branchId: "next", nextStepId: uuid(5) },
        { stepId: uuid(5), branchId: "DE", nextStepId: uuid(6) },
        { stepId: uuid(6), branchId: "o", nextStepId: uuid(4) },
        { stepId: uuid(6), branchId: "else", nextStepId: uuid(5) },
      ],
    },
    "https://go.example/menu",
  );
}

test.each([
  ["once", "DEVICE_TYPE_CONDITION_VALUE_MOBILE", "COMPLETED"],
  ["in circles", "DEVICE_TYPE_CONDITION_VALUE_TABLET", "FALLBACK"],
])("shares what conditions found that were met %s among visits that look alike", (_, choice, outcome) => {
  const of = conditional(choice);
  const [first, second] = [encoded(of), encoded(of, { query: "b=2", address: "203.0.113.8" })];
  expect(first.own).not.toContain("\n");
  expect(second.own).not.toBe(first.own);
  expect(second.shared).toBe(first.shared);
  for (const text of [first, second])
    expect(decoded(text)).toMatchObject({
      outcome,
      opened: [
        { id: uuid(5), action: "COUNTRY_CONDITION", isCompleted: true },
        { id: uuid(6), action: "DEVICE_TYPE_CONDITION", isCompleted: true },
      ],
    });
  expect(encoded(conditional(choice)).shared).toBe(first.shared);
});

test("keeps no NUL, which the database refuses, and leaves alone what only looks like one", () => {
  const userAgent = `a${String.fromCharCode(0)}b\\u0000c`;
  const visit = decoded(encoded(plan, { headers: { "user-agent": userAgent } }));
  expect(visit.userAgent).toBe("ab\\u0000c");
});

test("leaves out the traces of conditions that would make a record too long for the disk side", () => {
  const options = Array.from({ length: 50 }, (_, place) => ({
    id: `o${place}`,
    attributeKey: "k",
    operator: "VISITOR_ATTRIBUTE_FILTER_OPERATOR_STRING_EQUALS",
    comparisonValue: "x".repeat(4_000),
  }));
  const conditions = [uuid(5), uuid(7), uuid(8), uuid(9)];
  const long = compilePlan(
    {
      ...row,
      steps: [
        ...row.steps,
        ...conditions.map((id) => ({ id, action: "VISITOR_DATA_CONDITION", payload: { options } }) as const),
      ],
      connections: [
        { stepId: uuid(3), branchId: "next", nextStepId: uuid(5) },
        ...conditions.map((stepId, place) => ({
          stepId,
          branchId: "else",
          nextStepId: conditions[place + 1] ?? uuid(4),
        })),
      ],
    },
    "https://go.example/menu",
  );
  const text = encoded(long);
  expect(framedLength(text)).toBeLessThan(10_000);
  expect(decoded(text)).toMatchObject({
    outcome: "COMPLETED",
    lastStepId: uuid(4),
    opened: [],
  });
});

test("cuts headers that are longer than any real one", () => {
  const text = encoded(plan, { headers: { "user-agent": "x".repeat(16_000) } });
  expect(framedLength(text)).toBeLessThan(2_000);
});

test.each([
  ["redirect", plan],
  ["page", askingPlan],
])("refuses damaged records of a %s instead of misreading them", (_, of) => {
  const [line = "", ...steps] = encoded(of).own.split("\n");
  const fields: unknown[] = JSON.parse(line);
  const odd = fc.oneof(fc.jsonValue(), fc.constant(undefined));
  fc.assert(
    fc.property(fc.nat({ max: fields.length - 1 }), odd, (index, value) => {
      const changed = fields.with(index, value);
      try {
        const visit = decoded({ own: [JSON.stringify(changed), ...steps].join("\n"), shared: "" });
        expect(visit.workspaceId).toMatch(/^[0-9a-f-]{36}$/);
        expect(visit.stepsTotal).toBeGreaterThanOrEqual(0);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }),
  );
  for (const own of [
    "",
    "{}",
    "[2]",
    "[1]",
    line.slice(0, -1),
    `${line}\n`,
    `${line}\n${uuid(5)}1NO_ACTION {}`,
  ])
    expect(() => decoded({ own, shared: "" })).toThrow();
  expect(() => decoded({ own: line, shared: `\n${uuid(5)}1NO_ACTION {}` })).toThrow();
});

test("ids are UUIDv7 of their millisecond, all different, and travel as 22 characters", () => {
  const newId = createVisitIds();
  const ids = Array.from({ length: 5_000 }, () => newId(atMs));
  expect(new Set(ids.map(textOfId)).size).toBe(5_000);
  for (const id of ids.slice(0, 100)) {
    expect(textOfId(id)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(id.readUIntBE(0, 6)).toBe(atMs);
    expect(lbidOf(id)).toMatch(/^[\w-]{22}$/);
  }
});
