import fc from "fast-check";
import { expect, test } from "vitest";
import { graphOf, type Workflow } from "./workflow-graph.ts";
import { defaultPosition, layOutSteps, type Placed, resolveCollisions, stepBox } from "./workflow-layout.ts";

const runs = { seed: 20_261_121, numRuns: 300 };

function overlaps(a: Placed, b: Placed): boolean {
  const [one, two] = [a.position, b.position];
  return Math.abs(one.x - two.x) < stepBox.width && Math.abs(one.y - two.y) < stepBox.height;
}

const coordinate = fc.oneof(
  fc.integer({ min: -400, max: 400 }),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }),
);
const placedSteps = fc
  .array(fc.record({ x: coordinate, y: coordinate }), { minLength: 1, maxLength: 100 })
  .map((positions) => positions.map((position, index): Placed => ({ id: `s${index}`, position })));

function resolved(steps: readonly Placed[], anchor: string): Placed[] {
  const moved = resolveCollisions(steps, anchor);
  return steps.map((step) => ({ ...step, position: moved.get(step.id) ?? step.position }));
}

test("after collisions are resolved no two steps overlap, and the anchor has not moved", () => {
  fc.assert(
    fc.property(placedSteps, (steps) => {
      const [anchor] = steps;
      const after = resolved(steps, "s0");
      expect(after[0]).toEqual(anchor);
      const pairs = after.flatMap((one, index) => after.slice(index + 1).map((two) => [one, two] as const));
      expect(pairs.filter(([one, two]) => overlaps(one, two))).toEqual([]);
    }),
    runs,
  );
});

test("resolving collisions is deterministic, and does nothing the second time", () => {
  fc.assert(
    fc.property(placedSteps, (steps) => {
      const after = resolved(steps, "s0");
      expect(resolved(steps, "s0")).toEqual(after);
      expect(resolveCollisions(after, "s0").size).toBe(0);
    }),
    runs,
  );
});

test("a hundred steps on one spot are spread around the anchor", () => {
  const steps = Array.from({ length: 100 }, (_, index) => ({ id: `s${index}`, position: { x: 7, y: 7 } }));
  expect(resolveCollisions(steps, "s0").size).toBe(99);
  expect(resolved(steps, "s0").filter(({ position }) => position.x < 7).length).toBeGreaterThan(10);
});

test("a step is pushed straight away from the anchor", () => {
  const steps = [
    { id: "anchor", position: { x: 100, y: 100 } },
    { id: "right", position: { x: 120, y: 100 } },
    { id: "above", position: { x: 100, y: 90 } },
  ];
  const moved = resolveCollisions(steps, "anchor");
  expect(moved.get("right")).toMatchObject({ y: 100 });
  expect(moved.get("above")).toMatchObject({ x: 100 });
  expect(moved.get("right")?.x).toBeGreaterThanOrEqual(380);
  expect(moved.get("above")?.y).toBeLessThanOrEqual(-60);
});

test("boxes that only touch do not overlap", () => {
  const steps = [
    { id: "anchor", position: { x: 0, y: 0 } },
    { id: "right", position: { x: 280, y: 0 } },
    { id: "below", position: { x: 0, y: 160 } },
  ];
  expect(resolveCollisions(steps, "anchor").size).toBe(0);
});

test("without its anchor nothing is moved", () => {
  expect(resolveCollisions([{ id: "a", position: { x: 0, y: 0 } }], "b").size).toBe(0);
});

/**
 * A workflow of an entry, then multi-links with the given targets, by position. A target that is the step itself or the
 * entry is left out.
 */
function workflowOf(targets: readonly (readonly number[])[]): Workflow {
  const steps = [
    { id: "0", action: "LINK_VISIT" as const, payload: {} },
    ...targets.map((list, index) => ({
      id: `${index + 1}`,
      action: "MULTI_LINK" as const,
      payload: { buttons: list.map((_, button) => ({ id: `b${button}` })) },
    })),
  ];
  const connections = targets.flatMap((list, index) =>
    list.flatMap((target, button) => {
      const to = (target % targets.length) + 1;
      return to === index + 1
        ? []
        : [{ stepId: `${index + 1}`, branchId: `b${button}`, nextStepId: `${to}` }];
    }),
  );
  return { steps, connections: [{ stepId: "0", branchId: "next", nextStepId: "1" }, ...connections] };
}

const workflows = fc
  .array(fc.array(fc.nat(40), { maxLength: 4 }), { minLength: 1, maxLength: 40 })
  .map(workflowOf);

test("every layout has all steps on the grid, the entry at 0, 0, and no two on one place", () => {
  fc.assert(
    fc.property(workflows, (workflow) => {
      const positions = layOutSteps(graphOf(workflow));
      expect(positions.size).toBe(workflow.steps.length);
      expect(positions.get("0")).toEqual({ x: 0, y: 0 });
      const places = new Set([...positions.values()].map(({ x, y }) => `${x} ${y}`));
      expect(places.size).toBe(workflow.steps.length);
      for (const { x, y } of positions.values())
        expect([x % 360, y % 200, x < 0, y < 0]).toEqual([0, 0, false, false]);
    }),
    runs,
  );
});

test("without circles every step lies to the right of all that lead to it", () => {
  const forward = fc
    .array(fc.array(fc.nat(39), { maxLength: 4 }), { minLength: 1, maxLength: 40 })
    .map((lists) => {
      const workflow = workflowOf(lists);
      const isForward = ({ stepId, nextStepId }: { stepId: string; nextStepId: string }) =>
        Number(stepId) < Number(nextStepId);
      return { ...workflow, connections: workflow.connections.filter(isForward) };
    });
  fc.assert(
    fc.property(forward, (workflow) => {
      const positions = layOutSteps(graphOf(workflow));
      for (const { stepId, nextStepId } of workflow.connections)
        expect(positions.get(nextStepId)?.x).toBeGreaterThan(positions.get(stepId)?.x ?? Infinity);
    }),
    runs,
  );
});

test("a way back does not push the steps of a circle to the right", () => {
  const workflow = workflowOf([[1], [2], [0]]);
  const positions = layOutSteps(graphOf(workflow));
  expect([...positions.entries()].toSorted(([a], [b]) => Number(a) - Number(b))).toEqual([
    ["0", { x: 0, y: 0 }],
    ["1", { x: 360, y: 0 }],
    ["2", { x: 720, y: 0 }],
    ["3", { x: 1080, y: 0 }],
  ]);
});

test("a new step lies 320 to the right of its parent, and without one at 0, 0", () => {
  expect(defaultPosition({ x: 10, y: 20 })).toEqual({ x: 330, y: 20 });
  expect(defaultPosition(undefined)).toEqual({ x: 0, y: 0 });
});
