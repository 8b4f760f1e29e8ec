const form = /^[A-Za-z0-9_-]{1,128}$/;

/** Returns the caller's `x-request-id` if it is well-formed, or else a new id. */
export function requestIdOf(given: unknown, newRequestId: () => string): string {
  return typeof given === "string" && form.test(given) ? given : newRequestId();
}
