import { create } from "qrcode";

/** How much of a code may be lost: about 7, 15, 25 and 30 % (ISO/IEC 18004). */
export type ErrorCorrection = "L" | "M" | "Q" | "H";

/** The modules of a code without quiet zone: `size` × `size`, row by row, 1 is dark. `size` is 21 to 177. */
export interface Matrix {
  readonly size: number;
  readonly modules: Uint8Array;
}

/** Encodes text as the smallest code that holds it; a RangeError when none does (1,663 bytes at Q, 2,953 at L). */
export function qrMatrix(content: string, errorCorrection: ErrorCorrection): Matrix {
  if (content === "") throw new RangeError("a QR code needs content");
  let modules: { readonly size: number; readonly data: Uint8Array };
  try {
    ({ modules } = create(content, { errorCorrectionLevel: errorCorrection }));
  } catch (cause) {
    throw new RangeError(`content of ${content.length} characters does not fit a QR code`, { cause });
  }
  return { size: modules.size, modules: modules.data };
}
