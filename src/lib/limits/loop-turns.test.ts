import { expect, test } from "vitest";
import { mapInTurns, sliceMs } from "./loop-turns.ts";

test("other work gets its turn after each piece of long work, and the results keep their order", async () => {
  let rounds = 0;
  let isOver = false;
  const count = () => {
    rounds += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const roundsBefore: number[] = [];
  const results = await mapInTurns(["a", "b", "c", "d"], (item, index) => {
    roundsBefore.push(rounds);
    const until = performance.now() + sliceMs * 1.5;
    while (performance.now() < until);
    return `${item}${index}`;
  });
  isOver = true;
  expect(results).toEqual(["a0", "b1", "c2", "d3"]);
  // Every piece takes longer than a slice, so that the loop goes round between any two.
  expect(new Set(roundsBefore).size).toBe(4);
});
