import { deflateSync } from "node:zlib";
import { defaultDesign } from "../../src/qr/design.ts";
import { layOut } from "../../src/qr/layout.ts";
import { qrMatrix } from "../../src/qr/matrix.ts";
import { deflateOptions, scanLines } from "../../src/qr/plain-png.ts";
import { renderImage } from "../../src/qr/render.ts";
import { atMostTimes, type Finding, inTurn, median } from "./report.ts";

const side = 1000;
const content = "https://short.example.com/4BnH-R19p?qr";
const design = { ...defaultDesign, width: side, height: side };

/** A plain PNG against what nobody can leave out: the matrix, and deflating the pixels. */
export async function qrcodeRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const sample = qrMatrix(content, design.errorCorrection);
  const lines = scanLines(sample, layOut(sample.size, design), side, side);
  const unavoidable = () => {
    qrMatrix(content, design.errorCorrection);
    deflateSync(lines, deflateOptions);
  };
  const whole = async () => {
    await renderImage(content, design, "PNG");
  };
  const times = quick ? 200 : 400;
  for (const draw of [unavoidable, whole]) await milliseconds(times, draw);
  const reports = await inTurn(
    9,
    () => milliseconds(times, unavoidable),
    () => milliseconds(times, whole),
  );
  return [
    atMostTimes("plain QR PNG, 1000 px", {
      ours: median(reports.ours),
      peer: median(reports.peer),
      unit: "ms",
      budget: 1.5,
    }),
  ];
}

async function milliseconds(times: number, draw: () => Promise<void> | void): Promise<number> {
  const startedAt = performance.now();
  for (let index = 0; index < times; index++) await draw();
  return (performance.now() - startedAt) / times;
}
