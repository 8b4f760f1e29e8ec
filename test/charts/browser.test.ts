import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chartTypes } from "../../src/charts/chart.ts";
import { drawChart } from "../../src/charts/draw.ts";
import { textWidth } from "../../src/charts/text-widths.ts";
import { hasBrowser, openBrowser } from "../support/browser.ts";
import { chartOf, look, rowsByKind } from "../support/charts.ts";

/** A text of a picture, in pixels from its upper left corner. */
interface ShownText {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

let browser: BrowserContext;
let page: Page;

beforeAll(async () => {
  if (!hasBrowser) return;
  browser = await openBrowser({ offline: true });
  page = await browser.newPage();
  const faces = [face("400Regular/Inter_400Regular", 400), face("600SemiBold/Inter_600SemiBold", 600)];
  await page.setContent(`<style>${faces.join("")}</style><b style="font:600 9px Inter">a</b><i id="at"></i>`);
  await page.evaluate(
    `Promise.all([document.fonts.load("400 9px Inter"), document.fonts.load("600 9px Inter")])`,
  );
});

afterAll(() => browser?.close());

function face(file: string, weight: number): string {
  const path = fileURLToPath(import.meta.resolve(`@expo-google-fonts/inter/${file}.ttf`));
  const data = readFileSync(path).toString("base64");
  return `@font-face{font-family:Inter;font-weight:${weight};src:url(data:font/ttf;base64,${data})}`;
}

/** Shows pictures and reads where their texts are. The function runs in the browser, whose names this compiler lacks. */
function textsOf(pictures: readonly string[]): Promise<ShownText[][]> {
  const read = `svgs => svgs.map(svg => {
    const place = document.querySelector("#at");
    place.innerHTML = svg;
    return [...place.querySelectorAll("text")].map(text => {
      const { x, y, width, height } = text.getBBox();
      // Letters take the middle of the line, and its edges stay empty.
      const edge = height / 5;
      return { text: text.textContent, left: x, right: x + width, top: y + edge, bottom: y + height - edge };
    });
  })`;
  return page.evaluate(`(${read})(${JSON.stringify(pictures)})`);
}

/** How wide the browser writes texts in a font. */
function widthsOf(texts: readonly string[], font: string): Promise<number[]> {
  const measure = `(texts, font) => {
    const context = document.createElement("canvas").getContext("2d");
    context.font = font;
    return texts.map(text => context.measureText(text).width);
  }`;
  return page.evaluate(`(${measure})(${JSON.stringify(texts)}, ${JSON.stringify(font)})`);
}

function overlap(one: ShownText, other: ShownText): boolean {
  const isBeside = one.right <= other.left || other.right <= one.left;
  return !isBeside && one.top < other.bottom && other.top < one.bottom;
}

const sizes = [
  [640, 360],
  [320, 180],
  [320, 1000],
  [1200, 300],
] as const;

describe.skipIf(!hasBrowser)("in a browser", () => {
  test.each(chartTypes)("no text of a %s covers another one or leaves the picture", async (type) => {
    const all = Object.entries(rowsByKind).flatMap(([kind, rows]) =>
      sizes.map(([width, height]) => ({
        kind,
        width,
        height,
        svg: drawChart(chartOf(type, rows), { ...look, width, height }),
      })),
    );
    const shown = await textsOf(all.map(({ svg }) => svg));
    const faults = all.flatMap(({ kind, width, height }, index) => {
      const texts = shown[index] ?? [];
      const outside = texts.filter(
        ({ left, right, top, bottom }) => left < 0 || right > width || top < 0 || bottom > height,
      );
      const covered = texts.flatMap((one, place) =>
        texts
          .slice(place + 1)
          .filter((other) => overlap(one, other))
          .map((other) => [one, other]),
      );
      const name = `${kind} ${width}x${height}`;
      return [
        ...outside.map(({ text }) => `${name}: ${text} leaves`),
        ...covered.map((pair) => `${name}: ${pair.map(({ text }) => text).join(" | ")}`),
      ];
    });
    expect(shown.flat().length).toBeGreaterThan(100);
    expect(faults).toEqual([]);
  });

  test("texts are at most as wide as they are taken for", async () => {
    const samples = [
      "The quick brown fox jumps over the lazy dog, 0123456789 — (WAVE) @%&…",
      "Ærøskøbing Łódź Příbram İstanbul Ğ",
      "Щуклинская Жмеринка",
      "Ωραία Ελλάδα",
      "漢字かな",
      "مرحبا بالعالم",
      "👩‍👩‍👧‍👦🇩🇪",
      "W".repeat(40),
    ];
    for (const [weight, isBold] of [
      ["400", false],
      ["600", true],
    ] as const) {
      const real = await widthsOf(samples, `${weight} 100px Inter`);
      for (const [index, text] of samples.entries())
        expect(real[index]).toBeLessThanOrEqual(textWidth(text, 100, isBold) * 1.03);
    }
  });
});
