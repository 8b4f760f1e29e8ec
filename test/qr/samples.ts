import sharp from "sharp";
import {
  cornersDotTypes,
  cornersSquareTypes,
  type Design,
  defaultDesign,
  dotsTypes,
  type ImageFormat,
  imageFormats,
  type Shape,
  shapes,
  solid,
} from "../../src/qr/drawing/design.ts";

export const sampleContent = "https://sho.rt/4BnH-R19p?qr";

/** One way to draw a code: one value of every named choice. */
export interface Combination {
  readonly dots: (typeof dotsTypes)[number];
  readonly cornersSquare: (typeof cornersSquareTypes)[number];
  readonly cornersDot: (typeof cornersDotTypes)[number];
  readonly shape: Shape;
  readonly format: ImageFormat;
  /** In pixels. */
  readonly side: number;
  /** The image's share of the code's side; 0 means none. */
  readonly imageSize: number;
}

/** Every value of every choice; the image has its largest size. */
export const choices: { readonly [Name in keyof Combination]: readonly Combination[Name][] } = {
  dots: dotsTypes,
  cornersSquare: cornersSquareTypes,
  cornersDot: cornersDotTypes,
  shape: shapes,
  format: imageFormats,
  side: [200, 1000],
  imageSize: [0, 0.5],
};

/** A picture with dark, light and transparent parts. */
export const samplePicture = await sharp(
  Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="320"><circle cx="160" cy="160" r="160" fill="#1d4ed8"/><path d="M160 60 250 230H70Z" fill="#ffffff"/></svg>',
  ),
)
  .png()
  .toBuffer();

export function designOf({ dots, cornersSquare, cornersDot, shape, side, imageSize }: Combination): Design {
  const paint = solid({ red: 15, green: 23, blue: 42, alpha: 1 });
  return {
    ...defaultDesign,
    shape,
    width: side,
    height: side,
    dots: { type: dots, paint },
    cornersSquare: { type: cornersSquare, hasSharpCorners: false, paint },
    cornersDot: { type: cornersDot, paint },
    centralImage:
      imageSize === 0
        ? undefined
        : { png: samplePicture, size: imageSize, margin: 0, hideBackgroundDots: true },
  };
}

export function nameOf(combination: Combination): string {
  return Object.values(combination).join(" ");
}

/** Every combination of all choices: about ten thousand. */
export function* everyCombination(): Generator<Combination> {
  const { dots, cornersSquare, cornersDot, shape, format, side, imageSize } = choices;
  for (const a of dots)
    for (const b of cornersSquare)
      for (const c of cornersDot)
        for (const d of shape)
          for (const e of format)
            for (const f of side)
              for (const g of imageSize)
                yield {
                  dots: a,
                  cornersSquare: b,
                  cornersDot: c,
                  shape: d,
                  format: e,
                  side: f,
                  imageSize: g,
                };
}

/**
 * Combinations that contain every pair of values of any two choices at least once. The search is greedy, so there may
 * be fewer.
 */
export function everyPair(): Combination[] {
  const names = Object.keys(choices) as (keyof Combination)[];
  const pairsOf = (combination: Combination) =>
    names.flatMap((one, index) =>
      names.slice(index + 1).map((other) => `${one}=${combination[one]} ${other}=${combination[other]}`),
    );
  const all = [...everyCombination()].map((combination) => ({ combination, pairs: pairsOf(combination) }));
  const missing = new Set(all.flatMap(({ pairs }) => pairs));
  const chosen: Combination[] = [];
  while (missing.size > 0) {
    let best = { gain: 0, combination: all[0]?.combination };
    for (const { combination, pairs } of all) {
      const gain = pairs.filter((pair) => missing.has(pair)).length;
      if (gain > best.gain) best = { gain, combination };
    }
    if (best.combination === undefined) throw new Error("there is nothing to choose from");
    chosen.push(best.combination);
    for (const pair of pairsOf(best.combination)) missing.delete(pair);
  }
  return chosen;
}
