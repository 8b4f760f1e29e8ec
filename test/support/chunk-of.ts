import { framedLength, frameInto, type RecordText } from "../../src/scan/spool/framed-records.ts";

/** A chunk of the spool that holds the given records. */
export function chunkOf(
  records: readonly { readonly id: Uint8Array; readonly text: RecordText }[],
): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.alloc(records.reduce((sum, { text }) => sum + framedLength(text), 0));
  const frame = frameInto(bytes);
  for (const { id, text } of records) frame.add(id, text);
  return bytes.subarray(0, frame.length());
}
