import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { prepareZXingModule, readBarcodes } from "zxing-wasm/reader";
import type { SystemTool } from "./system-tool.ts";

export const zbarimg: SystemTool = { command: "zbarimg", debianPackage: "zbar-tools" };
export const rsvgConvert: SystemTool = { command: "rsvg-convert", debianPackage: "librsvg2-bin" };

const run = promisify(execFile);

// By default the package downloads its module from a public server.
const wasmFile = createRequire(import.meta.url).resolve("zxing-wasm/reader/zxing_reader.wasm");
const zxing = readFile(wasmFile).then((bytes) =>
  prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(bytes).buffer }, fireImmediately: true }),
);

/** Reads an image with ZXing; returns the text of every QR code found. */
export async function readWithZxing(image: Uint8Array): Promise<string[]> {
  await zxing;
  const results = await readBarcodes(image, { formats: ["QRCode"] });
  return results.map((result) => result.text);
}

/** Reads images with ZBar in one process; returns the text of every QR code found, in the order of the images. */
export async function readWithZbar(images: readonly Uint8Array[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "qr-"));
  try {
    const files = images.map((_, index) => join(folder, `${index}.png`));
    await Promise.all(files.map((file, index) => writeFile(file, images[index] ?? "")));
    const options = ["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable"];
    const { stdout } = await run(zbarimg.command, [...options, ...files]);
    return stdout.split("\n").filter((line) => line !== "");
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Reads each of many images with ZBar; undefined where it finds no code. */
export async function tryWithZbar(images: readonly Uint8Array[]): Promise<(string | undefined)[]> {
  const folder = await mkdtemp(join(tmpdir(), "qr-"));
  try {
    const files = images.map((_, index) => join(folder, `${index}.png`));
    await Promise.all(files.map((file, index) => writeFile(file, images[index] ?? "")));
    const options = ["--quiet", "--xml", "-Sdisable", "-Sqrcode.enable"];
    // ZBar exits with 4 when an image has no code.
    const reading = run(zbarimg.command, [...options, ...files], { maxBuffer: 2 ** 26 });
    const { stdout } = await reading.catch((error: { code?: unknown; stdout: string }) => {
      if (error.code === 4) return error;
      throw error;
    });
    const found = new Map<string, string>();
    for (const [, file = "", content = ""] of stdout.matchAll(/<source href='([^']*)'>(.*?)<\/source>/gs)) {
      const text = /<data><!\[CDATA\[(.*?)\]\]><\/data>/s.exec(content)?.[1];
      if (text !== undefined) found.set(file, text);
    }
    return files.map((file) => found.get(file));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Paints an SVG at its own size with librsvg; PNG bytes. */
export async function rasterise(svg: Uint8Array): Promise<Uint8Array> {
  const painting = run(rsvgConvert.command, [], { encoding: "buffer" });
  painting.child.stdin?.end(svg);
  return (await painting).stdout;
}
