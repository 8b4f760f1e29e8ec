import { expect, test } from "vitest";
import { hasScanMarker } from "../../src/model/links/redirect-target.ts";
import { createClassifier } from "../../src/scan/device/classify.ts";
import { collect } from "../../src/scan/device/collection.ts";
import { corpus } from "./corpus.ts";

const classify = createClassifier();

test("the contract has at least 150 rows, and no two have the same name", () => {
  expect(corpus.length).toBeGreaterThanOrEqual(150);
  expect(new Set(corpus.map((row) => row.name)).size).toBe(corpus.length);
});

// HEAD leaves no visit to classify; `test/counting-over-http.test.ts` checks on a running service that it leaves
// nothing.
test.each(corpus.filter(({ method }) => method === "GET"))("$name: $why", (row) => {
  const classification = classify(row.headers["user-agent"], row.headers);
  const seen = {
    ...classification,
    recorded: true,
    status: row.expect.status,
    action: hasScanMarker(row.query.slice(1)) ? "SCAN" : "CLICK",
    level: collect("ADVANCED", row.headers).level,
  };
  expect(seen).toMatchObject(row.expect);
});
