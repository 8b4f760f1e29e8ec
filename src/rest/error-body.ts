import { type ErrorDetail, errorDetails } from "../lib/error-details.ts";
import type { CallError, Code } from "../lib/errors.ts";

/** The HTTP status of every gRPC code. */
export const httpStatuses: Readonly<Record<Code, number>> = {
  CANCELLED: 499,
  UNKNOWN: 500,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 412,
  ABORTED: 409,
  OUT_OF_RANGE: 400,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DATA_LOSS: 500,
  UNAUTHENTICATED: 401,
};

/** The HTTP status of an error: the refusal's own, or else the one of its code. */
export function httpStatusOf({ code, refusal }: CallError): number {
  return refusal.httpStatus ?? httpStatuses[code];
}

/** The JSON body of an error. */
export function errorBody(error: CallError): string {
  return JSON.stringify({ error: errorObject(error) });
}

/** An error as JSON; all four fields are always present. */
export function errorObject(error: CallError) {
  return {
    code: httpStatusOf(error),
    codeType: error.reason,
    message: error.message,
    details: errorDetails(error).map(detailJson),
  };
}

function detailJson({ type, ...detail }: ErrorDetail): Record<string, unknown> {
  const json = { "@type": `type.googleapis.com/${type}`, ...detail };
  if (!("retryDelaySeconds" in json)) return json;
  return { "@type": json["@type"], retryDelay: `${json.retryDelaySeconds}s` };
}
