const form = /^[A-Za-z0-9_-]{1,128}$/;

/** The caller's `x-request-id` where it has the form that is reused, else a new one. */
export function requestIdOf(given: unknown, newRequestId: () => string): string {
  return typeof given === "string" && form.test(given) ? given : newRequestId();
}
