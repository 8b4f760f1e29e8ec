import { asObject, objectOf, objectsOf, textOf } from "../../model/json-fields.ts";

/**
 * Why Google did not do what it was asked: the grant is gone, what was asked for is refused, there were too many
 * requests, or there was no answer that can be read.
 */
export type GoogleFaultKind = "grant" | "refused" | "quota" | "away";

export class GoogleFault extends Error {
  override readonly name = "GoogleFault";
  readonly kind: GoogleFaultKind;
  /** How long Google asks to wait, if it says so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(kind: GoogleFaultKind, message: string, retryAfterSeconds?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A day: a longer wait that Google asks for is not believed. */
const retryAfterMax = 86_400;

const quotaReasons = new Set([
  "rateLimitExceeded",
  "userRateLimitExceeded",
  "quotaExceeded",
  "dailyLimitExceeded",
  "RATE_LIMIT_EXCEEDED",
]);

/**
 * Reads the error that Google's library throws. What it says besides is not passed on, because it may hold tokens.
 */
export function googleFault(error: unknown): GoogleFault {
  if (error instanceof GoogleFault) return error;
  const response = asObject(objectOf(error).response);
  if (response === undefined) return new GoogleFault("away", "Google did not answer");
  const { status, data, headers } = response;
  const refusal = objectOf(data).error;
  const seconds = readRetryAfter(headers);
  // The token endpoint names its error in one word (RFC 6749, section 5.2).
  if (refusal === "invalid_grant") return new GoogleFault("grant", "Google refuses the grant");
  const answered = `Google answered with status ${Number(status)}`;
  if (status === 429 || (status === 403 && namesQuota(refusal)))
    return new GoogleFault("quota", answered, seconds);
  const isRefusal = status === 400 || status === 401 || status === 403 || status === 404;
  // A refused client is the operator's fault, and no fault of the grant.
  return new GoogleFault(isRefusal && typeof refusal !== "string" ? "refused" : "away", answered, seconds);
}

function namesQuota(refusal: unknown): boolean {
  const { status, errors, details } = objectOf(refusal);
  if (status === "RESOURCE_EXHAUSTED") return true;
  return [...objectsOf(errors), ...objectsOf(details)].some(({ reason }) => quotaReasons.has(textOf(reason)));
}

/** Seconds; a date is not read, because the clocks may differ. */
function readRetryAfter(headers: unknown): number | undefined {
  // The library brings headers of its own class.
  const { get } = objectOf(headers);
  const value = typeof get === "function" ? textOf(get.call(headers, "retry-after")) : "";
  return /^\d{1,9}$/.test(value) ? Math.min(Number(value), retryAfterMax) : undefined;
}
