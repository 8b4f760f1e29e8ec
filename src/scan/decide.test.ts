import { describe, expect, test } from "vitest";
import { compilePlan, type Plan, type PlanRow } from "../model/plan.ts";
import type { StepAction, StoredConnection, StoredStep } from "../model/workflow.ts";
import { decide } from "./decide.ts";

const at = new Date("2026-08-01T12:00:00Z");
const visit = { query: "utm=1", lbid: () => "AZJ4mJx0cHOxu8xGVRAGRg" };

function step(id: string, action: StepAction, payload: unknown = {}): StoredStep {
  return { id, action, payload };
}

const entry = step("entry", "LINK_VISIT");
const redirect = step("redirect", "CLIENT_REDIRECT", { destination: "https://example.com/" });

/** A plan whose steps are connected one to the other in the order given. */
function plan(steps: StoredStep[], row: Partial<PlanRow> = {}): Plan {
  const connections = steps.slice(1).map(({ id }, index): StoredConnection => {
    return { stepId: steps[index]?.id ?? "", branchId: "next", nextStepId: id };
  });
  const base: PlanRow = {
    workspaceId: "w",
    linkId: "l",
    host: "",
    shortlink: "menu",
    environment: "live",
    timezone: "UTC",
    dataCollection: "BASIC",
    fallbackDestination: "",
    rootDestination: "",
    expiresAt: null,
    link: { name: "Menu", shortlink: "menu", tags: [], metadata: {}, purpose: "" },
    pageTheme: null,
    steps,
    connections,
  };
  return compilePlan({ ...base, ...row }, "https://go.example/menu");
}

test("sends a visitor from the entry to the redirect's destination", () => {
  expect(decide(plan([entry, redirect]), visit, at)).toMatchObject({
    outcome: "COMPLETED",
    to: "https://example.com/?utm=1",
    exitStepId: "redirect",
    conversionTracking: false,
    stepsReached: 2,
    stepsTotal: 2,
    lastStep: { id: "redirect" },
  });
});

test("adds lbid only when the redirect tracks conversions, and only to web addresses", () => {
  const to = (destination: string) =>
    decide(
      plan([entry, step("redirect", "CLIENT_REDIRECT", { destination, conversionTracking: true })]),
      visit,
      at,
    );
  expect(to("https://example.com/")).toMatchObject({
    to: "https://example.com/?utm=1&lbid=AZJ4mJx0cHOxu8xGVRAGRg",
    conversionTracking: true,
  });
  expect(to("tel:+4930123")).toMatchObject({ to: "tel:+4930123", conversionTracking: false });
});

describe("falls back", () => {
  const toFallback = { outcome: "FALLBACK", exitStepId: "", conversionTracking: false };

  test.each<[string, StoredStep[], Partial<PlanRow>, { stepsReached: number; stepsTotal: number }]>([
    ["without an entry", [redirect], {}, { stepsReached: 0, stepsTotal: 0 }],
    ["when the entry leads nowhere", [entry], {}, { stepsReached: 1, stepsTotal: 1 }],
    [
      "when the next step is missing",
      [entry],
      { connections: [{ stepId: "entry", branchId: "next", nextStepId: "gone" }] },
      { stepsReached: 1, stepsTotal: 1 },
    ],
    [
      "when the redirect has no destination",
      [entry, step("redirect", "CLIENT_REDIRECT", { destination: "" })],
      {},
      { stepsReached: 1, stepsTotal: 1 },
    ],
    [
      "when the redirect's payload is no object",
      [entry, step("redirect", "CLIENT_REDIRECT", "broken")],
      {},
      { stepsReached: 1, stepsTotal: 1 },
    ],
    [
      "at a step that is not served yet",
      [entry, step("form", "FORM_SUBMIT"), redirect],
      {},
      { stepsReached: 1, stepsTotal: 3 },
    ],
    [
      "when the entry leads to itself",
      [entry],
      { connections: [{ stepId: "entry", branchId: "next", nextStepId: "entry" }] },
      { stepsReached: 1, stepsTotal: 1 },
    ],
  ])("%s", (_, steps, row, figures) => {
    expect(decide(plan(steps, row), visit, at)).toMatchObject({ ...toFallback, ...figures, to: "" });
  });

  test("to the link's fallback, else to the domain's root, else nowhere", () => {
    const to = (row: Partial<PlanRow>) => decide(plan([entry], row), visit, at).to;
    expect(to({ fallbackDestination: "https://f.example/", rootDestination: "https://r.example/" })).toBe(
      "https://f.example/?utm=1",
    );
    expect(to({ rootDestination: "https://r.example/" })).toBe("https://r.example/?utm=1");
    expect(to({})).toBe("");
  });

  test("at a step of a kind that this version does not know", () => {
    const unknown = { id: "new", action: "HOLOGRAM", payload: {} } as unknown as StoredStep; // written by a later version
    expect(decide(plan([entry, unknown, redirect]), visit, at)).toMatchObject(toFallback);
  });
});
