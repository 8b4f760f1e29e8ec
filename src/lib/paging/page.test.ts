import { expect, test } from "vitest";
import { CallError } from "../errors.ts";
import { nextPageToken, type PageKeys, type PageRules, readPage } from "./page.ts";

const id = "0190f0c0-0000-7000-8000-000000000001";
const byTime: PageRules<"time"> = { key: "time", sort: "things created desc", filters: { tenant: "a" } };

function tokenAfter<Kind extends keyof PageKeys>(rules: PageRules<Kind>, key: PageKeys[Kind]): string {
  const page = readPage({ pageSize: 1n, pageToken: "" }, rules);
  return nextPageToken({ key, id }, page);
}

function refusal(pageToken: string, rules: PageRules<keyof PageKeys> = byTime): CallError {
  try {
    readPage({ pageSize: 0n, pageToken }, rules);
  } catch (error) {
    if (error instanceof CallError) return error;
    throw error;
  }
  throw new Error(`accepted ${pageToken}`);
}

function forge(fields: string, rules: PageRules<keyof PageKeys> = byTime): string {
  const { fingerprint } = readPage({ pageSize: 0n, pageToken: "" }, rules);
  return Buffer.from(fields.replace("HASH", JSON.stringify(fingerprint))).toString("base64");
}

test("a size of 0 is the list's default, and a size above the maximum is clamped to it", () => {
  const size = (pageSize: bigint, rules: Partial<PageRules<"time">> = {}) =>
    readPage({ pageSize, pageToken: "" }, { ...byTime, ...rules }).size;
  expect(size(0n)).toBe(100);
  expect(size(7n)).toBe(7);
  expect(size(2n ** 62n)).toBe(1_000);
  expect(size(101n, { max: 100 })).toBe(100);
  expect(size(0n, { default: 20 })).toBe(20);
  expect(() => size(-1n)).toThrow("pageSize: must not be negative");
});

test("a token leads to the row after the last one of its page, whatever the type of the key", () => {
  const keys: { [Kind in keyof PageKeys]: PageKeys[Kind] } = {
    time: new Date("2026-02-03T04:05:06.789Z"),
    text: "näme >>> ???",
    count: 9_223_372_036_854_775_807n,
    none: undefined,
  };
  for (const kind of ["time", "text", "count", "none"] as const) {
    const rules = { key: kind, sort: "things", filters: {} };
    const pageToken = tokenAfter(rules, keys[kind]);
    expect(readPage({ pageSize: 5n, pageToken }, rules).after).toEqual({ key: keys[kind], id });
  }
});

test("`cursor` is another name of `pageToken`, which wins over it; refusals name the one that was used", () => {
  const [early, late] = [new Date("2026-01-01T00:00:00Z"), new Date("2026-02-01T00:00:00Z")];
  const [cursor, pageToken] = [tokenAfter(byTime, early), tokenAfter(byTime, late)];
  const after = (tokens: { pageToken?: string; cursor?: string }) =>
    readPage({ pageSize: 0n, pageToken: "", ...tokens }, byTime).after?.key;
  expect(after({ cursor })).toEqual(early);
  expect(after({ cursor: "", pageToken })).toEqual(late);
  expect(after({ cursor, pageToken })).toEqual(late);
  expect(after({ cursor: "damaged", pageToken })).toEqual(late);
  expect(() => after({ cursor: "damaged" })).toThrow("cursor is damaged");
  expect(() => after({ cursor, pageToken: "damaged" })).toThrow("pageToken is damaged");
});

test("a token is refused with other filters, another order or another tenant, but not with another size", () => {
  const pageToken = tokenAfter(byTime, new Date(0));
  expect(readPage({ pageSize: 999n, pageToken }, byTime).after?.id).toBe(id);
  expect(refusal(pageToken, { ...byTime, filters: { tenant: "b" } }).reason).toBe("INVALID_PAGE_TOKEN");
  expect(refusal(pageToken, { ...byTime, sort: "things created asc" }).reason).toBe("INVALID_PAGE_TOKEN");
  expect(refusal(pageToken, { ...byTime, key: "none" }).reason).toBe("INVALID_PAGE_TOKEN");
});

test("filters are the same in any order of their names, and different values are never confused", () => {
  const print = (filters: unknown) =>
    readPage({ pageSize: 0n, pageToken: "" }, { ...byTime, filters }).fingerprint;
  expect(print({ a: 1, b: "x", c: undefined })).toBe(print({ b: "x", a: 1 }));
  const different = [
    { a: "1" },
    { a: 1 },
    { a: 1n },
    { a: new Date(1) },
    { a: ["1"] },
    { a: null },
    { b: "1" },
    {},
  ];
  expect(new Set(different.map(print)).size).toBe(different.length);
});

test("a damaged or forged token is refused with INVALID_PAGE_TOKEN", () => {
  const good = tokenAfter(byTime, new Date(5));
  const damagedTokens = [
    "x",
    "null",
    good.slice(0, -6),
    `A${good}`,
    Buffer.from("[]").toString("base64"),
    Buffer.from("null").toString("base64"),
    forge(`{"k":5,"i":"${id}"}`),
    forge(`{"k":5,"h":HASH}`),
    forge(`{"k":5,"i":"' or 1=1","h":HASH}`),
    forge(`{"k":5,"i":["${id}"],"h":HASH}`),
    forge(`{"i":"${id}","h":HASH}`),
    forge(`{"k":"5","i":"${id}","h":HASH}`),
    forge(`{"k":1e300,"i":"${id}","h":HASH}`),
    forge(`{"k":-1,"i":"${id}","h":HASH}`),
    forge(`{"k":0.5,"i":"${id}","h":HASH}`),
    forge(`{"__proto__":{"k":5,"i":"${id}","h":HASH}}`),
  ];
  for (const token of damagedTokens)
    expect(refusal(token), token).toMatchObject({ reason: "INVALID_PAGE_TOKEN" });
  const count = { key: "count", sort: "things", filters: {} } as const;
  for (const key of ['"9223372036854775808"', '"1e3"', "5", '""'])
    expect(refusal(forge(`{"k":${key},"i":"${id}","h":HASH}`, count), count).reason).toBe(
      "INVALID_PAGE_TOKEN",
    );
  const text = { key: "text", sort: "things", filters: {} } as const;
  expect(refusal(forge(`{"k":"a\\u0000b","i":"${id}","h":HASH}`, text), text).reason).toBe(
    "INVALID_PAGE_TOKEN",
  );
});

test("a token survives a query with unencoded plus signs", () => {
  const rules = { key: "text", sort: "things", filters: {} } as const;
  const pageToken = tokenAfter(rules, "~~~>>>~~~");
  expect(pageToken).toContain("+");
  expect(readPage({ pageSize: 0n, pageToken: pageToken.replaceAll("+", " ") }, rules).after?.key).toBe(
    "~~~>>>~~~",
  );
});
