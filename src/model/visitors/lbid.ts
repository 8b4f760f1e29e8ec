import { isUuid } from "../../lib/ids.ts";

/** A visit's id as visitors carry it: base64url of its 16 bytes, 22 characters. */
export function lbidOfEvent(eventId: string): string {
  return Buffer.from(eventId.replaceAll("-", ""), "hex").toString("base64url");
}

/**
 * The event's id of an `lbid`. Undefined when the `lbid` is malformed. Accepts base64url and standard base64, with
 * padding or without, of the 16 bytes or of the id's text of 36 characters.
 */
export function eventOfLbid(lbid: string): string | undefined {
  if (!/^[A-Za-z0-9_+/-]{22,48}={0,2}$/.test(lbid)) return undefined;
  const bytes = Buffer.from(lbid, "base64");
  if (bytes.length === 16) return uuidOfBytes(bytes);
  const text = bytes.toString("latin1");
  return bytes.length === 36 && isUuid(text) ? text.toLowerCase() : undefined;
}

function uuidOfBytes(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
