import { isUtf8 } from "node:buffer";
import { randomInt } from "node:crypto";
import { type CallError, fail } from "../lib/errors.ts";
import { elementsMaxOf } from "./bounds.ts";

/** Bodies up to this size are parsed without a check: none of them takes more than a few milliseconds. */
const unseenBytesMax = 8 * 1024;

/**
 * How many different keys the objects of one request may have. The parser needs microseconds for each new key and less
 * for a known one.
 */
const differentKeysMax = 2_000;

/** Parses a request as JSON. Throws 400 when it is not UTF-8 (or begins with a byte order mark), not JSON, or costs too much. */
export function parseJson(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw refusal("is not UTF-8");
  if (bytes.length > unseenBytesMax) checkShape(bytes);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw refusal("is not valid JSON", cause);
  }
}

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const [comma, openBracket, openBrace] = [0x2c, 0x5b, 0x7b];

/** Random, so that a client cannot choose keys whose hashes are equal. */
const multiplier = randomInt(2 ** 30) * 2 + 1;

/** One bit for each of the 2^16 hashes that a key may have. */
const seen = new Uint8Array(2 ** 13);

/** Scans a JSON text and refuses texts that the parser would need long for: many values, many keys. */
function checkShape(bytes: Uint8Array): void {
  // Every value but the first follows a comma or an opening bracket or brace.
  let valuesLeft = 2 * elementsMaxOf(bytes.length);
  let keysLeft = differentKeysMax;
  let hash = 0;
  seen.fill(0);
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case quote:
        hash = 0;
        for (at += 1; at < bytes.length && bytes[at] !== quote; at++) {
          if (bytes[at] === backslash) at += 1;
          hash = Math.imul(hash ^ (bytes[at] ?? 0), multiplier);
        }
        break;
      case colon: {
        const bit = (hash >>> 16) & 7;
        const index = hash >>> 19;
        if (((seen[index] ?? 0) & (1 << bit)) === 0) keysLeft -= 1;
        seen[index] = (seen[index] ?? 0) | (1 << bit);
        if (keysLeft < 0) throw refusal(`has more than ${differentKeysMax} different keys`);
        break;
      }
      case openBracket:
      case openBrace:
      case comma:
        valuesLeft -= 1;
        if (valuesLeft < 0) throw refusal("has too many values for its size");
    }
  }
}

function refusal(fault: string, cause?: unknown): CallError {
  const refusal = cause === undefined ? {} : { cause };
  return fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", `the request body ${fault}`, refusal);
}
