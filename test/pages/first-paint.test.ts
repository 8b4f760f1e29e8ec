import { spawnSync } from "node:child_process";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fontsPath } from "../../gen/fonts.ts";
import { renderStep } from "../../src/hosted/steps/render-step.ts";
import { type PageTheme, pageTheme } from "../../src/model/look/page-theme.ts";
import { hasBrowser, launchBrowser } from "../support/browser.ts";
import { type PageServer, servePages } from "./serve-pages.ts";
import { newView, steps } from "./specimens.ts";
import { images } from "./themes.ts";

/** A theme of which no Linux machine has the fonts. */
const georgia = themeOf("GEORGIA", "GEORGIA");

function themeOf(title: string, body: string): PageTheme {
  const font = (family: string, more: object) => ({ family: `PAGE_THEME_FONT_FAMILY_${family}`, ...more });
  return pageTheme({
    titleFont: font(title, { fontSize: 34, bold: true }),
    bodyFont: font(body, { fontSize: 17 }),
    elementFont: font(body, { fontSize: 16 }),
  });
}

/** Holds the files of fonts back until the page has painted text, and tells which were asked for, and their bytes. */
async function holdFonts(page: Page) {
  const asked: string[] = [];
  let bytes = 0;
  let release = () => {};
  const painted = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(`**${fontsPath}*`, async (route) => {
    asked.push(new URL(route.request().url()).pathname);
    await painted;
    const answer = await route.fetch();
    bytes += (await answer.body()).length;
    await route.fulfill({ response: answer });
  });
  return { asked, bytes: () => bytes, release };
}

/** Waits for the first paint of text. */
const firstPaint = `new Promise((resolve) => new PerformanceObserver((list) => {
  if (list.getEntriesByName("first-contentful-paint").length > 0) resolve();
}).observe({ type: "paint", buffered: true }))`;

/** The animations that begin with something that cannot be seen. */
const fading = `document.getAnimations().filter(({ effect }) =>
  effect.getKeyframes().some((frame) => "opacity" in frame)).map(({ animationName }) => animationName)`;

/** How far the page has moved by itself, once its fonts have come. */
const layoutShift = `document.fonts.ready.then(() => new Promise((resolve) => {
  let sum = 0;
  const observer = new PerformanceObserver((list) => { for (const { value } of list.getEntries()) sum += value; });
  observer.observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => {
    for (const { value } of observer.takeRecords()) sum += value;
    resolve(sum);
  })));
}))`;

describe.skipIf(!hasBrowser)("in a browser, a themed page", () => {
  const visit = launchBrowser();
  let server: PageServer;
  beforeAll(async () => {
    server = await servePages();
  });
  afterAll(() => server?.close());

  test("paints its text before any font has come, and hardly moves when the fonts come", async () => {
    for (const step of [steps.message, steps.form]) {
      await visit({ reducedMotion: "no-preference" }, async (page) => {
        const fonts = await holdFonts(page);
        await page.goto(server.put(renderStep(newView(step, { theme: georgia, media: images }))), {
          waitUntil: "commit",
        });
        await page.evaluate(firstPaint);
        fonts.release();
        expect(await page.evaluate<number>(layoutShift)).toBeLessThanOrEqual(0.02);
        const drawn = await page.evaluate<string[]>(
          `[...document.fonts].filter(({ status }) => status === "loaded").map(({ family }) => family)`,
        );
        expect(drawn).toContain("s-georgia");
        expect(fonts.asked.length).toBeLessThanOrEqual(2);
        expect(fonts.bytes()).toBeLessThanOrEqual(60_000);
      });
    }
  });

  test("needs nothing but its document for the first paint, and no other host at all", async () => {
    await visit({ reducedMotion: "no-preference" }, async (page) => {
      const asked: string[] = [];
      page.on("request", (request) => asked.push(request.url()));
      // Everything but the document never comes.
      await page.route("**/*", (route) =>
        route.request().isNavigationRequest() ? route.continue() : new Promise(() => {}),
      );
      const url = server.put(renderStep(newView(steps.multiLink, { theme: georgia, media: images })));
      await page.goto(url, { waitUntil: "commit" });
      await page.evaluate(firstPaint);
      expect(await page.locator("h1").isVisible()).toBe(true);
      // What fades in is painted late.
      expect(await page.evaluate(fading)).toEqual([]);
      expect(
        asked.filter((each) => !each.startsWith(`${server.origin}/`) && !each.startsWith("data:")),
      ).toEqual([]);
    });
  });

  test("does not paint the beginning of its content before the end has come", async () => {
    await visit({}, async (page) => {
      const hosted = renderStep(newView(steps.form));
      const text = hosted.body.toString();
      const middle = text.indexOf("</form>");
      const { address, finish } = server.putInHalves(hosted, middle);
      await page.goto(address, { waitUntil: "commit" });
      await page.locator(".field").first().waitFor({ state: "attached" });
      const painted = `performance.getEntriesByType("paint").length`;
      // Long enough for some frames, in which nothing may be painted.
      await page.evaluate("new Promise((resolve) => setTimeout(resolve, 200))");
      expect(await page.evaluate<number>(painted)).toBe(0);
      finish();
      await page.evaluate(firstPaint);
      expect(await page.evaluate<number>(layoutShift)).toBe(0);
    });
  });

  test("loads no font for families that the device has, nor for those of the system", async () => {
    const hasVerdana = hasFontFor("DejaVu Sans");
    for (const theme of [
      themeOf("DEFAULT", "DEFAULT"),
      ...(hasVerdana ? [themeOf("VERDANA", "VERDANA")] : []),
    ]) {
      await visit({}, async (page) => {
        const fonts = await holdFonts(page);
        fonts.release();
        await page.goto(server.put(renderStep(newView(steps.message, { theme }))));
        await page.evaluate("document.fonts.ready");
        expect(fonts.asked).toEqual([]);
      });
    }
  });

  test("shows every alphabet, in the fonts of the device where its own have none", async () => {
    // The machine that runs the tests may have no font for some alphabets; phones have.
    const installed = alphabets.filter(([language]) => hasFontFor(`:lang=${language}`));
    const buttons = installed
      .flatMap(([, ...letters]) => letters)
      .map((letter, index) => ({ id: `b${index}`, label: letter, order: index }));
    const payload = { ...steps.multiLink.payload, buttons };
    const hosted = renderStep(newView({ ...steps.multiLink, payload }, { theme: georgia }));
    await visit({}, async (page) => {
      await page.goto(server.put(hosted));
      await page.evaluate("document.fonts.ready");
      const drawn: string[] = [];
      for (const letter of await page.locator("main .button bdi").all())
        drawn.push((await letter.screenshot()).toString("base64"));
      expect(drawn.length).toBe(installed.length * 2);
      for (const [index, [language]] of installed.entries())
        expect(drawn[2 * index], language).not.toBe(drawn[2 * index + 1]);
    });
  });
});

/** Two letters of each alphabet. A machine without a font for it draws the same box for both. */
const alphabets = [
  ["pl", "Ł", "ż"],
  ["ru", "Ж", "я"],
  ["el", "Ω", "ξ"],
  ["ar", "ق", "ع"],
  ["he", "ש", "מ"],
  ["hi", "क", "ह"],
  ["th", "ก", "ธ"],
  ["zh-cn", "欢", "迎"],
  ["ja", "よ", "う"],
  ["ko", "환", "영"],
] as const;

function hasFontFor(name: string): boolean {
  const { stdout } = spawnSync("fc-list", [name], { encoding: "utf8" });
  return stdout !== null && stdout.trim() !== "";
}
