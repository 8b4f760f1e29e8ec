import { createRequire } from "node:module";
import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { type Design, defaultDesign, type ImageFormat, solid } from "../../src/qr/drawing/design.ts";
import { layOutCode } from "../../src/qr/drawing/layout.ts";
import { qrMatrix } from "../../src/qr/drawing/matrix.ts";
import { deflateOptions, scanLines } from "../../src/qr/drawing/plain-png.ts";
import { renderImage } from "../../src/qr/drawing/render.ts";
import { verifyDesign } from "../../src/qr/gate/verify.ts";
import { atMostTimes, type Finding, inTurn, median, told } from "./report.ts";

const side = 1000;
const content = "https://short.example.com/4BnH-R19p?qr";
const plain: Design = { ...defaultDesign, width: side, height: side };
const navy = solid({ red: 30, green: 58, blue: 138, alpha: 1 });
const styled: Design = {
  ...plain,
  dots: { type: "ROUNDED", paint: navy },
  cornersSquare: { type: "EXTRA_ROUNDED", hasSharpCorners: false, paint: navy },
  cornersDot: { type: "DOT", paint: navy },
};

/** Drawing codes as files, compared with the unavoidable work and with the library that browsers mostly use. */
export async function qrcodeRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const rounds = quick ? 5 : 9;
  const findings = [await plainRow(rounds, quick ? 200 : 400)];
  const times = quick ? 6 : 20;
  for (const format of ["PNG", "JPEG", "WEBP"] as const)
    findings.push(await styledRow(format, rounds, times));
  findings.push(...(await againstLibrary(rounds, times)));
  const verifying = await milliseconds(times, async () => {
    await verifyDesign(content, styled);
  });
  return [
    ...findings,
    told("verifying a styled code in fourteen conditions", { ours: verifying, unit: "ms" }),
  ];
}

/** The unavoidable work is the matrix and the compression of the pixels. */
async function plainRow(rounds: number, times: number): Promise<Finding> {
  const sample = qrMatrix(content, plain.errorCorrection);
  const lines = scanLines(sample, layOutCode(sample.size, plain), side, side);
  const unavoidable = () => {
    qrMatrix(content, plain.errorCorrection);
    deflateSync(lines, deflateOptions);
  };
  const { ours, peer } = await compared(rounds, times, unavoidable, drawing(plain, "PNG"));
  return atMostTimes("plain QR PNG, 1000 px", { ours, peer, unit: "ms", budget: 1.5 });
}

/** The unavoidable work is painting the finished SVG, with the rasteriser's own fast settings, in the same format. */
async function styledRow(
  format: Exclude<ImageFormat, "SVG">,
  rounds: number,
  times: number,
): Promise<Finding> {
  const svg = await renderImage(content, styled, "SVG");
  const unavoidable = async () => {
    const image = sharp(svg);
    if (format === "PNG") await image.png({ compressionLevel: 6 }).toBuffer();
    else if (format === "JPEG")
      await image.flatten().jpeg({ quality: 90, chromaSubsampling: "4:4:4" }).toBuffer();
    else await image.webp({ lossless: true, effort: 0 }).toBuffer();
  };
  const { ours, peer } = await compared(rounds, times, unavoidable, drawing(styled, format));
  return atMostTimes(`styled QR ${format}, 1000 px, of the rasteriser alone`, {
    ours,
    peer,
    unit: "ms",
    budget: 1.3,
  });
}

/** The used part of qr-code-styling; its own types are those of its browser build. */
type StylingLibrary = new (options: object) => { getRawData(format: "svg"): Promise<unknown> };

/** The browser's library draws an SVG in a simulated document; for other formats a rasteriser must paint it. */
async function againstLibrary(rounds: number, times: number): Promise<Finding[]> {
  const require = createRequire(import.meta.url);
  const { JSDOM } = require("jsdom") as { readonly JSDOM: unknown };
  const QRCodeStyling = require("qr-code-styling") as StylingLibrary;
  const librarySvg = async (): Promise<Buffer> => {
    const code = new QRCodeStyling({
      jsdom: JSDOM,
      type: "svg",
      width: side,
      height: side,
      data: content,
      qrOptions: { errorCorrectionLevel: "Q" },
      dotsOptions: { type: "rounded", color: "#1e3a8a" },
      cornersSquareOptions: { type: "extra-rounded", color: "#1e3a8a" },
      cornersDotOptions: { type: "dot", color: "#1e3a8a" },
    });
    const data = await code.getRawData("svg");
    if (!Buffer.isBuffer(data)) throw new Error("the library drew nothing");
    return data;
  };
  const library: Readonly<Record<"SVG" | "PNG", () => Promise<unknown>>> = {
    SVG: librarySvg,
    PNG: async () =>
      await sharp(await librarySvg())
        .png({ compressionLevel: 6 })
        .toBuffer(),
  };
  const findings: Finding[] = [];
  for (const format of ["SVG", "PNG"] as const) {
    const { ours, peer } = await compared(rounds, times, library[format], drawing(styled, format));
    findings.push(
      atMostTimes(`styled QR ${format}, 1000 px, of qr-code-styling in jsdom`, {
        ours,
        peer,
        unit: "ms",
        budget: 1,
      }),
    );
  }
  return findings;
}

function drawing(design: Design, format: ImageFormat): () => Promise<void> {
  return async () => {
    await renderImage(content, design, format);
  };
}

/** Medians in milliseconds, measured alternately. */
async function compared(
  rounds: number,
  times: number,
  peer: () => unknown,
  ours: () => unknown,
): Promise<{ readonly ours: number; readonly peer: number }> {
  for (const draw of [peer, ours]) await milliseconds(times, draw);
  const reports = await inTurn(
    rounds,
    () => milliseconds(times, peer),
    () => milliseconds(times, ours),
  );
  return { ours: median(reports.ours), peer: median(reports.peer) };
}

async function milliseconds(times: number, draw: () => unknown): Promise<number> {
  const startedAt = performance.now();
  for (let index = 0; index < times; index++) await draw();
  return (performance.now() - startedAt) / times;
}
