import { create } from "qrcode";
import { expect, test } from "vitest";
import { randomDesigns } from "../../../test/qr/random-designs.ts";
import { codeOf } from "./code.ts";
import { decoysOf } from "./decoys.ts";
import { type Matrix, qrMatrix } from "./matrix.ts";

/** A code of 25 modules with its finder patterns only. */
function finders(): Matrix {
  const size = 25;
  const modules = new Uint8Array(size * size);
  for (const [row, column] of [
    [3, 3],
    [3, 21],
    [21, 3],
  ] as const)
    drawFinder({ size, modules }, row, column);
  return { size, modules };
}

function drawFinder({ size, modules }: Matrix, row: number, column: number): void {
  for (let down = -3; down <= 3; down++)
    for (let right = -3; right <= 3; right++)
      modules[(row + down) * size + column + right] = Math.max(Math.abs(down), Math.abs(right)) === 2 ? 0 : 1;
}

test("finder patterns are no decoys, and what looks like a fourth one along its row and its column is", () => {
  const code = finders();
  expect(decoysOf(code)).toBe(0);
  const cross = finders();
  for (const [offset, dark] of [1, 0, 1, 1, 1, 0, 1].entries()) {
    cross.modules[14 * cross.size + 9 + offset] = dark;
    cross.modules[(11 + offset) * cross.size + 12] = dark;
  }
  expect(decoysOf(cross)).toBe(2);
  // Without its first module, the row is none.
  cross.modules[14 * cross.size + 9] = 0;
  expect(decoysOf(cross)).toBe(0);
  drawFinder(code, 15, 15);
  expect(decoysOf(code)).toBe(2);
});

test("no code of a usual address has decoys, with or without a picture, though the standard's mask would make some", async () => {
  const designs = randomDesigns(5);
  let standard = 0;
  for (let index = 0; index < 150; index++) {
    const { content, design } = designs.next().value;
    const { modules } = create(content, { errorCorrectionLevel: design.errorCorrection });
    if (decoysOf({ size: modules.size, modules: modules.data }) > 0) standard++;
    expect(decoysOf(qrMatrix(content, design.errorCorrection))).toBe(0);
    if (index < 40) expect(decoysOf(await codeOf(content, design))).toBe(0);
  }
  expect(standard).toBeGreaterThan(5);
});
