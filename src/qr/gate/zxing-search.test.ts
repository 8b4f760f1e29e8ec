import { expect, test } from "vitest";
import { type Design, defaultDesign } from "../drawing/design.ts";
import { qrMatrix } from "../drawing/matrix.ts";
import { svgOf } from "../drawing/svg.ts";
import { paint } from "./conditions.ts";
import { greyOf } from "./grey.ts";
import { areFindersMet } from "./zxing-search.ts";

async function isMet(content: string, design: Design): Promise<boolean> {
  const matrix = qrMatrix(content, design.errorCorrection);
  return areFindersMet(greyOf(await paint(svgOf(matrix, design))), matrix, design);
}

test("the finder patterns of a plain code are met at every size", async () => {
  for (const side of [150, 301, 512, 900])
    expect(await isMet("https://sho.rt/4BnH-R19p?qr", { ...defaultDesign, width: side, height: side })).toBe(
      true,
    );
});

test("a place among round dots that passes for a finder pattern ends the search before the last one", async () => {
  const { dots, cornersSquare } = defaultDesign;
  // ZXing for Java was seen to miss this code.
  const design: Design = {
    ...defaultDesign,
    ...{ width: 216, height: 216, errorCorrection: "H" },
    cornersSquare: { ...cornersSquare, type: "LEAF", hasSharpCorners: true },
    dots: { ...dots, type: "ROUNDED" },
  };
  expect(await isMet("https://go.example.com/bQQ-Cb?qr", design)).toBe(false);
  expect(await isMet("https://go.example.com/bQQ-Ca?qr", design)).toBe(true);
});
