import { expect, test } from "vitest";
import { shortHosts } from "./hosts.ts";
import { createMissLimit } from "./miss-limit.ts";

test("lets an address be wrong so often, then only as often as time goes by", () => {
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

test("takes a /64 of IPv6 for one address", () => {
  const limit = createMissLimit({ nowMs: () => 0, burst: 1, refillMs: 1_000 });
  limit.charge("2001:db8:1:2:3:4:5:6");
  expect(limit.allows("2001:db8:1:2::9")).toBe(false);
  expect(limit.allows("2001:db8:1:3::9")).toBe(true);
  limit.charge("2001:db8::1");
  expect(limit.allows("2001:db8::2")).toBe(false);
});

test.each([
  ["https://go.example", "go.example", ""],
  ["https://go.example", "GO.Example.:443", ""],
  ["https://go.example", "go.example:8443", "go.example"],
  ["https://go.example", "Links.Customer.example:8443", "links.customer.example"],
  ["http://localhost:8080", "127.0.0.1:8080", ""],
  ["http://localhost:8080", "[::1]:8080", ""],
  ["http://localhost:8080", "localhost:9090", "localhost"],
  ["https://go.example", `${"a".repeat(60)}.${"b".repeat(192)}`, `${"a".repeat(60)}.${"b".repeat(192)}`],
  ["https://go.example", `${"a".repeat(60)}.${"b".repeat(193)}`, undefined],
  ["https://go.example", "a".repeat(16_000), undefined],
  ["https://go.example", "", undefined],
  ["https://go.example", undefined, undefined],
  ["https://go.example", ".", undefined],
  ["https://go.example", "a/b.example", undefined],
  ["https://go.example", "a b.example", undefined],
  ["https://go.example", "[2001:db8::1]", undefined],
])("with short links at %s takes %s for the host %j", (shortUrl, host, expected) => {
  expect(shortHosts(shortUrl)(host)).toBe(expected);
});
