import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  rasterise,
  readWithZbar,
  readWithZxing,
  rsvgConvert,
  zbarimg,
} from "../../test/support/qr-readers.ts";
import { hasTool } from "../../test/support/system-tool.ts";
import { type Design, defaultDesign, solid } from "./drawing/design.ts";
import { layOutCode, quietZone } from "./drawing/layout.ts";
import { qrMatrix } from "./drawing/matrix.ts";
import { imageKey, renderImage, renderSvg } from "./drawing/render.ts";

const character = fc.constantFrom(..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
const code = fc.string({ unit: character, minLength: 1, maxLength: 64 });
const host = fc
  .array(fc.string({ unit: character, minLength: 1, maxLength: 20 }), { minLength: 2, maxLength: 5 })
  .map((labels) => labels.join(".").toLowerCase());
const entrypoint = fc
  .tuple(fc.constantFrom("http", "https"), host, code)
  .map(([scheme, domain, path]) => `${scheme}://${domain}/${path}?qr`);

const entrypoints = [...new Set(fc.sample(entrypoint, { numRuns: 210, seed: 20_260_801 }))].slice(0, 200);
const sides = [
  [256, 256],
  [512, 512],
  [777, 500],
  [1000, 1000],
] as const;

function drawn(format: "PNG" | "SVG"): Promise<Buffer[]> {
  return Promise.all(
    entrypoints.map((content, index) => {
      const [width, height] = sides[index % sides.length] ?? sides[0];
      return renderImage(content, { ...defaultDesign, width, height }, format);
    }),
  );
}

test("draws 200 entrypoints as PNGs that ZXing reads back exactly", async () => {
  expect(entrypoints).toHaveLength(200);
  const texts = await Promise.all((await drawn("PNG")).map(readWithZxing));
  expect(texts).toEqual(entrypoints.map((content) => [content]));
});

test.skipIf(!hasTool(zbarimg))("draws 200 entrypoints as PNGs that ZBar reads back exactly", async () => {
  expect(await readWithZbar(await drawn("PNG"))).toEqual(entrypoints);
});

describe.skipIf(!hasTool(rsvgConvert))("an SVG painted by librsvg", async () => {
  const svgs = (await drawn("SVG")).slice(0, 40);

  test("is read back exactly by ZXing", async () => {
    const texts = await Promise.all(svgs.map(async (svg) => readWithZxing(await rasterise(svg))));
    expect(texts).toEqual(entrypoints.slice(0, 40).map((content) => [content]));
  });

  test.skipIf(!hasTool(zbarimg))("is read back exactly by ZBar", async () => {
    expect(await readWithZbar(await Promise.all(svgs.map(rasterise)))).toEqual(entrypoints.slice(0, 40));
  });
});

test("writes plain SVGs with plain attributes only", async () => {
  expect(await renderSvg("https://example.com/a?qr", defaultDesign)).toMatch(
    /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="512" height="512" viewBox="0 0 512 512"><rect width="512" height="512" fill="#ffffff"\/><path fill="#000000" d="[MLZ0-9 ]+"\/><path fill="#000000" fill-rule="evenodd" d="[MLZ0-9 ]+"\/><path fill="#000000" d="[MLZ0-9 ]+"\/><\/svg>$/,
  );
});

test("keeps a quiet zone of four modules inside every size that fits", () => {
  const matrix = qrMatrix("https://example.com/4BnH-R19p?qr", "Q");
  const side = fc.integer({ min: 64, max: 4096 });
  fc.assert(
    fc.property(side, side, (width, height) => {
      const { scale, left, top } = layOutCode(matrix.size, { width, height, shape: "SQUARE" });
      const free = quietZone * scale;
      expect(scale).toBeGreaterThanOrEqual(1);
      expect(Math.min(left, width - left - matrix.size * scale)).toBeGreaterThanOrEqual(free);
      expect(Math.min(top, height - top - matrix.size * scale)).toBeGreaterThanOrEqual(free);
    }),
    { seed: 1 },
  );
});

test("refuses sides outside 64 to 4,096 pixels, and parts of pixels", () => {
  const square = (width: number, height: number) => layOutCode(21, { width, height, shape: "SQUARE" });
  for (const side of [63, 4097, 100.5, Number.NaN]) expect(() => square(side, 512)).toThrow(RangeError);
  expect(square(64, 64)).toEqual({ scale: 2, left: 11, top: 11 });
  expect(square(4096, 4096).scale).toBe(141);
});

test("refuses content that no code holds", () => {
  expect(() => qrMatrix("", "Q")).toThrow(RangeError);
  expect(() => qrMatrix("x".repeat(1664), "Q")).toThrow(RangeError);
  expect(qrMatrix("x".repeat(1663), "Q").size).toBe(177);
});

test("names images by all that decides their bytes", () => {
  const [url, color] = ["https://example.com/a?qr", { red: 0, green: 0, blue: 1, alpha: 1 }];
  const paint = solid(color);
  const stops = [
    { offset: 0, color },
    { offset: 1, color },
  ];
  const key = imageKey(url, defaultDesign, "PNG");
  expect(key).toMatch(/^qr\/[0-9a-f]{64}\.png$/);
  expect(imageKey(url, structuredClone(defaultDesign), "PNG")).toBe(key);
  const centralImage = { png: Uint8Array.of(1), size: 0.4, margin: 0, hideBackgroundDots: true };
  const changes: Partial<Design>[] = [
    { width: 513 },
    { height: 513 },
    { shape: "CIRCLE" },
    { errorCorrection: "H" },
    { dots: { type: "DOTS", paint: defaultDesign.dots.paint } },
    { dots: { type: "SQUARE", paint } },
    { dots: { type: "SQUARE", paint: solid({ ...color, alpha: 0.5 }) } },
    { dots: { type: "SQUARE", paint: { type: "RADIAL", stops } } },
    { dots: { type: "SQUARE", paint: { type: "LINEAR", angle: 0, stops } } },
    { dots: { type: "SQUARE", paint: { type: "LINEAR", angle: 1, stops } } },
    { cornersSquare: { ...defaultDesign.cornersSquare, type: "DOT" } },
    { cornersSquare: { ...defaultDesign.cornersSquare, hasSharpCorners: true } },
    { cornersSquare: { ...defaultDesign.cornersSquare, paint } },
    { cornersDot: { type: "DOT", paint: defaultDesign.dots.paint } },
    { cornersDot: { type: "SQUARE", paint } },
    { background: paint },
    { centralImage },
    { centralImage: { ...centralImage, png: Uint8Array.of(2) } },
    { centralImage: { ...centralImage, size: 0.3 } },
    { centralImage: { ...centralImage, margin: 1 } },
    { centralImage: { ...centralImage, hideBackgroundDots: false } },
  ];
  const keys = [
    key,
    imageKey("https://example.com/b?qr", defaultDesign, "PNG"),
    ...(["SVG", "JPEG", "WEBP"] as const).map((format) => imageKey(url, defaultDesign, format)),
    ...changes.map((change) => imageKey(url, { ...defaultDesign, ...change }, "PNG")),
  ];
  expect(new Set(keys).size).toBe(changes.length + 5);
});
