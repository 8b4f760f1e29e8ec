import { expect, test } from "vitest";
import { shortHosts } from "./hosts.ts";

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
