import { type CallError, fail } from "../../lib/errors.ts";
import type { Caller } from "../../rpc/handlers.ts";

/** Throws when a token with these scopes, or with full access where there are none, could do more than its maker. */
export function checkHeld({ scopes, fullAccess }: Caller, names: readonly string[]): void {
  const missing = names.filter((name) => !scopes.has(name));
  if (missing.length > 0) throw notHeld(missing.join(" "), `you do not hold ${missing.join(", ")}`);
  if (names.length === 0 && !fullAccess) throw notHeld("", "you do not have full access");
}

function notHeld(scope: string, what: string): CallError {
  return fail("PERMISSION_DENIED", "SCOPE_NOT_HELD", `scopes: ${what}; grant only scopes that you hold`, {
    ...(scope === "" ? {} : { metadata: { scope } }),
  });
}

/** The refusal of a call about a token that is revoked, or none of the workspace. */
export function noSuchToken(id: string): CallError {
  return fail("NOT_FOUND", "NOT_FOUND", `there is no active token ${id}`);
}
