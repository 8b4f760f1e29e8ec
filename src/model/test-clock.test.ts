import { expect, test } from "vitest";
import { parseTestClock } from "./test-clock.ts";

test("a test clock is a moment with an offset, of the years 2000 to 2100", () => {
  const read = (text: string) => parseTestClock(text)?.toISOString();
  expect(read("2026-12-24T18:00:00Z")).toBe("2026-12-24T18:00:00.000Z");
  expect(read("2026-12-24T18:00:00.25+0130")).toBe("2026-12-24T16:30:00.250Z");
  expect(read("2000-01-01T00:00:00Z")).toBe("2000-01-01T00:00:00.000Z");
  expect(read("2100-12-31T23:59:59.999Z")).toBe("2100-12-31T23:59:59.999Z");
  for (const text of [
    "",
    "now",
    "2026-12-24",
    "2026-12-24T18:00:00",
    "2026-02-30T18:00:00Z",
    "2026-12-24T25:00:00Z",
    "1999-12-31T23:59:59Z",
    "2101-01-01T00:00:00Z",
    // In UTC, this is in 2101.
    "2100-12-31T23:59:59-01:00",
    "1798135200",
    `2026-12-24T18:00:00.${"0".repeat(100)}Z`,
  ])
    expect(read(text), text).toBeUndefined();
});
