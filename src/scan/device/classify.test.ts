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

test.each([
  [
    "Samsung's television",
    "Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) 76.0.3809.146/6.0 TV Safari/537.36",
  ],
  [
    "an Android television",
    "Mozilla/5.0 (Linux; Android 9; BRAVIA 4K UR2) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/84.0.4147.125 Safari/537.36",
  ],
  [
    "a stick",
    "Mozilla/5.0 (Linux; Android 7.1.2; AFTMM Build/NS6265; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/70.0.3538.110 Mobile Safari/537.36",
  ],
  [
    "a set-top box",
    "Mozilla/5.0 (Linux; Android 10; Smart TV Box) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/90.0.4430.91 Safari/537.36",
  ],
  [
    "another set-top box",
    "Mozilla/5.0 (Linux; Android 9; MIBOX4) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/96.0.4664.104 Safari/537.36",
  ],
  [
    "a console",
    "Mozilla/5.0 (PlayStation; PlayStation 5/2.26) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.0 Safari/605.1.15",
  ],
])("takes %s neither for a phone nor for a tablet, and counts it", (_, userAgent) => {
  expect(classifyUserAgent(userAgent)).toMatchObject({
    deviceType: "UNKNOWN",
    deviceActor: "HUMAN",
    counted: true,
  });
});

test.each([
  ["HUAWEI P30", "Huawei"],
  ["HTC One M9", "HTC"],
  ["Aquaris X2", "bq"],
  ["Nokia 7.1", "Nokia"],
  ["CUBOT P80", "CUBOT"],
  ["itel L6006", "itel"],
  ["Wileyfox Swift", "Wileyfox"],
  ["MX4", "Meizu"],
  ["GM 8 d", "General Mobile"],
  ["Y635-L21", "Huawei"],
  ["EVA Build/HUAWEIEVA", "Huawei"],
  ["SGP512", "Sony"],
  ["5045D", "Alcatel"],
  ["VFD 200", "Vodafone"],
])("knows who makes a %s", (model, brand) => {
  const phone = `Mozilla/5.0 (Linux; Android 9; ${model}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/96.0.4664.104 Mobile Safari/537.36`;
  expect(classifyUserAgent(phone)).toMatchObject({ deviceBrand: brand, deviceType: "MOBILE" });
});

test.each([
  [
    "MOBILE",
    "Nokia",
    "NokiaC3-00/5.0 (08.71) Profile/MIDP-2.1 Configuration/CLDC-1.1 UCWEB/2.0 (Java; U) U2/1.0.0",
  ],
  [
    "MOBILE",
    "Nokia",
    "Mozilla/5.0 (Mobile; Windows Phone 8.1; Android 4.0; ARM; Trident/7.0; Touch; rv:11.0; IEMobile/11.0; NOKIA; Lumia 520) like iPhone OS 7_0_3 Mac OS X AppleWebKit/537 (KHTML, like Gecko) Mobile Safari/537",
  ],
  ["MOBILE", "", "Mozilla/5.0 (Mobile; rv:48.0; A405DL) Gecko/48.0 Firefox/48.0 KAIOS/2.5"],
  [
    "MOBILE",
    "ZTE",
    "Mozilla/5.0 (Linux; Android 11; Blade L3) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/90.0.0.0 Mobile Safari/537.36 Instagram 210.0.0.28.71 Android (30/11; 320dpi; 720x1280; ZTE; Blade L3; P809; qcom; en_US)",
  ],
  ["DESKTOP", "", "Mozilla/5.0 (X11; FreeBSD amd64; rv:128.0) Gecko/20100101 Firefox/128.0"],
  ["DESKTOP", "", "Mozilla/4.0 (compatible; MSIE 5.0; Windows 98; DigExt)"],
  ["DESKTOP", "", "Mozilla/4.05 [en] (Win95; I)"],
  [
    "TABLET",
    "Amazon",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Silk/44.1.54 like Chrome/44.0.2403.63 Safari/537.36",
  ],
  ["MOBILE", "HTC", "HTC P3600i"],
  [
    "UNKNOWN",
    "",
    "Mozilla/5.0 (compatible; U; Webpositive/533.4; Haiku) AppleWebkit/533.4 (KHTML, like gecko) Chrome/5.0.375.55 Safari/533.4",
  ],
])("counts a %s of %s with an unusual user agent", (deviceType, deviceBrand, userAgent) => {
  expect(classifyUserAgent(userAgent)).toMatchObject({ deviceType, deviceBrand, counted: true });
});

test.each([
  [
    "an editor's window",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Trae/1.107.1 Chrome/142.0.7444.235 Electron/39.2.7 Safari/537.36",
  ],
  ["Apple's client on a Mac", "Gatherer/29 CFNetwork/897.15 Darwin/17.5.0 (x86_64)"],
  ["an app that downloads", "Video%20Downloader/4 CFNetwork/1498.700.2 Darwin/23.6.0"],
  [
    "an engine that claims to be compatible",
    "Mozilla/5.0 (compatible; Gatherer/1.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36",
  ],
  [
    "a mail address in words",
    "Mozilla/5.0 (Windows NT 6.1; Win64; x64; rv:47.0; name at example dot com) Gecko/20100101 Firefox/47.0",
  ],
  [
    "a name before Chrome's",
    "Mozilla/5.0 (Windows NT 10.0; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) GathererChrome/62.0.3202.75 Safari/537.36",
  ],
  [
    "a browser that names no system",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko) Chrome/98.0 Safari/537.36",
  ],
  [
    "a mail program",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:102.0) Gecko/20100101 Thunderbird/102.3.0",
  ],
  ["an office program", "Outlook-iOS/696.1188109.prod.iphone (2.102.0)"],
  ["neither browser, engine nor phone", "Sphere Gatherer v4.0 - see the manual"],
  ["a name before Internet Explorer's", "Gatherer 4 (compatible; MSIE 6.0; Windows NT 5.0)"],
])("does not count %s", (_, userAgent) => {
  expect(classifyUserAgent(userAgent)).toMatchObject({ deviceActor: "BOT", counted: false });
});

test("reads a program's name at the end of a long user agent", () => {
  const long = `${chrome} ${"Plugin/1.0 ".repeat(60)}ExampleBot/2.0`;
  expect(classifyUserAgent(long)).toMatchObject({ deviceActor: "BOT" });
  expect(createClassifier()(long, {})).toMatchObject({ deviceActor: "BOT", counted: false });
});

test("gives programs the names that they call themselves, and never pieces of addresses", () => {
  const nameOf = (userAgent: string) => classifyUserAgent(userAgent).deviceActorName;
  expect(nameOf("Mozilla/5.0 (compatible; SlowWalker/1.2; +https://example.com/bots.html)")).toBe(
    "SlowWalker",
  );
  expect(nameOf("copyright sheriff (+http://www.copyrightsheriff.example/)")).toBe("copyright sheriff");
  expect(nameOf("Mozilla/5.0 (compatible; +https://crawler.example.com/about)")).toBe("crawler.example.com");
  expect(nameOf("Mozilla/4.0 (compatible; somebody@example.com)")).toBe("example.com");
  expect(
    nameOf("Mozilla/5.0 (X11; U; Linux i686; en-US) Gecko/20100115 (Gatherer/0.6; http://a.example)"),
  ).toBe("Gatherer");
  expect(nameOf("Feed%20Watcher/3 CFNetwork/807.2.14 Darwin/16.4.0 (x86_64)")).toBe("Feed Watcher");
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

test("a property name of objects is no known signature agent", () => {
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
