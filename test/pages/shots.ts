import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { renderStep } from "../../src/hosted/steps/render-step.ts";
import type { BuiltInTheme } from "../../src/model/look/built-in-themes.ts";
import { pageTheme } from "../../src/model/look/page-theme.ts";
import type { HostedPage } from "../../src/pages/page.ts";
import { daybreak, drawn, showCover } from "./covers.ts";
import type { PageServer } from "./serve-pages.ts";
import { newView, steps } from "./specimens.ts";

/** A photograph of a page on a phone, so small that it shows the layout and the colors, and hardly a letter. */
export interface Shot {
  readonly pixels: Buffer;
  readonly width: number;
  readonly height: number;
}

/** How many pixels of a page one pixel of a shot has on each side. */
const scale = 6;

/** Pages that together have every part of the style. */
export const shownKinds = ["multiLink", "contactCard", "form"] as const;

export type ShownLook = Pick<BuiltInTheme, "styling" | "hasCover">;

/** Takes the shots of a theme's pages, side by side. */
export async function takeShots(page: Page, server: PageServer, look: ShownLook): Promise<Shot> {
  await showCover(page);
  const shots: Buffer[] = [];
  for (const kind of shownKinds) {
    const { styling, hasCover } = look;
    const media = hasCover === true ? daybreak : {};
    const hosted = renderStep(newView(steps[kind], { theme: pageTheme(inOwnFonts(styling)), media }));
    await page.goto(server.put(forShots(hosted), { withoutPolicy: true }), { waitUntil: "load" });
    await page.evaluate(drawn);
    shots.push(await page.screenshot());
  }
  const { width = 0, height = 0 } = page.viewportSize() ?? {};
  const size = { width: Math.round(width / scale), height: Math.round(height / scale) };
  const small = await Promise.all(shots.map((shot) => sharp(shot).resize(size).png().toBuffer()));
  const sheet = {
    width: size.width * shots.length,
    height: size.height,
    channels: 3,
    background: "#fff",
  } as const;
  const joined = await sharp({ create: sheet })
    .composite(small.map((input, index) => ({ input, left: index * size.width, top: 0 })))
    .png()
    .toBuffer();
  return readShot(joined);
}

/** The styling with a font that comes with the service in place of the font of the machine. */
function inOwnFonts(styling: ShownLook["styling"]): object {
  return JSON.parse(JSON.stringify(styling).replaceAll("_FAMILY_DEFAULT", "_FAMILY_ARIAL")) as object;
}

/**
 * The page with fonts from the service alone: no face is taken from the machine where it has one. Its images are painted with
 * everything else, where visitors' browsers may paint them later.
 */
function forShots(page: HostedPage): HostedPage {
  const text = page.body
    .toString()
    .replace(/local\("[^"]*"\),(?=local|url)/g, "")
    .replaceAll('decoding="async"', 'decoding="sync"');
  return { ...page, body: Buffer.from(text) };
}

/** How far two shots differ. */
export interface Difference {
  /** Of all channels of all pixels, 0 to 255. */
  readonly mean: number;
  /** The share of pixels of which a channel differs by more than 32. */
  readonly far: number;
}

export function differenceOf(one: Shot, other: Shot): Difference {
  if (one.width !== other.width || one.height !== other.height) return { mean: 255, far: 1 };
  let [sum, far] = [0, 0];
  for (let at = 0; at < one.pixels.length; at += 3) {
    const gaps = [0, 1, 2].map((channel) =>
      Math.abs((one.pixels[at + channel] ?? 0) - (other.pixels[at + channel] ?? 0)),
    );
    sum += gaps.reduce((total, gap) => total + gap);
    if (Math.max(...gaps) > 32) far += 1;
  }
  return { mean: sum / one.pixels.length, far: (far * 3) / one.pixels.length };
}

export async function readShot(png: Buffer): Promise<Shot> {
  const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { pixels: data, width: info.width, height: info.height };
}

/** Where the reference of a theme is kept. */
export function referenceOf(slug: string): URL {
  return new URL(`./references/${slug}.png`, import.meta.url);
}

export async function readReference(slug: string): Promise<Shot> {
  return readShot(await readFile(referenceOf(slug)));
}

export function pngOf({ pixels, width, height }: Shot): Promise<Buffer> {
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .png({ compressionLevel: 9 })
    .toBuffer();
}
