import { expect, test } from "vitest";
import { type StepAction, stepActions } from "../steps/kinds.ts";
import { inOrder } from "../steps/reading.ts";
import { branchesOf } from "./workflow.ts";

// The enum's actions without UNSPECIFIED are all keys of the record: the type says so.
const actions = Object.keys(stepActions) as StepAction[];

test("every action has a kind, and only exits have no branch", () => {
  expect(actions).toHaveLength(21);
  for (const action of actions) {
    const branches = branchesOf({ action, payload: {} });
    if (action === "MULTI_LINK") expect(branches).toEqual([]);
    else expect(branches.length).toBe(stepActions[action].kind === "EXIT" ? 0 : 1);
  }
});

test("an atomic step that is no exit has the branch `next`", () => {
  expect(branchesOf({ action: "LINK_VISIT", payload: {} })).toEqual([{ id: "next", label: "next step" }]);
  expect(branchesOf({ action: "FORM_SUBMIT", payload: {} })).toEqual([{ id: "next", label: "next step" }]);
});

test("a multi-link step has one branch per button, in the order they are shown", () => {
  const buttons = [
    { id: "b", label: "Second", order: 2 },
    { id: "a", label: "First", order: 1 },
    { id: "c", label: "Third" },
  ];
  expect(branchesOf({ action: "MULTI_LINK", payload: { buttons } })).toEqual([
    { id: "a", label: "First" },
    { id: "b", label: "Second" },
    { id: "c", label: "Third" },
  ]);
});

test("a condition has one branch per choice and then `else`", () => {
  const fallback = { id: "else", label: "fallback" };
  const visitType = { options: [{ value: "VISIT_TYPE_FIRST" }, { value: "VISIT_TYPE_RETURNING" }] };
  expect(branchesOf({ action: "VISIT_TYPE_CONDITION", payload: visitType })).toEqual([
    { id: "VISIT_TYPE_FIRST", label: "VISIT_TYPE_FIRST" },
    { id: "VISIT_TYPE_RETURNING", label: "VISIT_TYPE_RETURNING" },
    fallback,
  ]);
  const countries = { countries: [{ countryCode: "DE" }] };
  expect(branchesOf({ action: "COUNTRY_CONDITION", payload: countries })).toEqual([
    { id: "DE", label: "DE" },
    fallback,
  ]);
  const ranges = { ranges: [{ id: "r1", name: "Morning", startTime: "06:00", endTime: "11:00" }] };
  expect(branchesOf({ action: "TIME_OF_DAY_CONDITION", payload: ranges })).toEqual([
    { id: "r1", label: "Morning" },
    fallback,
  ]);
  const attributes = { options: [{ id: "o1", attributeKey: "$email" }] };
  expect(branchesOf({ action: "VISITOR_DATA_CONDITION", payload: attributes })).toEqual([
    { id: "o1", label: "$email" },
    fallback,
  ]);
});

test("a broken payload is read as an empty one", () => {
  for (const payload of [null, 7, "text", [], { options: "x" }, { options: [null] }])
    expect(branchesOf({ action: "DEVICE_TYPE_CONDITION", payload }).at(-1)).toMatchObject({ id: "else" });
});

test("items without an order stand at their position, and equal ones keep their places", () => {
  expect(inOrder([{ n: 0, order: 1 }, { n: 1 }, { n: 2, order: 0 }]).map(({ n }) => n)).toEqual([2, 0, 1]);
});
