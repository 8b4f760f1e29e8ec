import { expect, test } from "vitest";
import {
  afterCheck,
  awayGraceMs,
  type DnsFindings,
  type DomainFacts,
  isServed,
  nextCheckAt,
  statusOf,
} from "./status.ts";

const hourMs = 60 * 60 * 1000;
const created = new Date("2026-11-01T00:00:00Z");
const at = (ms: number) => new Date(created.getTime() + ms);

const fresh: DomainFacts = {
  checkedAt: null,
  pointsHere: false,
  awaySince: null,
  verifiedAt: null,
  certificateExpiresAt: null,
  certificateNeedsRenewal: false,
};
const settled: DomainFacts = {
  ...fresh,
  checkedAt: created,
  pointsHere: true,
  verifiedAt: created,
  certificateExpiresAt: at(90 * 24 * hourMs),
};

const status = (facts: DomainFacts, now = created, needsCertificate = true) =>
  statusOf(facts, { now, needsCertificate });

test.each<[string, Partial<DomainFacts>]>([
  ["INACTIVE", { checkedAt: null }],
  ["DOMAIN_PENDING", { pointsHere: false }],
  ["DOMAIN_PENDING", { pointsHere: false, verifiedAt: null }],
  ["VERIFICATION_PENDING", { verifiedAt: null }],
  ["CERTIFICATE_PENDING", { certificateExpiresAt: null }],
  ["ACTIVE", {}],
  ["RENEWAL_PENDING", { certificateNeedsRenewal: true }],
  ["EXPIRED", { certificateExpiresAt: created }],
  ["EXPIRED", { certificateExpiresAt: created, certificateNeedsRenewal: true }],
])("a domain is %s for what is known: %j", (expected, facts) => {
  expect(status({ ...settled, ...facts })).toBe(expected);
});

test("behind a proxy that ends TLS, a domain that leads here and is proved needs no certificate", () => {
  expect(status({ ...settled, certificateExpiresAt: null }, created, false)).toBe("ACTIVE");
});

const check = (before: DomainFacts, found: DnsFindings, now: Date) =>
  afterCheck(before, found, { now, wasServed: isServed(status(before, now)) });

test("a new domain passes every status on its way", () => {
  const away = check(fresh, { pointsHere: false, isOwned: false }, created);
  expect(status(away)).toBe("DOMAIN_PENDING");
  expect(away.awaySince).toBeNull();
  const unproved = check(away, { pointsHere: true, isOwned: false }, at(hourMs));
  expect(status(unproved)).toBe("VERIFICATION_PENDING");
  const proved = check(unproved, { pointsHere: true, isOwned: true }, at(2 * hourMs));
  expect(status(proved)).toBe("CERTIFICATE_PENDING");
  expect(proved.verifiedAt).toEqual(at(2 * hourMs));
});

test("name servers that do not answer change nothing", () => {
  const unknown = { pointsHere: undefined, isOwned: undefined };
  expect(check(settled, unknown, at(hourMs))).toEqual({ ...settled, checkedAt: at(hourMs) });
});

test("a served domain that leads elsewhere is served for a day, and then has to be proved again", () => {
  const gone = { pointsHere: false, isOwned: false };
  const away = check(settled, gone, at(hourMs));
  expect(away).toMatchObject({ awaySince: at(hourMs), verifiedAt: created });
  expect(status(away, at(hourMs + awayGraceMs - 1))).toBe("ACTIVE");
  expect(status(away, at(hourMs + awayGraceMs))).toBe("DOMAIN_PENDING");
  const lost = check(away, gone, at(hourMs + awayGraceMs));
  expect(lost).toMatchObject({ awaySince: at(hourMs), verifiedAt: null });
  const back = check(lost, { pointsHere: true, isOwned: false }, at(2 * awayGraceMs));
  expect(status(back, at(2 * awayGraceMs))).toBe("VERIFICATION_PENDING");
  const proved = check(back, { pointsHere: true, isOwned: true }, at(3 * awayGraceMs));
  expect(status(proved, at(3 * awayGraceMs))).toBe("ACTIVE");
});

test("a domain that comes back within the day keeps its proof", () => {
  const away = check(settled, { pointsHere: false, isOwned: false }, at(hourMs));
  const back = check(away, { pointsHere: true, isOwned: false }, at(hourMs + awayGraceMs - 1));
  expect(back).toMatchObject({ awaySince: null, verifiedAt: created });
});

const next = (facts: DomainFacts, now: Date) =>
  nextCheckAt(facts, { createdAt: created, now, isServed: isServed(status(facts, now)) }).getTime() -
  now.getTime();

test.each([
  ["five minutes in the first hour", fresh, hourMs - 1, hourMs / 12],
  ["an hour for three days", fresh, hourMs, hourMs],
  ["a day from then on", settled, 10 * 24 * hourMs, 24 * hourMs],
  ["its registration's end without a proof", fresh, 167.5 * hourMs, hourMs / 2],
  ["the end of its certificate", settled, 2160 * hourMs - 5, 5],
  ["a day while it is served", settled, 0, 24 * hourMs],
  [
    "five minutes when it leads elsewhere",
    { ...settled, awaySince: at(300 * hourMs) },
    300 * hourMs,
    hourMs / 12,
  ],
  ["the end of its grace", { ...settled, awaySince: created }, awayGraceMs - 7, 7],
])("a domain is looked at again after %s", (_when, facts, ageMs, expected) => {
  expect(next(facts, at(ageMs))).toBe(expected);
});
