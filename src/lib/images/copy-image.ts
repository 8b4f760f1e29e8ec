import { askProcess, programBeside } from "./ask-process.ts";

/** A copy to make of a picture. A copy is never larger than its picture. */
export interface CopyOrder {
  readonly width: number;
  /** Cuts the middle out of the picture, in the proportions of this frame. Without it, the copy shows all of the picture. */
  readonly height?: number;
  /** Leaves the copy out where the frame is no narrower than the picture. */
  readonly onlyWhereNarrower?: boolean;
  readonly format: "webp" | "jpeg";
  /** A copy that would be larger loses quality first, and then pixels. */
  readonly bytesMax: number;
}

/** A copy of a picture. */
export interface PictureCopy {
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** The request to the process that makes copies, and its reply: a copy or nothing for each order. */
export interface CopiesOrder {
  readonly bytes: Uint8Array;
  readonly orders: readonly CopyOrder[];
}
export type CopiesResult = readonly (PictureCopy | undefined)[];

const program = programBeside(import.meta.url, "copy-image-process");
/** On a busy machine, a process of low priority waits much longer than it works. */
const timeoutMs = 5 * 60_000;

/**
 * Makes smaller copies of a picture, in a child process that gives way to others. The picture must have been re-encoded
 * by us. Throws when its process ends without an answer.
 */
export async function copyPicture(order: CopiesOrder, signal: AbortSignal): Promise<CopiesResult> {
  const outcome = await askProcess<CopiesOrder, CopiesResult>(program, order, { timeoutMs, signal });
  if ("answer" in outcome) return outcome.answer;
  throw new Error(`the process that copied a picture was ${outcome.ended}`);
}
