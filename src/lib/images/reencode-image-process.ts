import sharp from "sharp";
import { answerOnce } from "./ask-process.ts";
import type { Picture, PictureOrder, PictureResult } from "./reencode-image.ts";
import { svgFault } from "./svg-fault.ts";

// One thread, so that other work on this machine goes on.
sharp.cache(false);
sharp.concurrency(1);

answerOnce(read);

async function read(order: PictureOrder): Promise<PictureResult> {
  try {
    return await reencode(order);
  } catch (error) {
    // Decoder messages name their own internals; only this distinction helps the sender of the file.
    const isLarge = error instanceof Error && /pixel limit/i.test(error.message);
    return { fault: isLarge ? sizeFault(order.sideMax) : "cannot be read: save the image again" };
  }
}

async function reencode({ bytes, format, sideMax, pngWithin }: PictureOrder): Promise<PictureResult> {
  const fault = format === "svg" ? svgFault(bytes) : undefined;
  if (fault !== undefined) return { fault };
  // The limit is as many pixels as the largest square has. Damaged files fail; harmless oddities, which many cameras
  // write, do not.
  const input = sharp(bytes, { limitInputPixels: sideMax * sideMax, failOn: "error" });
  const { width, height, pages = 1, format: found } = await input.metadata();
  // The format of the first bytes must be the format that the decoder finds.
  if (found !== format) return { fault: "cannot be read: save the image again" };
  if (pages > 1) return { fault: "must not be animated" };
  if (Math.max(width, height) > sideMax) return { fault: sizeFault(sideMax) };
  const upright = input.autoOrient();
  const sized =
    pngWithin === undefined
      ? upright
      : upright.resize(pngWithin, pngWithin, { fit: "inside", withoutEnlargement: format !== "svg" });
  const isJpeg = format === "jpeg" && pngWithin === undefined;
  const output = isJpeg ? sized.jpeg({ quality: 92 }) : sized.png({ compressionLevel: 8 });
  const { data, info } = await output.toBuffer({ resolveWithObject: true });
  const picture: Picture = {
    bytes: data,
    format: isJpeg ? "jpeg" : "png",
    width: info.width,
    height: info.height,
  };
  return { picture };
}

function sizeFault(sideMax: number): string {
  return `must have at most ${sideMax.toLocaleString("en")} pixels a side`;
}
