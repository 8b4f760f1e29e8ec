import { expect, test } from "vitest";
import { endTurns, roomFor } from "./line-turns.ts";
import { newLine } from "./sending-line.ts";

/** Lines of a workspace that were taken at a time. */
function linesOf(workspaceId: string, count: number, { takenMs = 0, isFailing = true } = {}) {
  return Array.from({ length: count }, (_, index) => ({
    ...newLine({ workspaceId, subscriberId: `${takenMs}/${index}` }, takenMs),
    isFailing,
  }));
}

const leaving = (lines: readonly { isLeaving: boolean }[]) => lines.filter((line) => line.isLeaving).length;

test("failing lines beyond half of a workspace leave at once, the oldest first", () => {
  const [old, young] = [linesOf("a", 10), linesOf("a", 32, { takenMs: 1 })];
  endTurns([...young, ...old], 2);
  expect([leaving(old), leaving(young)]).toEqual([10, 0]);
});

test("failing lines of all workspaces get half of the places", () => {
  const lines = Array.from({ length: 20 }, (_, index) => linesOf(`workspace ${index}`, 20)).flat();
  endTurns(lines, 1);
  expect(leaving(lines)).toBe(400 - 256);
  expect(roomFor(lines.filter((line) => !line.isLeaving))).toMatchObject({ most: 256, failingMost: 0 });
});

test("when all places are taken, those that had their turn leave; otherwise a line stays", () => {
  const full = linesOf("a", 64, { isFailing: false });
  endTurns(full, 4_999);
  expect(leaving(full)).toBe(0);
  expect(roomFor(full).exceptWorkspaces).toEqual(["a"]);
  endTurns(full, 5_000);
  expect(leaving(full)).toBe(64);
  const few = [...linesOf("a", 31), ...linesOf("a", 32, { isFailing: false })];
  endTurns(few, 60_000);
  expect(leaving(few)).toBe(0);
});
