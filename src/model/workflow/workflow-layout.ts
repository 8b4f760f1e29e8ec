import { stepActions } from "../steps/kinds.ts";
import { childrenOf, type Graph } from "./workflow-graph.ts";

/** Where the upper left corner of a step lies on an editor's canvas, in pixels; y grows downwards. */
export interface Position {
  readonly x: number;
  readonly y: number;
}

/** The room that a step takes. */
export const stepBox = { width: 280, height: 160 };

/** How far to the right of the step that leads to it a new step lies. */
const newStepDistance = 320;

/** Where a step lies without a position of its own: to the right of the step that leads to it. */
export function defaultPosition(parent: Position | undefined): Position {
  return parent === undefined ? { x: 0, y: 0 } : { x: parent.x + newStepDistance, y: parent.y };
}

const columnWidth = 360;
const rowHeight = 200;

/**
 * Arranges all steps from left to right, the entry at 0, 0. Every step lies in a column to the right of all steps that
 * lead to it, except by ways back. The first child of a step lies in the step's row. Steps that no visit reaches lie
 * below. The same workflow always gives the same layout.
 */
export function layOutSteps(graph: Graph): Map<string, Position> {
  const { order, rows, waysBack } = walkInDepth(graph);
  const columns = new Map<string, number>();
  for (const id of order) {
    const column = columns.get(id) ?? 0;
    columns.set(id, column);
    for (const child of childrenOf(graph, id))
      if (!waysBack.has(`${id} ${child}`)) columns.set(child, Math.max(columns.get(child) ?? 0, column + 1));
  }
  return new Map(
    order.map((id) => [id, { x: (columns.get(id) ?? 0) * columnWidth, y: (rows.get(id) ?? 0) * rowHeight }]),
  );
}

interface DepthFirst {
  /** Every step after all steps that lead to it, except by ways back. */
  readonly order: readonly string[];
  /** A row for every leaf of the tree of first visits. A step with children stands in the row of the first one. */
  readonly rows: ReadonlyMap<string, number>;
  /** `<from> <to>` of the connections that lead back to where the walk came from. */
  readonly waysBack: ReadonlySet<string>;
}

function walkInDepth(graph: Graph): DepthFirst {
  const rows = new Map<string, number>();
  const open = new Set<string>();
  const waysBack = new Set<string>();
  const finished: string[] = [];
  let rowsUsed = 0;
  // A workflow has at most 100 steps, and the walk is no deeper.
  const visit = (id: string) => {
    rows.set(id, rowsUsed);
    open.add(id);
    let hasLeaf = false;
    for (const child of childrenOf(graph, id)) {
      if (open.has(child)) waysBack.add(`${id} ${child}`);
      else if (!rows.has(child)) {
        visit(child);
        hasLeaf = true;
      }
    }
    if (!hasLeaf) rowsUsed += 1;
    open.delete(id);
    finished.push(id);
  };
  for (const root of rootsFirst(graph)) if (!rows.has(root)) visit(root);
  return { order: finished.reverse(), rows, waysBack };
}

/** The entry, then the steps that nothing leads to, then all others, for circles that nothing leads to. */
function rootsFirst({ steps, parents }: Graph): string[] {
  const all = [...steps.values()];
  const rank = (step: (typeof all)[number]) =>
    stepActions[step.action].kind === "ENTRY" ? 0 : parents.get(step.id)?.length === 0 ? 1 : 2;
  return all.toSorted((a, b) => rank(a) - rank(b)).map(({ id }) => id);
}

/** A step for `resolveCollisions`. */
export interface Placed {
  readonly id: string;
  readonly position: Position;
}

const roundsMax = 100;

/** Directions for steps that lie exactly on the anchor, as far apart as they can be (radians). */
const goldenAngle = Math.PI * (3 - Math.sqrt(5));

/**
 * Pushes overlapping steps away from the anchor, which stays. It takes the nearest steps first, and moves each straight
 * outwards until it is clear of all before it. A step that is already clear stays. Each push passes at least one step
 * for good, so 100 rounds clear the 100 steps of a workflow. Gives the new positions of the steps that moved, in whole
 * pixels.
 */
export function resolveCollisions(steps: readonly Placed[], anchorId: string): Map<string, Position> {
  const anchor = steps.find(({ id }) => id === anchorId);
  if (anchor === undefined) return new Map();
  const settled = [anchor.position];
  const moved = new Map<string, Position>();
  const others = steps
    .filter((step) => step !== anchor)
    .map((step) => ({ ...step, distance: distanceOf(anchor.position, step.position) }))
    .sort((a, b) => a.distance - b.distance);
  for (const { id, position } of others) {
    const clear = pushedOut(anchor.position, position, settled);
    if (clear !== position) moved.set(id, clear);
    settled.push(clear);
  }
  return moved;
}

function pushedOut(anchor: Position, position: Position, settled: readonly Position[]): Position {
  if (!settled.some((other) => overlaps(position, other, 0))) return position;
  const direction = directionOf(anchor, position, settled.length);
  let reached = position;
  for (let round = 0; round < roundsMax; round++) {
    // The margin is a pixel, which rounding may take.
    const obstacle = settled.find((other) => overlaps(reached, other, 1));
    if (obstacle === undefined) break;
    reached = beyond(reached, direction, obstacle);
  }
  return { x: Math.round(reached.x), y: Math.round(reached.y) };
}

function overlaps(a: Position, b: Position, margin: number): boolean {
  return Math.abs(a.x - b.x) < stepBox.width + margin && Math.abs(a.y - b.y) < stepBox.height + margin;
}

/** The nearest place in the direction that is past the obstacle, with a pixel to spare. */
function beyond(from: Position, direction: Position, obstacle: Position): Position {
  const alongX = wayOut(from.x - obstacle.x, direction.x, stepBox.width + 1);
  const alongY = wayOut(from.y - obstacle.y, direction.y, stepBox.height + 1);
  // The loss in a sum of large and small numbers must not leave the step where it was.
  const way = Math.min(alongX, alongY) + 1e-6;
  return { x: from.x + direction.x * way, y: from.y + direction.y * way };
}

/** How far to go in the direction until the offset is as large as the extent. */
function wayOut(offset: number, direction: number, extent: number): number {
  return direction === 0 ? Number.POSITIVE_INFINITY : (Math.sign(direction) * extent - offset) / direction;
}

/** The direction away from the anchor, as a vector of length 1. */
function directionOf(anchor: Position, position: Position, rank: number): Position {
  const distance = distanceOf(anchor, position);
  if (distance > 0) return { x: (position.x - anchor.x) / distance, y: (position.y - anchor.y) / distance };
  const angle = (rank - 1) * goldenAngle;
  return { x: Math.cos(angle), y: Math.sin(angle) };
}

function distanceOf(a: Position, b: Position): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
