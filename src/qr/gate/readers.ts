import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

/*
 * These are loaded with the first verification, because only designs need them.
 */

/** Pixels as readers take them: red, green, blue and opacity, row by row. */
export interface Pixels {
  readonly data: Uint8ClampedArray<ArrayBuffer>;
  readonly width: number;
  readonly height: number;
}

export const readerNames = ["zxing", "jsqr"] as const;
export type ReaderName = (typeof readerNames)[number];

/** Two programs that share no code and read codes in different ways. Each gives the text that it reads first. */
export const readers: Readonly<Record<ReaderName, (pixels: Pixels) => Promise<string | undefined>>> = {
  zxing: readWithZxing,
  jsqr: readWithJsqr,
};

let zxing: ReturnType<typeof loadZxing> | undefined;

async function readWithZxing(pixels: Pixels): Promise<string | undefined> {
  zxing ??= loadZxing();
  const { readBarcodes } = await zxing;
  const [result] = await readBarcodes(
    { ...pixels, colorSpace: "srgb" },
    { formats: ["QRCode"], maxNumberOfSymbols: 1 },
  );
  return result?.isValid === true ? result.text : undefined;
}

/** Left to itself, the package would fetch its module from a public server. */
async function loadZxing() {
  const [reader, bytes] = await Promise.all([
    import("zxing-wasm/reader"),
    readFile(createRequire(import.meta.url).resolve("zxing-wasm/reader/zxing_reader.wasm")),
  ]);
  const overrides = { wasmBinary: new Uint8Array(bytes).buffer };
  await reader.prepareZXingModule({ overrides, fireImmediately: true });
  return reader;
}

/** It does not look for light codes on dark, like many readers in the field. */
async function readWithJsqr({ data, width, height }: Pixels): Promise<string | undefined> {
  const { default: jsqr } = await import("jsqr");
  return jsqr.default(data, width, height, { inversionAttempts: "dontInvert" })?.data;
}
