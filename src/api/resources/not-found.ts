import { type CallError, fail } from "../../lib/errors.ts";

/** Makes the refusal of a call that names a missing record in the field `field`. */
export function notFound(what: string, field: string, id: string, place = "in this workspace"): CallError {
  return fail("NOT_FOUND", "NOT_FOUND", `${field}: there is no ${what} ${id} ${place}`);
}
