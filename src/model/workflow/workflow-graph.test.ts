import { expect, test } from "vitest";
import type { StepAction } from "../steps/kinds.ts";
import {
  childrenOf,
  closesConditionCycle,
  graphOf,
  unconnectedBranchIds,
  unreachableSteps,
  type Workflow,
  workflowIssues,
} from "./workflow-graph.ts";

function step(id: string, action: StepAction, payload: object = {}) {
  return { id, action, payload };
}

function connect(stepId: string, branchId: string, nextStepId: string) {
  return { stepId, branchId, nextStepId };
}

const condition = (id: string) => step(id, "COUNTRY_CONDITION", { countries: [{ countryCode: "DE" }] });

const workflow: Workflow = {
  steps: [
    step("entry", "LINK_VISIT"),
    condition("a"),
    condition("b"),
    step("form", "FORM_SUBMIT"),
    step("exit", "THANK_YOU_PAGE"),
    step("lone", "CONTACT_CARD"),
  ],
  connections: [
    connect("b", "DE", "form"),
    connect("a", "else", "b"),
    connect("a", "DE", "exit"),
    connect("entry", "next", "a"),
    connect("form", "next", "a"),
  ],
};

test("children come in the order of the branches, parents in the order of the steps", () => {
  const graph = graphOf(workflow);
  expect(childrenOf(graph, "a")).toEqual(["exit", "b"]);
  expect(graph.parents.get("a")).toEqual(["entry", "form"]);
  expect(graph.parents.get("lone")).toEqual([]);
});

test("connections of branches and steps that are not there count for nothing", () => {
  const graph = graphOf({
    steps: [step("entry", "LINK_VISIT"), step("exit", "THANK_YOU_PAGE")],
    connections: [
      connect("entry", "next", "gone"),
      connect("entry", "else", "exit"),
      connect("gone", "next", "exit"),
      connect("exit", "next", "entry"),
    ],
  });
  expect(childrenOf(graph, "entry")).toEqual([]);
  expect(graph.parents.get("exit")).toEqual([]);
  expect(unconnectedBranchIds(graph, step("entry", "LINK_VISIT"))).toEqual(["next"]);
});

test("a branch that leads nowhere is unconnected", () => {
  expect(unconnectedBranchIds(graphOf(workflow), condition("b"))).toEqual(["else"]);
});

test("only a way through conditions alone closes a circle of conditions", () => {
  const graph = graphOf(workflow);
  expect(closesConditionCycle(graph, "b", "a")).toBe(true);
  expect(closesConditionCycle(graph, "a", "b")).toBe(false);
  expect(closesConditionCycle(graph, "form", "a")).toBe(false);
  expect(closesConditionCycle(graph, "a", "form")).toBe(false);
  expect(closesConditionCycle(graph, "b", "exit")).toBe(false);
  expect(closesConditionCycle(graph, "b", "gone")).toBe(false);
});

test("what no way from the entry leads to is unreachable, and everything without an entry", () => {
  expect(unreachableSteps(graphOf(workflow)).map(({ id }) => id)).toEqual(["lone"]);
  const headless = { ...workflow, steps: workflow.steps.slice(1) };
  expect(unreachableSteps(graphOf(headless))).toHaveLength(5);
});

test("issues name payloads and branches by step, then a missing exit, then what is unreachable", () => {
  const connections = workflow.connections.filter(({ nextStepId }) => nextStepId !== "exit");
  const faults = ({ id }: { id: string }) => (id === "form" ? ["the form has no fields"] : []);
  const issues = workflowIssues(graphOf({ ...workflow, connections }), faults);
  expect(issues.map(({ severity, step: { id }, message }) => [severity, id, message.slice(0, 22)])).toEqual([
    ["warning", "a", "branch DE leads nowher"],
    ["warning", "b", "branch else leads nowh"],
    ["error", "form", "the form has no fields"],
    ["error", "entry", "no exit can be reached"],
    ["warning", "exit", "no visit reaches this "],
    ["warning", "lone", "no visit reaches this "],
  ]);
});
