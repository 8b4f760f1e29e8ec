import { type Design, defaultDesign } from "./design.ts";
import type { ErrorCorrection } from "./matrix.ts";
import type { ImageFormat } from "./render.ts";

const corrections: readonly ErrorCorrection[] = ["L", "M", "Q", "H"];

/** Reads a design as it is stored, in the contract's JSON names; what is unset takes the default. */
export function storedDesign(options: unknown): { readonly design: Design; readonly format: ImageFormat } {
  const fields: Readonly<Record<string, unknown>> = isObject(options) ? options : {};
  const design: Design = {
    ...defaultDesign,
    width: side(fields.width, defaultDesign.width),
    height: side(fields.height, defaultDesign.height),
    errorCorrection:
      corrections.find((level) => level === fields.errorCorrectionLevel) ?? defaultDesign.errorCorrection,
  };
  return { design, format: fields.outputFileFormat === "OUTPUT_FILE_FORMAT_SVG" ? "svg" : "png" };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function side(value: unknown, otherwise: number): number {
  return typeof value === "number" && value > 0 ? value : otherwise;
}
