import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

/* What only designs need is loaded with their first verification. */

/** Pixels as readers take them: red, green, blue and opacity, row by row. */
export interface Pixels {
  readonly data: Uint8ClampedArray<ArrayBuffer>;
  readonly width: number;
  readonly height: number;
}

export const readerNames = ["zxing", "jsqr"] as const;
export type ReaderName = (typeof readerNames)[number];

/** Programs that share no code and read codes in different ways; each answers with the text it reads first. */
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

/** Left alone, the package would fetch its module from a public server. */
async function loadZxing() {
  const [reader, bytes] = await Promise.all([
    import("zxing-wasm/reader"),
    readFile(createRequire(import.meta.url).resolve("zxing-wasm/reader/zxing_reader.wasm")),
  ]);
  const overrides = { wasmBinary: new Uint8Array(bytes).buffer };
  await reader.prepareZXingModule({ overrides, fireImmediately: true });
  return reader;
}

/** Does not look for light codes on dark, as many readers in the field do not either. */
async function readWithJsqr({ data, width, height }: Pixels): Promise<string | undefined> {
  const { default: jsqr } = await import("jsqr");
  return jsqr.default(data, width, height, { inversionAttempts: "dontInvert" })?.data;
}
