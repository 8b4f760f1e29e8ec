import { expect, test } from "vitest";
import { classifyUserAgent } from "./classify.ts";
import { collect, keptDevice, type SeenDevice, truncatedAddress } from "./collection.ts";

const seen: SeenDevice = {
  classification: classifyUserAgent(
    "Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36",
  ),
  place: {
    country: "DE",
    region: "Berlin",
    city: "Berlin",
    timezone: "Europe/Berlin",
    isp: "Example",
    asn: 64496,
  },
  address: "203.0.113.77",
  userAgent: "as sent",
  language: "de-DE",
};

test("keeps the form factor, the actor and the country only at level NONE", () => {
  const { deviceType, deviceActor, country, ...rest } = keptDevice(seen, collect("NONE", {}));
  expect({ deviceType, deviceActor, country }).toEqual({
    deviceType: "MOBILE",
    deviceActor: "HUMAN",
    country: "DE",
  });
  expect(Object.values(rest).filter((value) => value !== "" && value !== 0)).toEqual([]);
});

test("keeps neither full address nor provider, model and user agent at level BASIC", () => {
  expect(keptDevice(seen, collect("BASIC", {}))).toMatchObject({
    ipAddress: "203.0.113.0",
    browserName: "Samsung Browser",
    deviceBrand: "Samsung",
    browserLanguage: "de-DE",
    city: "Berlin",
    deviceName: "",
    userAgent: "",
    timezone: "",
    isp: "",
    asn: 0,
  });
});

test("keeps everything at level ADVANCED", () => {
  expect(keptDevice(seen, collect("ADVANCED", {}))).toMatchObject({
    ipAddress: "203.0.113.77",
    deviceName: "SM-S921B",
    userAgent: "as sent",
    timezone: "Europe/Berlin",
    isp: "Example",
    asn: 64496,
  });
});

test("sets no cookie, matches nothing and makes no visitor at level NONE", () => {
  expect(collect("NONE", {})).toMatchObject({ cookie: false, match: false, visitor: false });
});

test("collects BASIC where nothing is stored, and never more than BASIC against the browser's wish", () => {
  expect(collect("UNSPECIFIED", {}).level).toBe("BASIC");
  expect(collect("ADVANCED", { dnt: "1" }).level).toBe("BASIC");
  expect(collect("ADVANCED", { "sec-gpc": "1" })).toMatchObject({ level: "BASIC" });
  expect(collect("NONE", { dnt: "1" }).level).toBe("NONE");
});

test.each([
  ["203.0.113.77", "203.0.113.0"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1::"],
  ["2001:db8::1", "2001:db8::"],
  ["2001:0db8:0000:2::1", "2001:db8::"],
  ["::1", "::"],
  ["fe80::1", "fe80::"],
  ["not an address", ""],
])("cuts %s to its network %s", (address, network) => {
  expect(truncatedAddress(address)).toBe(network);
});
