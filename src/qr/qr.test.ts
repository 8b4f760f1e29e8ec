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
import { defaultDesign } from "./design.ts";
import { layOut, quietZone } from "./layout.ts";
import { qrMatrix } from "./matrix.ts";
import { imageKey, renderQr } from "./render.ts";

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

function drawn(format: "png" | "svg") {
  return entrypoints.map((content, index) => {
    const [width, height] = sides[index % sides.length] ?? sides[0];
    return renderQr(content, { ...defaultDesign, width, height }, format).bytes;
  });
}

test("draws 200 entrypoints as PNGs that ZXing reads back exactly", async () => {
  expect(entrypoints).toHaveLength(200);
  const texts = await Promise.all(drawn("png").map(readWithZxing));
  expect(texts).toEqual(entrypoints.map((content) => [content]));
});

test.skipIf(!hasTool(zbarimg))("draws 200 entrypoints as PNGs that ZBar reads back exactly", async () => {
  expect(await readWithZbar(drawn("png"))).toEqual(entrypoints);
});

describe.skipIf(!hasTool(rsvgConvert))("an SVG painted by librsvg", () => {
  const svgs = drawn("svg").slice(0, 40);

  test("is read back exactly by ZXing", async () => {
    const texts = await Promise.all(svgs.map(async (svg) => readWithZxing(await rasterise(svg))));
    expect(texts).toEqual(entrypoints.slice(0, 40).map((content) => [content]));
  });

  test.skipIf(!hasTool(zbarimg))("is read back exactly by ZBar", async () => {
    expect(await readWithZbar(await Promise.all(svgs.map(rasterise)))).toEqual(entrypoints.slice(0, 40));
  });
});

test("covers exactly the dark modules in an SVG, each once", () => {
  const matrix = qrMatrix("https://example.com/4BnH-R19p?qr", "Q");
  const { scale, left, top } = layOut(matrix, 500, 300);
  const design = { ...defaultDesign, width: 500, height: 300 };
  const svg = Buffer.from(renderQr("https://example.com/4BnH-R19p?qr", design, "svg").bytes).toString();
  const covered = new Uint8Array(matrix.modules.length);
  for (const [, ...numbers] of svg.matchAll(/M(\d+) (\d+)h(\d+)v(\d+)h-(\d+)z/g)) {
    const [x = 0, y = 0, across = 0, down = 0, back] = numbers.map(Number);
    expect(back).toBe(across);
    for (let row = (y - top) / scale; row < (y + down - top) / scale; row++) {
      for (let column = (x - left) / scale; column < (x + across - left) / scale; column++) {
        const index = row * matrix.size + column;
        covered[index] = (covered[index] ?? 0) + 1;
      }
    }
  }
  expect(covered).toEqual(matrix.modules);
});

test("writes SVGs with plain attributes only", () => {
  const svg = Buffer.from(renderQr("https://example.com/a?qr", defaultDesign, "svg").bytes).toString();
  expect(svg).toMatch(
    /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="512" height="512" viewBox="0 0 512 512"><rect width="512" height="512" fill="#ffffff"\/><path fill="#000000" d="[Mhvz0-9 -]+"\/><\/svg>$/,
  );
});

test("keeps a quiet zone of four modules inside every size that fits", () => {
  const matrix = qrMatrix("https://example.com/4BnH-R19p?qr", "Q");
  const side = fc.integer({ min: 64, max: 4096 });
  fc.assert(
    fc.property(side, side, (width, height) => {
      const { scale, left, top } = layOut(matrix, width, height);
      const free = quietZone * scale;
      expect(scale).toBeGreaterThanOrEqual(1);
      expect(Math.min(left, width - left - matrix.size * scale)).toBeGreaterThanOrEqual(free);
      expect(Math.min(top, height - top - matrix.size * scale)).toBeGreaterThanOrEqual(free);
    }),
    { seed: 1 },
  );
});

test("refuses sides outside 64 to 4,096 pixels, and parts of pixels", () => {
  const matrix = qrMatrix("x", "Q");
  for (const side of [63, 4097, 100.5, Number.NaN])
    expect(() => layOut(matrix, side, 512)).toThrow(RangeError);
  expect(layOut(matrix, 64, 64)).toEqual({ scale: 2, left: 11, top: 11 });
  expect(layOut(matrix, 4096, 4096).scale).toBe(141);
});

test("refuses content that no code holds, and codes larger than their image", () => {
  expect(() => qrMatrix("", "Q")).toThrow(RangeError);
  expect(() => qrMatrix("x".repeat(1664), "Q")).toThrow(RangeError);
  expect(qrMatrix("x".repeat(1663), "Q").size).toBe(177);
  expect(() => layOut(qrMatrix("x".repeat(200), "Q"), 64, 64)).toThrow("at least 73 pixels");
});

test("names images by all that decides their bytes", () => {
  const key = imageKey("https://example.com/a?qr", defaultDesign, "png");
  expect(key).toMatch(/^qr\/[0-9a-f]{64}\.png$/);
  expect(imageKey("https://example.com/a?qr", { ...defaultDesign }, "png")).toBe(key);
  const others = [
    imageKey("https://example.com/b?qr", defaultDesign, "png"),
    imageKey("https://example.com/a?qr", defaultDesign, "svg"),
    imageKey("https://example.com/a?qr", { ...defaultDesign, width: 513 }, "png"),
    imageKey("https://example.com/a?qr", { ...defaultDesign, height: 513 }, "png"),
    imageKey("https://example.com/a?qr", { ...defaultDesign, errorCorrection: "H" }, "png"),
    imageKey("https://example.com/a?qr", { ...defaultDesign, dark: [0, 0, 1] }, "png"),
    imageKey("https://example.com/a?qr", { ...defaultDesign, light: [0, 0, 1] }, "png"),
  ];
  expect(new Set([key, ...others]).size).toBe(others.length + 1);
});
