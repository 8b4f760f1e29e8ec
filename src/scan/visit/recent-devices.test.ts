import { expect, test } from "vitest";
import { createRecentDevices } from "./recent-devices.ts";

test("knows a device by any of its names, from the second time on", () => {
  const recent = createRecentDevices();
  expect(recent.meet(["cookie", "address"], 0)).toBe(false);
  expect(recent.meet(["other", "address"], 1)).toBe(true);
  expect(recent.meet(["other"], 2)).toBe(true);
  expect(recent.meet(["stranger"], 3)).toBe(false);
});

test("remembers a name for `lastingMs`, and forgets it after twice that time", () => {
  const recent = createRecentDevices({ lastingMs: 100 });
  recent.meet(["early"], 0);
  recent.meet(["late"], 99);
  expect(recent.meet(["x"], 100)).toBe(false);
  expect(recent.meet(["late"], 198)).toBe(true);
  recent.meet(["y"], 200);
  recent.meet(["z"], 300);
  expect(recent.meet(["early"], 301)).toBe(false);
});

test("forgets the oldest names when there are more than its size", () => {
  const recent = createRecentDevices({ sizeMax: 3 });
  for (const name of ["a", "b", "c", "d", "e", "f", "g"]) recent.meet([name], 0);
  expect(recent.meet(["f"], 0)).toBe(true);
  expect(recent.meet(["a"], 0)).toBe(false);
});
