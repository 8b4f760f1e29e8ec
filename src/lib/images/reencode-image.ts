import { askProcess, programBeside } from "./ask-process.ts";
import { isSvg } from "./svg-fault.ts";

/** Formats of incoming pictures. */
export type PictureFormat = "png" | "jpeg" | "webp" | "svg";

export interface PictureRules {
  /** The accepted formats; the first bytes of a file tell its format, whatever its sender says. */
  readonly formats: readonly PictureFormat[];
  /** The most pixels of a side. */
  readonly sideMax: number;
  /**
   * Makes a PNG that fits into a square of this side, in pixels; drawings fill the square. Without it, format and size
   * stay.
   */
  readonly pngWithin?: number;
}

/** A re-encoded picture: everything in the file besides the pixels, such as camera and place, is gone. */
export interface Picture {
  readonly bytes: Uint8Array;
  readonly format: "png" | "jpeg";
  readonly width: number;
  readonly height: number;
}

/** A fault of a file, in words for its sender: `must be a PNG or JPEG image`. */
export class PictureFault extends Error {
  override readonly name = "PictureFault";
}

export interface PictureReader {
  /** Throws a PictureFault when the file breaks the rules or takes too long. The signal ends the wait and the work. */
  read(bytes: Uint8Array, rules: PictureRules, signal: AbortSignal): Promise<Picture>;
}

export interface PictureReaderOptions {
  /** How long one picture may take, in milliseconds; 10,000 when absent. */
  readonly timeoutMs?: number;
  /** How many pictures are read at the same time; 2 when absent. Each may take 400 MB for 64 million pixels. */
  readonly parallel?: number;
}

/** The request to the process that reads one picture, and its reply. */
export interface PictureOrder {
  readonly bytes: Uint8Array;
  readonly format: PictureFormat;
  readonly sideMax: number;
  readonly pngWithin: number | undefined;
}
export type PictureResult = { readonly picture: Picture } | { readonly fault: string };

/**
 * Reads pictures, each in a child process. A drawing of a few kilobytes can keep a decoder busy for minutes, and only a
 * process can be killed. A child also keeps the decoder's memory and crashes outside of this process.
 */
export function createPictureReader({
  timeoutMs = 10_000,
  parallel = 2,
}: PictureReaderOptions = {}): PictureReader {
  const turn = turnstile(parallel);
  return {
    async read(bytes, { formats, sideMax, pngWithin }, signal) {
      const format = formatOf(bytes);
      if (format === undefined || !formats.includes(format))
        throw new PictureFault(`must be ${listOf(formats)}`);
      const order = { bytes, format, sideMax, pngWithin };
      const result = await turn(signal, () => readInProcess(order, timeoutMs, signal));
      if ("fault" in result) throw new PictureFault(result.fault);
      return result.picture;
    },
  };
}

/** Tells the format from the first bytes. */
export function formatOf(bytes: Uint8Array): PictureFormat | undefined {
  const head = Buffer.from(bytes.subarray(0, 4096));
  if (head.subarray(0, 8).equals(Buffer.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a))) return "png";
  if (head.subarray(0, 3).equals(Buffer.of(0xff, 0xd8, 0xff))) return "jpeg";
  if (head.toString("latin1", 0, 4) === "RIFF" && head.toString("latin1", 8, 12) === "WEBP") return "webp";
  return isSvg(head.toString("utf8")) ? "svg" : undefined;
}

function listOf(formats: readonly PictureFormat[]): string {
  const names = formats.map((format) => (format === "svg" ? "SVG without scripts" : format.toUpperCase()));
  return `a ${names.slice(0, -1).join(", ")} or ${names.at(-1)} image`;
}

const program = programBeside(import.meta.url, "reencode-image-process");

async function readInProcess(
  order: PictureOrder,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<PictureResult> {
  const outcome = await askProcess<PictureOrder, PictureResult>(program, order, { timeoutMs, signal });
  if ("answer" in outcome) return outcome.answer;
  // A native decoder that crashes was most likely given a file made for that purpose.
  return outcome.ended === "late"
    ? { fault: "takes too long to draw: simplify the image" }
    : { fault: "cannot be read: save the image again" };
}

/** Lets a number of calls run at the same time; the others wait in the order they came. */
function turnstile(places: number): <T>(signal: AbortSignal, run: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = places;
  return async (signal, run) => {
    if (free > 0) free--;
    else await new Promise<void>((enter) => waiting.push(enter));
    try {
      signal.throwIfAborted();
      return await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
