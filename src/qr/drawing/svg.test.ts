import { createRequire } from "node:module";
import sharp from "sharp";
import { expect, test } from "vitest";
import { randomDesigns } from "../../../test/qr/random-designs.ts";
import { samplePicture } from "../../../test/qr/samples.ts";
import { readWithZxing } from "../../../test/support/qr-readers.ts";
import { defaultDesign, imageFormats, solid } from "./design.ts";
import { modulesAcross } from "./layout.ts";
import { alignmentCenters, isFinder, qrMatrix } from "./matrix.ts";
import { contentTypes, renderImage, renderSvg } from "./render.ts";

const content = "https://sho.rt/4BnH-R19p?qr";

// The package brings no types.
const { JSDOM } = createRequire(import.meta.url)("jsdom");

test("uses nothing but plain shapes, gradients of its own and data, in whatever design", async () => {
  const designs = randomDesigns(7);
  for (let index = 0; index < 60; index++) {
    const { content: text, design } = designs.next().value;
    const { window } = new JSDOM(await renderSvg(text, design), { contentType: "image/svg+xml" });
    for (const element of window.document.querySelectorAll("*")) {
      expect(["svg", "rect", "path", "image", "linearGradient", "radialGradient", "stop"]).toContain(
        element.tagName,
      );
      for (const name of ["style", "class", "clip-path", "mask", "filter", "transform"])
        expect(element.getAttribute(name)).toBeNull();
      expect(element.getAttribute("xlink:href") ?? "data:image/png;base64,").toMatch(
        /^data:image\/png;base64,/,
      );
      const [, id] = /^url\(#(.+)\)$/.exec(element.getAttribute("fill") ?? "") ?? [];
      expect(id === undefined || window.document.getElementById(id) !== null).toBe(true);
      for (const [, shape] of Object.entries({ d: element.getAttribute("d") ?? "M0 0Z" }))
        expect(shape).toMatch(/^[MLAZ0-9 .-]+$/);
    }
    expect(window.document.querySelectorAll("path").length).toBeLessThanOrEqual(3);
    window.close();
  }
});

test("gives different gradients different ids, because pages that take in several codes share them", async () => {
  const ids = async (blue: number) => {
    const stops = [
      { offset: 0, color: { red: 0, green: 0, blue, alpha: 1 } },
      { offset: 1, color: { red: 0, green: 0, blue: 0, alpha: 1 } },
    ];
    const dots = { type: "DOTS" as const, paint: { type: "RADIAL" as const, stops } };
    return [...(await renderSvg(content, { ...defaultDesign, dots })).matchAll(/ id="([^"]+)"/g)].map(
      ([, id]) => id,
    );
  };
  expect(await ids(50)).toHaveLength(1);
  expect(await ids(50)).toEqual(await ids(50));
  expect(await ids(50)).not.toEqual(await ids(60));
});

test("keeps four modules around a round code's own square free, within its picture", async () => {
  const side = 700;
  const { data } = await sharp(
    await renderImage(content, { ...defaultDesign, shape: "CIRCLE", width: side, height: side }, "PNG"),
  )
    .greyscale()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { size } = qrMatrix(content, "Q");
  const scale = Math.floor(side / modulesAcross(size, "CIRCLE"));
  const start = Math.floor((side - size * scale) / 2);
  const [near, far] = [start - 4 * scale, start + (size + 4) * scale];
  let [inRing, outside] = [0, 0];
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      if ((data[y * side + x] ?? 255) > 128) continue;
      const isCode = x >= start && y >= start && x < start + size * scale && y < start + size * scale;
      const isNear = x >= near && y >= near && x < far && y < far;
      if (!isNear) outside++;
      else if (!isCode) inRing++;
    }
  }
  expect(inRing).toBe(0);
  expect(outside).toBeGreaterThan(1000);
});

test("paints what is transparent white in JPEG, and leaves it transparent elsewhere", async () => {
  const clear = solid({ red: 0, green: 0, blue: 0, alpha: 0 });
  for (const type of ["SQUARE", "DOTS"] as const) {
    const design = { ...defaultDesign, dots: { ...defaultDesign.dots, type }, background: clear };
    for (const format of ["PNG", "WEBP", "JPEG"] as const) {
      const { data } = await sharp(await renderImage(content, design, format))
        .ensureAlpha()
        .raw()
        .toBuffer({ resolveWithObject: true });
      if (format === "JPEG") expect([...data.subarray(0, 4)]).toEqual([255, 255, 255, 255]);
      else expect(data[3]).toBe(0);
    }
  }
});

test("draws every format at the width and height asked for, with or without a picture", async () => {
  const centralImage = { png: samplePicture, size: 0.3, margin: 0, hideBackgroundDots: true };
  for (const design of [defaultDesign, { ...defaultDesign, centralImage }]) {
    for (const format of imageFormats) {
      const image = await renderImage(content, { ...design, width: 700, height: 420 }, format);
      const { width, height, format: found } = await sharp(image).metadata();
      expect([width, height, `image/${found}`.replace("svg", "svg+xml")]).toEqual([
        700,
        420,
        contentTypes[format],
      ]);
    }
  }
});

test("draws codes too large for their image smaller than pixels, and readable when they are printed larger", async () => {
  const long = `https://example.com/${"a1B2c3".repeat(30)}`;
  const svg = await renderSvg(long, { ...defaultDesign, width: 64, height: 64 });
  const enlarged = await sharp(Buffer.from(svg), { density: 72 * 12 })
    .png()
    .toBuffer();
  expect(await readWithZxing(enlarged)).toEqual([long]);
});

test("knows where the patterns are that readers look for", () => {
  for (const text of [content, "x".repeat(300), "x".repeat(1600)]) {
    const { size, modules } = qrMatrix(text, "Q");
    const at = (row: number, column: number) => modules[row * size + column];
    for (const { row, column } of alignmentCenters(size)) {
      const ring = [at(row - 2, column), at(row, column + 2), at(row + 2, column - 2), at(row, column)];
      const gap = [at(row - 1, column), at(row, column + 1), at(row + 1, column - 1)];
      expect([...ring, ...gap]).toEqual([1, 1, 1, 1, 0, 0, 0]);
    }
    expect([isFinder(size, 6, 6), isFinder(size, 7, 6), isFinder(size, size - 7, size - 1)]).toEqual([
      true,
      false,
      false,
    ]);
  }
});
