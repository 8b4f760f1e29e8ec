import { type CallError, fail } from "../../lib/errors.ts";

/** The refusal of a call that names a record which is not there, by the field that names it. */
export function notFound(what: string, field: string, id: string, place = "in this workspace"): CallError {
  return fail("NOT_FOUND", "NOT_FOUND", `${field}: there is no ${what} ${id} ${place}`);
}
