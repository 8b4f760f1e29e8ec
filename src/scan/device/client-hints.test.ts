import { expect, test } from "vitest";
import { eachTelling } from "./asked-how.ts";
import { createClassifier, type VisitHeaders } from "./classify.ts";

const chrome = (system: string, mobile = "") =>
  `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 ${mobile}Safari/537.36`;
const windows = chrome("Windows NT 10.0; Win64; x64");
const android = chrome("Linux; Android 10; K", "Mobile ");
const brands = (...names: string[]) =>
  ["Not)A;Brand", ...names].map((name) => `"${name}";v="138"`).join(", ");

const classify = createClassifier();
const seen = (userAgent: string, hints: Record<string, string>) =>
  classify(userAgent, { "user-agent": userAgent, ...hints });

/** The class that comes out of a record, which keeps only what says more than the user agent. */
function recorded(userAgent: string, hints: Record<string, string>) {
  const kept: Record<string, string> = {};
  eachTelling({ "user-agent": userAgent, ...hints }, (name, value) => {
    kept[name] = String(value);
  });
  return { class: classify(userAgent, kept), kept: Object.keys(kept) };
}

test.each([
  ["Brave", "Brave"],
  ["Vivaldi", "Vivaldi"],
  ["Microsoft Edge", "Edge"],
  ["YaBrowser", "Yandex Browser"],
])("the brands of %s name the browser that the user agent hides behind Chrome", (brand, browserName) => {
  const hints = { "sec-ch-ua": brands("Chromium", brand) };
  expect(seen(windows, hints)).toMatchObject({ browserName, browserVersion: "138", deviceActor: "HUMAN" });
  expect(recorded(windows, hints).class).toEqual(seen(windows, hints));
});

test("the model names the phone that Chrome's user agent no longer names, and who made it", () => {
  const hints = { "sec-ch-ua-model": '"SM-S921B"', "sec-ch-ua-platform": '"Android"' };
  expect(seen(android, hints)).toMatchObject({ deviceName: "SM-S921B", deviceBrand: "Samsung" });
  expect(recorded(android, hints)).toEqual({ class: seen(android, hints), kept: ["sec-ch-ua-model"] });
});

test("the platform tells a tablet that asks for the desktop's view", () => {
  const hints = { "sec-ch-ua-platform": '"Android"', "sec-ch-ua-model": '"Pixel Tablet"' };
  const desktopView = chrome("X11; Linux x86_64");
  expect(seen(desktopView, hints)).toMatchObject({
    deviceType: "TABLET",
    platformName: "Android",
    deviceBrand: "Google",
    deviceName: "Pixel Tablet",
  });
  expect(recorded(desktopView, hints).class).toEqual(seen(desktopView, hints));
});

test("hints that repeat the user agent are not kept, and change nothing", () => {
  const hints = {
    "sec-ch-ua": brands("Chromium", "Google Chrome"),
    "sec-ch-ua-mobile": "?0",
    "sec-ch-ua-platform": '"Windows"',
    "sec-ch-ua-model": '""',
  };
  expect(recorded(windows, hints).kept).toEqual([]);
  expect(seen(windows, hints)).toBe(classify(windows, {}));
});

test("one request's hints change no other request's class", () => {
  seen(android, { "sec-ch-ua": brands("Brave"), "sec-ch-ua-model": '"SM-S921B"' });
  expect(seen(android, {})).toMatchObject({ browserName: "Chrome", deviceName: "" });
});

test("a bot stays one, whatever its hints say", () => {
  const bot = "Mozilla/5.0 (compatible; ExampleBot/1.0)";
  const hints = { "sec-ch-ua": brands("Brave"), "sec-ch-ua-model": '"SM-S921B"' };
  expect(seen(bot, hints)).toEqual(seen(bot, {}));
});

test.each([
  ["without a quotation mark", "Pixel"],
  ["of quotation marks", '"'.repeat(60_000)],
  ["of one endless model", `"${"A".repeat(60_000)}"`],
  ["of one endless brand", `"Brave";v="${"1".repeat(60_000)}"`],
  ["of many brands", '"Brave";v="x", '.repeat(4_000)],
])("hints %s leave short names", (_, hint) => {
  const headers: VisitHeaders = {
    "user-agent": android,
    "sec-ch-ua": hint,
    "sec-ch-ua-platform": hint,
    "sec-ch-ua-model": hint,
  };
  const lengths = Object.values(classify(android, headers)).map((value) => String(value).length);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(60);
  eachTelling(headers, (_name, value) => expect(value.length).toBeLessThanOrEqual(512));
});
