import { parseDate } from "./visitors/attribute-operators.ts";

/** The header in which a call with a sandbox's token sends its test clock; metadata in gRPC. */
export const testClockHeader = "X-Service-Test-Clock";

/** What a test clock has to be. */
export const testClockRule =
  "must be an RFC 3339 time with an offset, of the years 2000 to 2100, such as 2026-12-24T18:00:00Z";

const withOffset = /(?:Z|[+-]\d\d:?\d\d)$/i;

/** Longer than any time. */
const lengthMax = 64;

/** Reads the time of a test clock. Undefined when it breaks `testClockRule`. */
export function parseTestClock(text: string): Date | undefined {
  if (text.length > lengthMax || !withOffset.test(text)) return undefined;
  const at = parseDate(text)?.at;
  const year = at?.getUTCFullYear() ?? 0;
  return year >= 2000 && year <= 2100 ? at : undefined;
}
