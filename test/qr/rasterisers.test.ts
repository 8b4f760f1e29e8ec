import { Resvg } from "@resvg/resvg-js";
import type { BrowserContext } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInDesigns } from "../../src/qr/designs/built-in-designs.ts";
import { storedDesign } from "../../src/qr/designs/stored-design.ts";
import { type Design, defaultDesign } from "../../src/qr/drawing/design.ts";
import { layOutCode } from "../../src/qr/drawing/layout.ts";
import { qrMatrix } from "../../src/qr/drawing/matrix.ts";
import { renderSvg } from "../../src/qr/drawing/render.ts";
import { hasBrowser, openBrowser } from "../support/browser.ts";
import { rasterise, readWithZxing, rsvgConvert } from "../support/qr-readers.ts";
import { hasTool } from "../support/system-tool.ts";
import { sampleContent, samplePicture } from "./samples.ts";

/*
 * Rasterisers smooth edges and mix gradients a little differently. The test tolerates 1.5 of 255 per channel on
 * average, and five pixels in ten thousand that differ by more than 64 in a channel; only edges do.
 */
const meanMax = 1.5;
const farOff = 64;
const farOffPartMax = 0.0005;

const side = 500;
const named: Readonly<Record<string, Design>> = {
  ...Object.fromEntries(
    builtInDesigns.map(({ slug, options }) => [slug, sized(storedDesign(options).design)]),
  ),
  "with a picture": {
    ...sized(defaultDesign),
    dots: { ...defaultDesign.dots, type: "EXTRA_ROUNDED" },
    centralImage: { png: samplePicture, size: 0.2, margin: 4, hideBackgroundDots: true },
  },
  // The forms whose shapes overlap, or whose edges are the most.
  "with bubbles": { ...sized(defaultDesign), dots: { ...defaultDesign.dots, type: "BUBBLY_DOTS" } },
  "with classy dots": { ...sized(defaultDesign), dots: { ...defaultDesign.dots, type: "CLASSY_ROUNDED" } },
};

function sized(design: Design): Design {
  return { ...design, width: side, height: side };
}

describe.skipIf(!hasBrowser || !hasTool(rsvgConvert))("an SVG", () => {
  let browser: BrowserContext;
  beforeAll(async () => {
    browser = await openBrowser({ viewport: { width: 800, height: 800 } });
  });
  afterAll(() => browser.close());

  async function inChromium(svg: string, factor = 1): Promise<Uint8Array> {
    const page = await browser.newPage();
    try {
      const source = `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
      const style = `display: block; width: ${side * factor}px`;
      await page.setContent(`<body style="margin: 0"><img style="${style}" src="${source}">`);
      const image = page.locator("img");
      await image.evaluate((element) => (element as unknown as { decode(): Promise<void> }).decode());
      return await image.screenshot();
    } finally {
      await page.close();
    }
  }

  test.each(Object.entries(named))(
    "of the design %s looks the same in Chromium, librsvg and resvg, and is read in each",
    async (_, design) => {
      const svg = await renderSvg(sampleContent, design);
      const painted = {
        chromium: await pixels(await inChromium(svg)),
        librsvg: await pixels(await rasterise(Buffer.from(svg))),
        resvg: await pixels(new Resvg(svg).render().asPng()),
      };
      for (const image of Object.values(painted))
        expect(await readWithZxing(await asPng(image))).toEqual([sampleContent]);
      for (const other of [painted.librsvg, painted.resvg]) {
        const { mean, farOffPart } = difference(painted.chromium, other);
        expect(mean).toBeLessThan(meanMax);
        expect(farOffPart).toBeLessThan(farOffPartMax);
      }
    },
  );

  test.each(["SQUARE", "ROUNDED", "EXTRA_ROUNDED", "CLASSY", "CLASSY_ROUNDED"] as const)(
    "joins neighbouring modules of the form %s without seams at odd sizes",
    async (type) => {
      const design = { ...sized(defaultDesign), dots: { ...defaultDesign.dots, type } };
      const svg = await renderSvg(sampleContent, design);
      const matrix = qrMatrix(sampleContent, design.errorCorrection);
      const layout = layOutCode(matrix.size, design);
      for (const factor of [1.37, 0.83]) {
        const zoomed = { fitTo: { mode: "zoom", value: factor } } as const;
        for (const image of [new Resvg(svg, zoomed).render().asPng(), await inChromium(svg, factor)]) {
          const { data, width } = await pixels(image);
          const scale = width / side;
          const seams = sidesBetweenDark(matrix.size, matrix.modules).filter(([x, y]) => {
            const column = Math.floor((layout.left + x * layout.scale) * scale);
            const row = Math.floor((layout.top + y * layout.scale) * scale);
            return (data[(row * width + column) * 3] ?? 255) > 12;
          });
          expect(seams).toEqual([]);
        }
      }
    },
  );
});

interface Pixels {
  readonly data: Buffer;
  readonly width: number;
}

async function pixels(image: Uint8Array): Promise<Pixels> {
  const { data, info } = await sharp(image)
    .flatten({ background: "#ffffff" })
    .toColorspace("srgb")
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width };
}

function asPng({ data, width }: Pixels): Promise<Buffer> {
  const raw = { width, height: data.length / 3 / width, channels: 3 } as const;
  return sharp(data, { raw }).png({ compressionLevel: 1 }).toBuffer();
}

/** The mean distance of all channels, and the part of the pixels with a channel that is far off. */
function difference(one: Pixels, other: Pixels): { readonly mean: number; readonly farOffPart: number } {
  expect([other.width, other.data.length]).toEqual([one.width, one.data.length]);
  let [sum, far] = [0, 0];
  for (let pixel = 0; pixel < one.data.length; pixel += 3) {
    let furthest = 0;
    for (let index = pixel; index < pixel + 3; index++) {
      const distance = Math.abs((one.data[index] ?? 0) - (other.data[index] ?? 0));
      sum += distance;
      furthest = Math.max(furthest, distance);
    }
    if (furthest > farOff) far++;
  }
  return { mean: sum / one.data.length, farOffPart: far / (one.data.length / 3) };
}

/** The middle of each side that two adjacent dark modules share, in modules. */
function sidesBetweenDark(size: number, modules: Uint8Array): [x: number, y: number][] {
  const found: [x: number, y: number][] = [];
  for (let row = 0; row < size; row++) {
    for (let column = 1; column < size; column++) {
      if (modules[row * size + column] === 1 && modules[row * size + column - 1] === 1)
        found.push([column, row + 0.5]);
      if (modules[column * size + row] === 1 && modules[(column - 1) * size + row] === 1)
        found.push([row + 0.5, column]);
    }
  }
  return found;
}
