import type { Color } from "../../src/lib/color.ts";
import {
  type CentralImage,
  cornersDotTypes,
  cornersSquareTypes,
  type Design,
  dotsTypes,
  type Fill,
  type ImageFormat,
  imageFormats,
  shapes,
} from "../../src/qr/drawing/design.ts";
import { errorCorrections } from "../../src/qr/drawing/matrix.ts";
import { samplePicture } from "./samples.ts";

export interface RandomDesign {
  readonly content: string;
  readonly design: Design;
  readonly format: ImageFormat;
}

/** Random designs without any care: any form, color, size and picture. The same seed gives the same designs. */
export function* randomDesigns(seed: number): Generator<RandomDesign, never> {
  const random = randomNumbers(seed);
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
  const pick = <Item>(items: readonly [Item, ...Item[]]): Item =>
    items[between(0, items.length - 1)] ?? items[0];
  const color = (least: number, most: number): Color => {
    const part = () => between(least, most);
    return { red: part(), green: part(), blue: part(), alpha: random() < 0.9 ? 1 : between(3, 10) / 10 };
  };
  const paint = (least: number, most: number): Fill => {
    if (random() < 0.5) return { type: "SOLID", color: color(least, most) };
    const colors = Array.from({ length: between(2, 4) }, () => color(least, most));
    const stops = colors.map((one, index) => ({ offset: index / (colors.length - 1), color: one }));
    return random() < 0.5 ? { type: "LINEAR", angle: between(0, 359), stops } : { type: "RADIAL", stops };
  };
  // Most people choose dark dots on a light background; some do not.
  const front = () => (random() < 0.8 ? paint(0, 140) : paint(0, 255));
  const picture = (): CentralImage | undefined =>
    random() < 0.6
      ? undefined
      : {
          png: samplePicture,
          size: between(10, 50) / 100,
          margin: pick([0, 0, 4, 15]),
          hideBackgroundDots: random() < 0.8,
        };
  for (;;) {
    const path = Array.from({ length: between(4, 80) }, () => pick(["a", "b", "C", "D", "7", "-", "x", "Q"]));
    const width = between(100, 1200);
    const design: Design = {
      shape: pick(shapes),
      width,
      height: random() < 0.8 ? width : between(100, 1200),
      errorCorrection: pick(errorCorrections),
      dots: { type: pick(dotsTypes), paint: front() },
      cornersSquare: { type: pick(cornersSquareTypes), hasSharpCorners: random() < 0.5, paint: front() },
      cornersDot: { type: pick(cornersDotTypes), paint: front() },
      background: random() < 0.8 ? paint(180, 255) : paint(0, 255),
      centralImage: picture(),
    };
    yield { content: `https://go.example.com/${path.join("")}?qr`, design, format: pick(imageFormats) };
  }
}

/** mulberry32, in the public domain: numbers from 0 up to 1. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
