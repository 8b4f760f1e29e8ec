import { crc32, deflateSync } from "node:zlib";
import type { Color } from "../../lib/color.ts";
import { type CodeLayout, layOutCode } from "./layout.ts";
import type { Matrix } from "./matrix.ts";

const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

export interface PlainPngOptions {
  readonly width: number;
  readonly height: number;
  readonly dark: Color;
  readonly light: Color;
}

/** Paints a code with square modules in two colors as a PNG with a palette of two, one bit a pixel. */
export function plainPng(matrix: Matrix, { width, height, dark, light }: PlainPngOptions): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Bit depth 1, colour type 3 (palette), then deflate, adaptive filtering and no interlacing, which are all 0.
  header.set([1, 3], 8);
  const palette = [light, dark];
  const isOpaque = palette.every(({ alpha }) => alpha === 1);
  const opacities = palette.map(({ alpha }) => Math.round(alpha * 255));
  const layout = layOutCode(matrix.size, { width, height, shape: "SQUARE" });
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("PLTE", Uint8Array.from(palette.flatMap(({ red, green, blue }) => [red, green, blue]))),
    ...(isOpaque ? [] : [chunk("tRNS", Uint8Array.from(opacities))]),
    chunk("IDAT", deflateSync(scanLines(matrix, layout, width, height), deflateOptions)),
    chunk("IEND", new Uint8Array()),
  ]);
}

/** Level 6 with the default window. Lines repeat, so higher levels take time and save hardly anything. */
export const deflateOptions = { level: 6 } as const;

/**
 * Every line with its filter byte 0 in front. Bits are palette indices: the first pixel is the highest bit, and 1 is
 * dark.
 */
export function scanLines(matrix: Matrix, layout: CodeLayout, width: number, height: number): Uint8Array {
  const stride = 1 + Math.ceil(width / 8);
  const lines = new Uint8Array(stride * height);
  for (let row = 0; row < matrix.size; row++) {
    const first = (layout.top + row * layout.scale) * stride;
    const last = first + layout.scale * stride;
    paintLine(lines.subarray(first + 1, first + stride), matrix, row, layout);
    for (let copy = first + stride; copy < last; copy += stride)
      lines.copyWithin(copy, first, first + stride);
  }
  return lines;
}

function paintLine(
  line: Uint8Array,
  { size, modules }: Matrix,
  row: number,
  { scale, left }: CodeLayout,
): void {
  for (let column = 0; column < size; column++) {
    if (modules[row * size + column] !== 1) continue;
    const start = left + column * scale;
    for (let x = start; x < start + scale; x++) line[x >> 3] = (line[x >> 3] ?? 0) | (0x80 >> (x & 7));
  }
}

function chunk(type: string, data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, "latin1");
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}
