import { expect, test } from "vitest";
import { classifyUserAgent, createClassifier } from "./classify.ts";

// What most requests become stands in the counting contract, test/counting.

const chrome =
  "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36";

test("reports versions, and device names where they are known", () => {
  const samsung =
    "Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36";
  expect(classifyUserAgent(samsung)).toMatchObject({
    browserVersion: "27.0",
    platformVersion: "14",
    deviceName: "SM-S921B",
  });
  expect(classifyUserAgent(chrome)).toMatchObject({ browserVersion: "138.0.0.0", deviceName: "" });
});

test("answers the same for the same user agent, from memory", () => {
  const classify = createClassifier(2);
  expect(classify(chrome, {})).toBe(classify(chrome, {}));
});

test("does not let one request's headers change what is remembered", () => {
  const classify = createClassifier();
  expect(classify(chrome, { "sec-purpose": "prefetch" }).counted).toBe(false);
  expect(classify(chrome, { "signature-agent": '"https://chatgpt.com"' }).deviceActor).toBe("AGENT");
  expect(classify(chrome, {})).toMatchObject({ deviceActor: "HUMAN", counted: true });
});

test("keeps the declared program when a signature agent is named as well", () => {
  const classify = createClassifier();
  expect(classify("Twitterbot/1.0", { "signature-agent": '"https://chatgpt.com"' })).toMatchObject({
    deviceActorName: "X link preview",
  });
});

test("takes no property of objects for a known signature agent", () => {
  expect(createClassifier()(chrome, { "signature-agent": "constructor" })).toMatchObject({
    deviceActor: "BOT",
  });
});

test.each([
  ["nothing but letters", "a".repeat(100_000)],
  ["separators", `Mozilla/5.0 (${"; ".repeat(50_000)}`],
  ["the mark of scanners again and again", "QR ".repeat(30_000)],
  ["the mark of bots again and again", `Mozilla/5.0 (Android ${"bot ".repeat(30_000)}`],
  ["control characters", "\u0000\u0007\u001b[31m"],
])("classifies a user agent of %s with bounded names", (_, userAgent) => {
  const classification = createClassifier()(userAgent, {});
  const lengths = Object.values(classification).map((value) => String(value).length);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(60);
});
