import { expect, test } from "vitest";
import { groupCommit } from "./group-commit.ts";

const wide = { groupBytesMax: 1_000, waitingBytesMax: 10_000 };

test("commits items of one turn together and those that come meanwhile in the next commit", async () => {
  const commits: number[][] = [];
  const group = groupCommit<number>(async (items) => {
    commits.push(items);
    if (commits.length === 1) void group.add(4, 1);
  }, wide);
  await Promise.all([group.add(1, 1), group.add(2, 1), group.add(3, 1)]);
  await group.idle();
  expect(commits).toEqual([[1, 2, 3], [4]]);
});

test("splits what waits into commits of bounded size, in order", async () => {
  const commits: number[][] = [];
  const group = groupCommit<number>(async (items) => void commits.push(items), wide);
  await Promise.all([group.add(1, 600), group.add(2, 600), group.add(3, 300), group.add(4, 2_000)]);
  expect(commits).toEqual([[1], [2, 3], [4]]);
});

test("rejects the items of a failed commit only, and goes on", async () => {
  let failures = 1;
  const group = groupCommit<number>(async () => {
    if (failures-- > 0) throw new Error("disk full");
  }, wide);
  await expect(Promise.all([group.add(1, 1), group.add(2, 1)])).rejects.toThrow("disk full");
  await expect(group.add(3, 1)).resolves.toBeUndefined();
});

test("refuses at once when too much waits", async () => {
  const stalled = Promise.withResolvers<void>();
  const group = groupCommit<number>(() => stalled.promise, { groupBytesMax: 10, waitingBytesMax: 20 });
  const accepted = [group.add(1, 10), group.add(2, 10)];
  await expect(group.add(3, 1)).rejects.toThrow("already wait");
  stalled.resolve();
  await Promise.all(accepted);
});
