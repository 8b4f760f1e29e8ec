import { setPriority } from "node:os";
import sharp, { type Raw, type Sharp } from "sharp";
import { answerOnce } from "./ask-process.ts";
import type { CopiesOrder, CopiesResult, CopyOrder, PictureCopy } from "./copy-image.ts";

// Nobody waits for a copy. One thread of low priority lets all other work of this machine go first.
setPriority(10);
sharp.cache(false);
sharp.concurrency(1);

answerOnce(makeCopies);

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The pixels from which all copies are made. */
interface Pixels {
  readonly data: Buffer;
  readonly raw: Raw;
}

async function makeCopies({ bytes, orders }: CopiesOrder): Promise<CopiesResult> {
  const { width, height } = await sharp(bytes).metadata();
  const sizes = orders.map((order) => sizeOf(order, { width, height }));
  // A picture of 64 million pixels is decoded once, and at once made as small as the largest copy allows.
  const share = Math.max(...sizes.map((size) => (size === undefined ? 0 : scaleOf(size, { width, height }))));
  const base = await sharp(bytes)
    .resize(Math.max(1, Math.ceil(width * share)), Math.max(1, Math.ceil(height * share)), { fit: "fill" })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const pixels = { data: base.data, raw: base.info };
  const copies: (PictureCopy | undefined)[] = [];
  for (const [index, order] of orders.entries()) {
    const size = sizes[index];
    copies.push(size === undefined ? undefined : await withinBytes(pixels, order, size));
  }
  return copies;
}

/** How large a copy is: in the proportions of its frame or of the picture, and nowhere larger than the picture. */
function sizeOf({ width, height, onlyWhereNarrower }: CopyOrder, picture: Size): Size | undefined {
  const ratio = height === undefined ? picture.width / picture.height : width / height;
  if (onlyWhereNarrower === true && ratio >= picture.width / picture.height) return undefined;
  const widest = Math.min(width, picture.width, picture.height * ratio);
  return { width: Math.max(1, Math.round(widest)), height: Math.max(1, Math.round(widest / ratio)) };
}

/** How much of the picture's size is needed for a copy that covers its frame. */
function scaleOf(size: Size, picture: Size): number {
  return Math.min(1, Math.max(size.width / picture.width, size.height / picture.height));
}

const qualities = [72, 45];
const leastQuality = 45;
/** How often a copy is made smaller; after the fourth time a copy of pure noise is small enough. */
const shrinksMax = 8;

async function withinBytes(
  pixels: Pixels,
  { format, bytesMax }: CopyOrder,
  size: Size,
): Promise<PictureCopy | undefined> {
  let copy: PictureCopy | undefined;
  for (const quality of qualities) {
    copy = await encode(pixels, format, size, quality);
    if (copy.bytes.length <= bytesMax) return copy;
  }
  for (let shrunk = 0; copy !== undefined && shrunk < shrinksMax; shrunk++) {
    // Bytes grow with the area.
    const share = Math.min(0.85, 0.95 * Math.sqrt(bytesMax / copy.bytes.length));
    const smaller = {
      width: Math.max(1, Math.round(copy.width * share)),
      height: Math.max(1, Math.round(copy.height * share)),
    };
    copy = await encode(pixels, format, smaller, leastQuality);
    if (copy.bytes.length <= bytesMax) return copy;
  }
  return undefined;
}

async function encode(
  { data, raw }: Pixels,
  format: CopyOrder["format"],
  { width, height }: Size,
  quality: number,
): Promise<PictureCopy> {
  const sized = sharp(data, { raw }).resize(width, height, { fit: "cover" });
  const { data: bytes } = await encoded(sized, format, quality).toBuffer({ resolveWithObject: true });
  return { bytes, width, height };
}

function encoded(sized: Sharp, format: CopyOrder["format"], quality: number): Sharp {
  if (format === "webp") return sized.webp({ quality, effort: 2 });
  // JPEG knows no transparency.
  return sized.flatten({ background: "#ffffff" }).jpeg({ quality, progressive: true });
}
