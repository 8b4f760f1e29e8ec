import fc from "fast-check";
import { expect, test } from "vitest";
import { signUrl, verifyUrl } from "./signed-url.ts";

const key = Buffer.alloc(32, 7);
const expiresAt = new Date("2026-08-01T12:00:00Z");
const before = new Date("2026-08-01T11:59:00Z");
const path = "/_p/files/qr/abc.png";
const url = signUrl({ baseUrl: "https://example.com", path, expiresAt, key });
const target = url.slice("https://example.com".length);

test("accepts what it signed until the last second, not after", () => {
  expect(verifyUrl(target, before, key)).toEqual({ ok: true, path, expiresAt });
  expect(verifyUrl(target, expiresAt, key)).toEqual({ ok: true, path, expiresAt });
  expect(verifyUrl(target, new Date(expiresAt.getTime() + 1), key)).toEqual({ ok: false, fault: "expired" });
});

test("signs with HMAC-SHA256 over path and Unix seconds", () => {
  expect(url).toMatch(
    /^https:\/\/example\.com\/_p\/files\/qr\/abc\.png\?expires=1785585600&signature=[\w-]{43}$/,
  );
});

test("refuses another path, time or key", () => {
  const refused = { ok: false, fault: "signature" };
  expect(verifyUrl(target.replace("abc", "abd"), before, key)).toEqual(refused);
  expect(verifyUrl(target.replace("1785585600", "1785585601"), before, key)).toEqual(refused);
  expect(verifyUrl(target.replace("1785585600", "01785585600"), before, key)).toEqual(refused);
  expect(verifyUrl(target, before, Buffer.alloc(32, 8))).toEqual(refused);
});

test("refuses every change of a single character", () => {
  fc.assert(
    fc.property(fc.nat(target.length - 1), fc.constantFrom(..."aZ09-_/?&=%"), (index, character) => {
      const changed = target.slice(0, index) + character + target.slice(index + 1);
      expect(verifyUrl(changed, before, key).ok).toBe(changed === target);
    }),
    { seed: 1, numRuns: 2000 },
  );
});

test("refuses missing, repeated and misspelled parts", () => {
  const { searchParams } = new URL(url);
  const signature = searchParams.get("signature") ?? "";
  const targets = [
    "",
    path,
    `${path}?`,
    `${path}?expires=1785585600`,
    `${path}?signature=${signature}`,
    `${path}?expires=1785585600&expires=1785585600&signature=${signature}`,
    `${target}&signature=${signature}`,
    `${target}=`,
    `${path}?expires=1e9&signature=${signature}`,
    `${path}?expires=-1&signature=${signature}`,
    `${path}?expires=1785585600&signature=${Buffer.from(signature, "base64url").toString("hex")}`,
  ];
  for (const changed of targets) expect(verifyUrl(changed, before, key).ok).toBe(false);
});

test("leaves the path of the base address out of the signature, because a proxy may strip it", () => {
  const prefixed = signUrl({ baseUrl: "https://example.com/links/", path, expiresAt, key });
  expect(prefixed).toBe(url.replace("example.com", "example.com/links"));
});
