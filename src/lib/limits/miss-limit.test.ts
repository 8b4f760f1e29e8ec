import { expect, test } from "vitest";
import { createMissLimit } from "./miss-limit.ts";

test("allows an address a burst of misses, then one per refill time", () => {
  let nowMs = 1_000_000;
  const limit = createMissLimit({ nowMs: () => nowMs, burst: 3, refillMs: 1_000 });
  for (let miss = 0; miss < 3; miss++) {
    expect(limit.allows("203.0.113.7")).toBe(true);
    limit.charge("203.0.113.7");
  }
  expect(limit.allows("203.0.113.7")).toBe(false);
  expect(limit.allows("203.0.113.8")).toBe(true);
  nowMs += 1_000;
  expect(limit.allows("203.0.113.7")).toBe(true);
});

test("treats a /64 network of IPv6 as one address", () => {
  const limit = createMissLimit({ nowMs: () => 0, burst: 1, refillMs: 1_000 });
  limit.charge("2001:db8:1:2:3:4:5:6");
  expect(limit.allows("2001:db8:1:2::9")).toBe(false);
  expect(limit.allows("2001:db8:1:3::9")).toBe(true);
  limit.charge("2001:db8::1");
  expect(limit.allows("2001:db8::2")).toBe(false);
});
