import { expect, test } from "vitest";
import { type Design, defaultDesign, solid } from "../drawing/design.ts";
import { type Matrix, qrMatrix } from "../drawing/matrix.ts";
import { svgOf } from "../drawing/svg.ts";
import { paint } from "./conditions.ts";
import { finderClearance } from "./finder-search.ts";
import { greyOf } from "./grey.ts";

const matrix = qrMatrix("https://sho.rt/4BnH-R19p?qr", "Q");

async function clearanceOf(code: Matrix, design: Design): Promise<number> {
  return finderClearance(greyOf(await paint(svgOf(code, design))), code, design);
}

test("the finder patterns of a plain code stand out at every size", async () => {
  for (const side of [150, 512, 900])
    expect(await clearanceOf(matrix, { ...defaultDesign, width: side, height: side })).toBeGreaterThan(0.1);
});

test("a place among the dots that looks like a finder pattern takes their clearance", async () => {
  const modules = Uint8Array.from(matrix.modules);
  const [middle, places] = [Math.floor(matrix.size / 2), [1, 0, 1, 1, 1, 0, 1]];
  // Light around it, so that the runs end.
  for (let row = middle - 4; row <= middle + 4; row++)
    for (let column = middle - 4; column <= middle + 4; column++) modules[row * matrix.size + column] = 0;
  for (const [offset, dark] of places.entries()) {
    modules[middle * matrix.size + middle - 3 + offset] = dark;
    modules[(middle - 3 + offset) * matrix.size + middle] = dark;
  }
  expect(await clearanceOf({ ...matrix, modules }, defaultDesign)).toBeLessThanOrEqual(0);
});

test("a code that OpenCV was seen to miss at one size has no clearance there, and some at another", async () => {
  const { dots, cornersSquare, cornersDot } = defaultDesign;
  const design: Design = {
    ...defaultDesign,
    cornersSquare: { ...cornersSquare, type: "HEXAGON", hasSharpCorners: true },
    cornersDot: { ...cornersDot, type: "OCTAGON" },
    dots: { ...dots, type: "ROUNDED" },
  };
  const code = qrMatrix("https://go.example.com/xC77Qa-Q-bCbaaQxDDbDDQ7QDaxb-abxxaD7-7aCCaabC?qr", "H");
  expect(await clearanceOf(code, { ...design, width: 234, height: 234 })).toBeLessThan(0);
  expect(await clearanceOf(code, { ...design, width: 512, height: 512 })).toBeGreaterThan(0);
});

test("frames that are hardly darker than the background are not found", async () => {
  const pale = solid({ red: 254, green: 254, blue: 254, alpha: 1 });
  const { cornersSquare } = defaultDesign;
  expect(
    await clearanceOf(matrix, { ...defaultDesign, cornersSquare: { ...cornersSquare, paint: pale } }),
  ).toBeLessThanOrEqual(0);
});
