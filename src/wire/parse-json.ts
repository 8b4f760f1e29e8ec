import { isUtf8 } from "node:buffer";
import { fail } from "../lib/errors.ts";

/** Parses a request as JSON. Throws 400 when it is not UTF-8 (or begins with a byte order mark) or not JSON. */
export function parseJson(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", "the request body is not UTF-8");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", "the request body is not valid JSON", {
      cause: error,
    });
  }
}
