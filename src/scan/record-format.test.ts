import fc from "fast-check";
import { expect, test } from "vitest";
import { compilePlan } from "../model/plan.ts";
import { decide } from "./decide.ts";
import { decodeVisit, encodeVisit, type SeenVisit } from "./record-format.ts";
import { createVisitIds, lbidOf, textOfId } from "./visit-id.ts";

const uuid = (digit: number) => `0198aaaa-0000-7000-8000-00000000000${digit}`;
const plan = compilePlan(
  {
    workspaceId: uuid(1),
    linkId: uuid(2),
    host: "",
    shortlink: "menu",
    environment: "live",
    timezone: "UTC",
    dataCollection: "BASIC",
    fallbackDestination: "",
    rootDestination: "",
    expiresAt: null,
    link: { name: "Menu", shortlink: "menu", tags: [], metadata: {}, purpose: "" },
    pageTheme: null,
    steps: [
      { id: uuid(3), action: "LINK_VISIT", payload: {} },
      { id: uuid(4), action: "CLIENT_REDIRECT", payload: { destination: "https://example.com/" } },
    ],
    connections: [{ stepId: uuid(3), branchId: "next", nextStepId: uuid(4) }],
  },
  "https://go.example/menu",
);
const atMs = Date.UTC(2026, 7, 1);
const seen: SeenVisit = {
  id: createVisitIds()(atMs),
  action: "SCAN",
  level: "BASIC",
  headers: {
    "user-agent": "Mozilla",
    "accept-language": "de",
    "sec-purpose": "prefetch",
    cookie: "secret=1",
  },
  address: "203.0.113.7",
  cookie: "2f1e8c3a-0c0b-4b7e-9d55-6a0c7d7f0e11",
  cookieWasSent: true,
};
const outcome = decide(plan, { query: "a=1", lbid: () => "" }, new Date(atMs));

test("reads back what was written, and of headers only what decides on the class of a visit", () => {
  const bytes = encodeVisit(plan, seen, outcome);
  expect(decodeVisit(seen.id, bytes)).toEqual({
    id: textOfId(seen.id),
    atMs,
    workspaceId: uuid(1),
    linkId: uuid(2),
    entrypoint: "https://go.example/menu",
    entryStepId: uuid(3),
    level: "BASIC",
    action: "SCAN",
    headers: { "sec-purpose": "prefetch" },
    userAgent: "Mozilla",
    language: "de",
    address: "203.0.113.7",
    cookie: seen.cookie,
    cookieWasSent: true,
    outcome: "COMPLETED",
    destination: "https://example.com/?a=1",
    exitStepId: uuid(4),
    conversionTracking: false,
    stepsReached: 2,
    stepsTotal: 2,
    lastStepId: uuid(4),
    lastStepAction: "CLIENT_REDIRECT",
  });
  expect(bytes.toString()).not.toContain("secret");
});

test("cuts headers that are longer than any real one", () => {
  const bytes = encodeVisit(plan, { ...seen, headers: { "user-agent": "x".repeat(16_000) } }, outcome);
  expect(bytes.length).toBeLessThan(2_000);
});

test("refuses damaged records instead of misreading them", () => {
  const bytes = encodeVisit(plan, seen, outcome);
  const fields: unknown[] = JSON.parse(bytes.toString());
  const odd = fc.oneof(fc.jsonValue(), fc.constant(undefined));
  fc.assert(
    fc.property(fc.nat({ max: fields.length - 1 }), odd, (index, value) => {
      const changed = fields.with(index, value);
      try {
        const visit = decodeVisit(seen.id, Buffer.from(JSON.stringify(changed)));
        expect(visit.workspaceId).toMatch(/^[0-9a-f-]{36}$/);
        expect(visit.stepsTotal).toBeGreaterThanOrEqual(0);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }),
  );
  for (const text of ["", "{}", "[2]", "[1]", bytes.toString().slice(0, -1)])
    expect(() => decodeVisit(seen.id, Buffer.from(text))).toThrow();
});

test("ids are UUIDv7 of their millisecond, all different, and travel as 22 characters", () => {
  const newId = createVisitIds();
  const ids = Array.from({ length: 5_000 }, () => newId(atMs));
  expect(new Set(ids.map(textOfId)).size).toBe(5_000);
  for (const id of ids.slice(0, 100)) {
    expect(textOfId(id)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(id.readUIntBE(0, 6)).toBe(atMs);
    expect(lbidOf(id)).toMatch(/^[\w-]{22}$/);
  }
});
