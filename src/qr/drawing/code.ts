import type { Design } from "./design.ts";
import { type Matrix, qrMatrix } from "./matrix.ts";
import { coveringOf } from "./picture.ts";
import { matrixBehind } from "./room.ts";

/** The modules of a design's code. Throws a RangeError when the content is too long for any code. */
export async function codeOf(content: string, design: Design): Promise<Matrix> {
  const { centralImage, errorCorrection } = design;
  if (centralImage === undefined) return qrMatrix(content, errorCorrection);
  const { shadesOf } = await import("./raster.ts");
  const covering = coveringOf(design, centralImage, await shadesOf(centralImage.png));
  return matrixBehind(content, errorCorrection, covering);
}
