import type { CentralImage, Design } from "./design.ts";
import { type Matrix, qrMatrix } from "./matrix.ts";
import { coveringOf } from "./picture.ts";
import { matrixBehind } from "./room.ts";

/** The code made last for a design with a picture. Whoever verifies a design asks for it several times. */
const madeLast = new WeakMap<Design, { readonly content: string; readonly matrix: Promise<Matrix> }>();

/** The modules of a design's code. Throws a RangeError when the content is too long for any code. */
export async function codeOf(content: string, design: Design): Promise<Matrix> {
  const { centralImage, errorCorrection } = design;
  if (centralImage === undefined) return qrMatrix(content, errorCorrection);
  const made = madeLast.get(design);
  if (made?.content === content) return made.matrix;
  const matrix = codeBehind(centralImage, content, design);
  madeLast.set(design, { content, matrix });
  return matrix;
}

async function codeBehind(picture: CentralImage, content: string, design: Design): Promise<Matrix> {
  const { shadesOf } = await import("./raster.ts");
  const covering = coveringOf(design, picture, await shadesOf(picture.png));
  return matrixBehind(content, design.errorCorrection, covering);
}
