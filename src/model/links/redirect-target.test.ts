import { describe, expect, test } from "vitest";
import { hasScanMarker, parseTarget, targetUrl } from "./redirect-target.ts";

const lbid = "AZJ4mJx0cHOxu8xGVRAGRg";

describe("adds the visitor's query and the visit's id to a destination", () => {
  test.each([
    ["https://example.com/menu", "", "", "https://example.com/menu"],
    ["https://example.com/menu", "qr", "", "https://example.com/menu"],
    ["https://example.com/menu", "qr=", "", "https://example.com/menu"],
    ["https://example.com/menu", "qr=7", "", "https://example.com/menu?qr=7"],
    ["https://example.com/menu", "a=1", "", "https://example.com/menu?a=1"],
    ["https://example.com/menu?x=1", "a=1&qr&b=2", "", "https://example.com/menu?x=1&a=1&b=2"],
    ["https://example.com/menu?x=1", "a=1", lbid, `https://example.com/menu?x=1&a=1&lbid=${lbid}`],
    ["https://example.com/menu#top", "a=1", lbid, `https://example.com/menu?a=1&lbid=${lbid}#top`],
    ["https://example.com/menu?x=1#top?y", "", lbid, `https://example.com/menu?x=1&lbid=${lbid}#top?y`],
    ["https://example.com/menu?x=1", "x=2&y=3", "", "https://example.com/menu?x=1&y=3"],
    ["https://example.com/menu?x", "x=2", "", "https://example.com/menu?x"],
    ["https://example.com/menu?a%20b=1", "a+b=2", "", "https://example.com/menu?a%20b=1"],
    ["https://example.com/menu", "lbid=forged&a=1", "", "https://example.com/menu?a=1"],
    ["https://example.com/menu", "a=1&a=2&&b", "", "https://example.com/menu?a=1&a=2&b"],
    ["https://example.com/menu?", "a=1", "", "https://example.com/menu?a=1"],
    ["https://example.com/menu?x&", "a=1", "", "https://example.com/menu?x&a=1"],
    ["https://example.com", "a=1", "", "https://example.com?a=1"],
    ["https://example.com/a%2fb?x=%C3%a9+1", "y=%zz", "", "https://example.com/a%2fb?x=%C3%a9+1&y=%zz"],
    ["HTTPS://example.com/menu", "a=1", "", "HTTPS://example.com/menu?a=1"],
  ])("%s with %s and %s", (destination, query, id, expected) => {
    expect(targetUrl(parseTarget(destination), query, id)).toBe(expected);
  });
});

const form = "https://docs.google.com/forms/d/e/1FAIpQLSd/viewform?usp=pp_url&entry.1=a";

test.each([
  [`${form}&entry.22={{lbid}}`, lbid, `${form}&entry.22=${lbid}&a=1&lbid=${lbid}`],
  [`${form}&entry.22=%7B%7Blbid%7D%7D&x=1#f`, lbid, `${form}&entry.22=${lbid}&x=1&a=1&lbid=${lbid}#f`],
  [`${form}&entry.22={{lbid}}`, "", `${form}&entry.22=&a=1`],
  [`${form}&entry.22={{lbid}}s`, "", `${form}&entry.22={{lbid}}s&a=1`],
  [`${form}&other={{lbid}}`, "", `${form}&other={{lbid}}&a=1`],
  ["https://example.com/?entry.22={{lbid}}", "", "https://example.com/?entry.22={{lbid}}&a=1"],
])(
  "the hidden question of Google's form %s is answered with the visit's id %j",
  (destination, id, expected) => {
    const target = parseTarget(destination);
    expect(targetUrl(target, "a=1", id)).toBe(expected);
    const without = expected.replace(/[?&]a=1/, "").replace(/&lbid=[\w-]+/, "");
    expect(targetUrl(target, "", "")).toBe(without.replace(`entry.22=${lbid}`, "entry.22="));
  },
);

test.each([
  "mailto:a@example.com?subject=hi",
  "tel:+4930123",
  "sms:+4930123",
  "geo:52.5,13.4",
  "spotify:album:1",
])("never adds anything to %s", (destination) => {
  expect(targetUrl(parseTarget(destination), "a=1", lbid)).toBe(destination);
});

test.each([
  ["https://bücher.example/straße?q=ü#ö", "https://xn--bcher-kva.example/stra%C3%9Fe?q=%C3%BC#%C3%B6"],
  ["https://example.com/a b", "https://example.com/a%20b"],
  ["https://user:pässword@example.com:8080/😀", "https://user:p%C3%A4ssword@example.com:8080/%F0%9F%98%80"],
  ["mailto:jürgen@example.com", "mailto:j%C3%BCrgen@example.com"],
])("writes %s as headers can carry it", (destination, expected) => {
  expect(parseTarget(destination).url).toBe(expected);
});

test("escapes the bytes of a query that a header must not hold", () => {
  const url = targetUrl(parseTarget("https://example.com/"), "a=\xfc\r\nX: 1", "");
  expect(url).toBe("https://example.com/?a=%FC%0D%0AX:%201");
});

test.each([
  ["qr", true],
  ["qr=", true],
  ["a=1&qr", true],
  ["qr&a=1", true],
  ["qr=1", false],
  ["aqr", false],
  ["QR", false],
  ["", false],
])("tells by the query %j whether a code was scanned: %s", (query, expected) => {
  expect(hasScanMarker(query)).toBe(expected);
});
