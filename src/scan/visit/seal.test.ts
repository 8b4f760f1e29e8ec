import { expect, test } from "vitest";
import { createVisitSeals, sealLengthMax } from "./seal.ts";
import { newerOf, type VisitKey, type VisitState } from "./state.ts";

const key = Buffer.alloc(32, 1);
const seals = createVisitSeals(key);
const now = new Date(Date.UTC(2026, 10, 22));
const day = 24 * 60 * 60_000;

const visit: VisitKey = {
  workspaceId: "01a20192-54be-77d8-8dda-065d7899e701",
  linkId: "01a20192-54be-77d8-8dda-065d7899e702",
  eventId: "01a20192-54be-77d8-8dda-065d7899e703",
};
const other = "01a20192-54be-77d8-8dda-065d7899e704";

const state: VisitState = {
  answers: 3,
  outcome: "IN_PROGRESS",
  stepId: "01a20192-54be-77d8-8dda-065d7899e705",
  destination: "",
  activeAtMs: now.getTime(),
  openedAtMs: now.getTime() - 5_000,
  level: "BASIC",
  visitType: "RETURNING",
  isTypeKnown: true,
  cookieHash: "0123456789abcdef0123456789abcdef",
  query: "utm_source=poster&name=J%C3%BCrgen",
  saved: [{ key: "$email", value: "ada@example.com", type: "STRING", setOnce: false }],
};

test("a seal opens to the state that it was made of, at an interaction and on the page of an exit", () => {
  const exit: VisitState = { ...state, outcome: "COMPLETED", cookieHash: "", visitType: "FIRST" };
  for (const one of [state, exit]) expect(seals.open(visit, seals.seal(visit, one), now)).toEqual(one);
});

test("no two seals are the same, and none is readable", () => {
  const [one, another] = [seals.seal(visit, state), seals.seal(visit, state)];
  expect(one).not.toBe(another);
  expect(Buffer.from(one, "base64url").toString("latin1")).not.toContain("ada@example.com");
});

test("a seal opens for its own visit, link and workspace, with its own key, and for nothing else", () => {
  const sealed = seals.seal(visit, state);
  for (const name of ["workspaceId", "linkId", "eventId"] as const)
    expect(seals.open({ ...visit, [name]: other }, sealed, now), name).toBeUndefined();
  expect(createVisitSeals(Buffer.alloc(32, 2)).open(visit, sealed, now)).toBeUndefined();
});

test("a seal with any byte changed, any part cut off, or of another version opens nothing", () => {
  const bytes = Buffer.from(seals.seal(visit, state), "base64url");
  for (let place = 0; place < bytes.length; place++) {
    const forged = Buffer.from(bytes);
    forged[place] = (forged[place] ?? 0) ^ 1;
    expect(seals.open(visit, forged.toString("base64url"), now), `byte ${place}`).toBeUndefined();
    const cut = bytes.subarray(0, place).toString("base64url");
    expect(seals.open(visit, cut, now), `cut at ${place}`).toBeUndefined();
  }
  for (const text of ["", "A", "=", "☃", "A".repeat(500), "A".repeat(1_000_000)])
    expect(seals.open(visit, text, now)).toBeUndefined();
});

test("a seal opens for 30 days", () => {
  const sealed = seals.seal(visit, state);
  expect(seals.open(visit, sealed, new Date(now.getTime() + 30 * day))).toEqual(state);
  expect(seals.open(visit, sealed, new Date(now.getTime() + 30 * day + 1))).toBeUndefined();
});

test("a seal has at most 1,024 characters; visits that do not fit and visits without a page have none", () => {
  const lengths = Array.from(
    { length: 1_200 },
    (_, length) => seals.seal(visit, { ...state, query: "q".repeat(length) }).length,
  );
  expect(Math.max(...lengths)).toBeLessThanOrEqual(sealLengthMax);
  expect(lengths[400]).toBeGreaterThan(0);
  expect(lengths.at(-1)).toBe(0);
  const sent: VisitState = { ...state, outcome: "COMPLETED", destination: "https://example.com/" };
  expect(seals.seal(visit, sent)).toBe("");
  expect(seals.seal(visit, { ...state, outcome: "FALLBACK" })).toBe("");
});

test("the newer of two states of a visit has ended, has more answers, or was active later", () => {
  const ended: VisitState = { ...state, answers: 1, outcome: "COMPLETED" };
  const further: VisitState = { ...state, answers: 4, activeAtMs: 0 };
  const later: VisitState = { ...state, activeAtMs: state.activeAtMs + 1 };
  const cases = [
    [ended, further],
    [further, state],
    [later, state],
    [{ ...ended, activeAtMs: ended.activeAtMs + 1 }, ended],
  ] as const;
  for (const [newer, older] of cases) {
    expect(newerOf(newer, older)).toBe(newer);
    expect(newerOf(older, newer)).toBe(newer);
  }
});
