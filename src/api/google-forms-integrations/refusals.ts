import { type CallError, fail } from "../../lib/errors.ts";

export function notConnected(): CallError {
  return fail("NOT_FOUND", "NOT_FOUND", "no Google account is connected: connect one first");
}

export function paused(): CallError {
  return fail(
    "FAILED_PRECONDITION",
    "INTEGRATION_NOT_ACTIVE",
    "the integration is paused: set its status to GOOGLE_FORMS_INTEGRATION_STATUS_ACTIVE first",
  );
}

export function disconnected(): CallError {
  return fail(
    "FAILED_PRECONDITION",
    "INTEGRATION_NOT_ACTIVE",
    "Google has ended the access to the account: connect it again",
  );
}

export function notConfigured(): CallError {
  return fail(
    "FAILED_PRECONDITION",
    "FAILED_PRECONDITION",
    "this service has no client at Google: its operator sets GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET",
  );
}

export function noAnswer(): CallError {
  return fail("UNAVAILABLE", "UNAVAILABLE", "Google did not answer; try again in a minute", {
    retryAfterSeconds: 60,
  });
}

export function tooManyRequests(retryAfterSeconds = 60): CallError {
  return fail(
    "RESOURCE_EXHAUSTED",
    "RATE_LIMITED",
    "Google allows no more requests for now; try again later",
    {
      retryAfterSeconds,
    },
  );
}
