import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  entryStep,
  knownAttributes,
  planOf,
  redirectStep,
  type SeenBy,
  storedStep,
  visitOf,
  type Wires,
} from "../../test/support/workflow.ts";
import { type StepAction, stepActions } from "../model/steps/kinds.ts";
import type { Plan, PlanRow } from "../model/workflow/plan.ts";
import { branchesOf, type StoredStep } from "../model/workflow/workflow.ts";
import { decide, resume } from "./decide.ts";
import { journeyOf } from "./journey.ts";

const at = new Date("2026-08-01T12:00:00Z");
const redirect = redirectStep("redirect");
const everybody = { countries: [] };
const message = storedStep("message", "MESSAGE_PAGE", {
  title: "Hello",
  navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON",
});

function endOf(plan: Plan, seen: SeenBy = {}) {
  return decide(plan, visitOf(seen), at).end;
}

test("sends a visitor from the entry to the redirect's destination, with the visitor's query", () => {
  const plan = planOf([entryStep, redirect], { "entry.next": "redirect" });
  expect(decide(plan, visitOf({ query: "utm=1" }), at)).toMatchObject({
    taken: [
      { step: { id: "entry" }, branchId: "next", isCompleted: true },
      { step: { id: "redirect" }, branchId: "", isCompleted: true },
    ],
    end: { kind: "redirect", to: "https://example.com/redirect?utm=1", conversionTracking: false },
  });
});

test("adds lbid only when the redirect tracks conversions, and only to web addresses", () => {
  const to = (destination: string) =>
    endOf(
      planOf([entryStep, storedStep("r", "CLIENT_REDIRECT", { destination, conversionTracking: true })], {
        "entry.next": "r",
      }),
      { query: "utm=1" },
    );
  expect(to("https://example.com/")).toMatchObject({
    to: "https://example.com/?utm=1&lbid=AZJ4mJx0cHOxu8xGVRAGRg",
    conversionTracking: true,
  });
  expect(to("tel:+4930123")).toMatchObject({ to: "tel:+4930123", conversionTracking: false });
});

test("passes conditions without showing anything, and stops at an interaction", () => {
  const condition = storedStep("condition", "COUNTRY_CONDITION", { countries: [{ countryCode: "DE" }] });
  const plan = planOf([entryStep, condition, message, redirect], {
    "entry.next": "condition",
    "condition.DE": "message",
    "condition.else": "redirect",
    "message.next": "redirect",
  });
  const walk = decide(plan, visitOf({ country: "DE" }), at);
  expect(walk.taken.map(({ step, isCompleted }) => [step.id, isCompleted])).toEqual([
    ["entry", true],
    ["condition", true],
    ["message", false],
  ]);
  expect(walk.end).toMatchObject({ kind: "interaction", step: { id: "message" } });
  expect(endOf(plan)).toMatchObject({ kind: "redirect" });
});

test("goes on from an answered interaction, also in a circle through it", () => {
  const plan = planOf([entryStep, message, redirect], {
    "entry.next": "message",
    "message.next": "redirect",
  });
  expect(resume(plan, visitOf(), at, "message", "next")).toMatchObject({
    taken: [{ step: { id: "redirect" } }],
    end: { kind: "redirect" },
  });
  const circle = planOf([entryStep, message], { "entry.next": "message", "message.next": "message" });
  expect(resume(circle, visitOf(), at, "message", "next").end).toMatchObject({ kind: "interaction" });
});

test("what asks for nothing looks at nothing", () => {
  const plan = planOf([entryStep, redirect], { "entry.next": "redirect" });
  const never = () => {
    throw new Error("asked");
  };
  expect(decide(plan, { ...visitOf(), country: never, device: never, lbid: never }, at).end.kind).toBe(
    "redirect",
  );
});

describe("falls back", () => {
  test.each<[string, StoredStep[], Wires]>([
    ["without an entry", [redirect], {}],
    ["when a branch is not wired", [entryStep, redirect], {}],
    ["when the next step is missing", [entryStep], { "entry.next": "gone" }],
    [
      "when a condition's branch is not wired, though a later option matches too",
      [
        entryStep,
        storedStep("c", "DEVICE_ACTOR_CONDITION", {
          options: ["a", "b"].map((id) => ({ id, value: "DEVICE_ACTOR_CONDITION_VALUE_HUMAN" })),
        }),
        redirect,
      ],
      { "entry.next": "c", "c.b": "redirect", "c.else": "redirect" },
    ],
    [
      "when the redirect has no destination",
      [entryStep, storedStep("r", "CLIENT_REDIRECT", {})],
      { "entry.next": "r" },
    ],
    [
      "when a payload is no object",
      [entryStep, storedStep("r", "CLIENT_REDIRECT", "x")],
      { "entry.next": "r" },
    ],
    [
      "when there is no card to make",
      [entryStep, storedStep("r", "CONTACT_CARD", {})],
      { "entry.next": "r" },
    ],
    [
      "when there is no button to press",
      [entryStep, storedStep("r", "MULTI_LINK", {})],
      { "entry.next": "r" },
    ],
    [
      "when a page would never move on",
      [entryStep, storedStep("r", "MESSAGE_PAGE", {})],
      { "entry.next": "r" },
    ],
    [
      "when a timer has no time",
      [entryStep, storedStep("r", "MESSAGE_PAGE", { navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_TIMER" })],
      { "entry.next": "r" },
    ],
    [
      "when nobody can read a range",
      [
        entryStep,
        storedStep("c", "TIME_OF_DAY_CONDITION", { ranges: [{ id: "r", startTime: "9" }] }),
        redirect,
      ],
      { "entry.next": "c", "c.else": "redirect" },
    ],
    ["when the entry leads to itself", [entryStep], { "entry.next": "entry" }],
    [
      "when conditions go in a circle",
      [entryStep, storedStep("c", "COUNTRY_CONDITION", everybody)],
      { "entry.next": "c", "c.else": "c" },
    ],
    [
      "when forms that skip themselves go in a circle",
      [entryStep, ...["f", "g"].map((id) => storedStep(id, "FORM_SUBMIT", { autoSkipIfKnown: true }))],
      { "entry.next": "f", "f.next": "g", "g.next": "f" },
    ],
    [
      "at a step of a kind that this version does not know",
      [entryStep, { ...redirect, action: "HOLOGRAM" } as unknown as StoredStep], // written by a later version
      { "entry.next": "redirect" },
    ],
  ])("%s", (_, steps, wires) => {
    const row = { fallbackDestination: "https://fallback.example/" };
    const end = endOf(planOf(steps, wires, row), { query: "utm=1", attributes: new Map() });
    expect(end).toEqual({ kind: "fallback", to: "https://fallback.example/?utm=1" });
  });

  test("to the link's fallback, else to the domain's root, else nowhere", () => {
    const to = (row: Partial<PlanRow>) => endOf(planOf([entryStep], {}, row));
    const fallbackDestination = "https://f.example/";
    const rootDestination = "https://r.example/";
    expect(to({ fallbackDestination, rootDestination })).toMatchObject({ to: "https://f.example/" });
    expect(to({ rootDestination })).toMatchObject({ to: "https://r.example/" });
    expect(to({})).toEqual({ kind: "fallback", to: "" });
  });

  test("when the step of a visit was deleted", () => {
    const plan = planOf([entryStep, redirect], { "entry.next": "redirect" });
    expect(resume(plan, visitOf(), at, "gone", "next")).toEqual({
      taken: [],
      end: { kind: "fallback", to: "" },
    });
  });

  test.each([
    [50, "redirect"],
    [51, "fallback"],
  ])("after %i conditions in one walk: %s", (count, kind) => {
    const ids = Array.from({ length: count }, (_, index) => `c${index}`);
    const conditions = ids.map((id) => storedStep(id, "COUNTRY_CONDITION", everybody));
    const wires = Object.fromEntries(ids.map((id, index) => [`${id}.else`, ids[index + 1] ?? "redirect"]));
    const plan = planOf([entryStep, ...conditions, redirect], { "entry.next": "c0", ...wires });
    expect(endOf(plan).kind).toBe(kind);
  });
});

describe("the journey", () => {
  const condition = storedStep("condition", "COUNTRY_CONDITION", { countries: [{ countryCode: "DE" }] });
  const plan = planOf([entryStep, condition, message, redirect], {
    "entry.next": "message",
    "message.next": "condition",
    "condition.DE": "redirect",
  });
  const first = decide(plan, visitOf(), at);

  test("counts the steps opened and the fewest to an exit, without conditions", () => {
    expect(journeyOf(plan, first)).toMatchObject({
      stepsReached: 2,
      stepsTotal: 3,
      lastStep: { id: "message", action: "MESSAGE_PAGE" },
      outcome: "IN_PROGRESS",
    });
  });

  test("goes on with what was opened before, and ends with the exit", () => {
    const walk = resume(plan, visitOf({ country: "DE" }), at, "message", "next");
    expect(journeyOf(plan, walk, ["entry", "message"], "message")).toMatchObject({
      stepsReached: 3,
      stepsTotal: 3,
      lastStep: { id: "redirect" },
      outcome: "COMPLETED",
    });
  });

  test("of a visit that falls back keeps its last step, and what was missing from there", () => {
    const walk = resume(plan, visitOf(), at, "message", "next");
    expect(journeyOf(plan, walk, ["entry", "message"], "message")).toMatchObject({
      stepsReached: 2,
      stepsTotal: 3,
      lastStep: { id: "message" },
      outcome: "FALLBACK",
    });
  });

  test("counts a step that is opened again once", () => {
    const circle = planOf([entryStep, message], { "entry.next": "message", "message.next": "message" });
    const again = resume(circle, visitOf(), at, "message", "next");
    expect(journeyOf(circle, again, ["entry", "message"], "message")).toMatchObject({
      stepsReached: 2,
      stepsTotal: 2,
    });
  });

  test("of a workflow without an entry has reached nothing", () => {
    const none = planOf([], {});
    expect(journeyOf(none, decide(none, visitOf(), at))).toEqual({
      stepsReached: 0,
      stepsTotal: 0,
      lastStep: undefined,
      outcome: "FALLBACK",
    });
  });
});

describe("a plan says what has to be looked up", () => {
  const visitType = storedStep("type", "VISIT_TYPE_CONDITION", { options: [{ value: "VISIT_TYPE_FIRST" }] });
  const data = storedStep("data", "VISITOR_DATA_CONDITION", { options: [] });
  const form = storedStep("form", "FORM_SUBMIT", { autoSkipIfKnown: true });

  test.each<[string, StoredStep[], Wires, object, object]>([
    [
      "nothing for a redirect",
      [entryStep, redirect],
      { "entry.next": "redirect" },
      { visitType: false, visitor: false },
      { visitType: false, visitor: false },
    ],
    [
      "before it first stops",
      [entryStep, visitType, message, data],
      { "entry.next": "type", "type.else": "message", "message.next": "data" },
      { visitType: true, visitor: false },
      { visitType: true, visitor: true },
    ],
    [
      "for a form that may skip itself, and for what stands behind it",
      [entryStep, form, visitType],
      { "entry.next": "form", "form.next": "type" },
      { visitType: true, visitor: true },
      { visitType: true, visitor: true },
    ],
  ])("%s", (_, steps, wires, needs, needsAfter) => {
    expect(planOf(steps, wires)).toMatchObject({ needs, needsAfter });
  });
});

// All keys of the record are actions: its type says so.
const actions = Object.keys(stepActions) as StepAction[];

const payloads = fc.oneof(
  fc.constant<unknown>({}),
  fc.constant(null),
  fc.jsonValue(),
  fc.record({
    destination: fc.constantFrom("https://example.com/", ""),
    firstName: fc.constant("Ada"),
    title: fc.string(),
    navigationType: fc.constantFrom("MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON", "?"),
    autoSkipIfKnown: fc.boolean(),
    buttons: fc.constant([{ id: "a", label: "A" }]),
    formFields: fc.constant([{ id: "f", key: "$email", required: true }]),
    countries: fc.constant([{ countryCode: "DE" }]),
    ranges: fc.constant([{ id: "a", startTime: "00:00", endTime: "12:00" }]),
    options: fc.constant([
      {
        id: "a",
        value: "VISIT_TYPE_FIRST",
        dayOfMonth: 1,
        month: 8,
        day: 1,
        daysOfWeek: [6],
        attributeKey: "k",
      },
    ]),
  }),
);

const graphs = fc.integer({ min: 1, max: 12 }).chain((count) =>
  fc.record({
    steps: fc.array(fc.tuple(fc.constantFrom(...actions), payloads), { minLength: count, maxLength: count }),
    targets: fc.array(fc.nat(count), { minLength: count * 3, maxLength: count * 3 }),
    visit: fc.record({
      country: fc.constantFrom("", "DE"),
      visitType: fc.constantFrom("FIRST" as const, "RETURNING" as const),
      query: fc.string(),
      attributes: fc.constantFrom(undefined, knownAttributes({ $email: "a@b.example" })),
    }),
  }),
);

test("any graph whatever: the walk ends, at a step of the plan or in the fallback, and its journey adds up", () => {
  fc.assert(
    fc.property(graphs, ({ steps: drawn, targets, visit }) => {
      const steps = drawn.map(([action, payload], index) => storedStep(`s${index}`, action, payload));
      const wires = Object.fromEntries(
        steps.flatMap((step, index) =>
          branchesOf(step).map(({ id }, branch): [string, string] => {
            return [`${step.id}.${id}`, `s${targets[index * 3 + (branch % 3)]}`];
          }),
        ),
      );
      const plan = planOf([entryStep, ...steps], { ...wires, "entry.next": "s0" });
      const walk = decide(plan, visitOf(visit), at);
      const kinds = walk.taken.map(({ step }) => stepActions[step.action].kind);
      expect(kinds.filter((kind) => kind === "CONDITION").length).toBeLessThanOrEqual(50);
      expect(walk.taken.slice(0, -1).every(({ branchId }) => branchId !== "")).toBe(true);
      if (walk.end.kind !== "fallback") {
        expect(walk.taken.at(-1)?.step).toBe(walk.end.step);
        expect(kinds.at(-1)).toBe(walk.end.kind === "interaction" ? "INTERACTION" : "EXIT");
      }
      const { stepsReached, stepsTotal } = journeyOf(plan, walk);
      expect(stepsReached).toBe(kinds.filter((kind) => kind !== "CONDITION").length);
      expect(stepsTotal).toBeGreaterThanOrEqual(stepsReached);
    }),
    { seed: 56, numRuns: 2_000 },
  );
});
