import type { Db } from "../../db/open.ts";
import { type CallError, fail } from "../../lib/errors.ts";
import type { Caller } from "../../rpc/handlers.ts";
import { countTokensUpTo } from "./queries.ts";

/** Throws when a token with these scopes could do more than its maker. Without scopes, the token has full access. */
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

/** The refusal of a call about a token that is revoked or missing from the workspace. */
export function noSuchToken(id: string): CallError {
  return fail("NOT_FOUND", "NOT_FOUND", `there is no active token ${id}`);
}

const tokensMax = 1_000;
const dayMs = 24 * 3_600_000;

/**
 * Throws LIMIT_REACHED when a workspace has too many tokens, or makes too many in a day. Every process remembers every
 * revoked token, because tokens do not expire, so their number must be bounded. Calls at the same time may exceed the
 * limit by a few.
 */
export async function checkRoom(db: Db, workspaceId: string, at: Date): Promise<void> {
  const since = new Date(at.getTime() - dayMs);
  const { active, made } = await countTokensUpTo(db, workspaceId, { since, max: tokensMax });
  if (active >= tokensMax)
    throw fail(
      "RESOURCE_EXHAUSTED",
      "LIMIT_REACHED",
      `a workspace has at most ${tokensMax} tokens: revoke some first`,
    );
  if (made >= tokensMax)
    throw fail(
      "RESOURCE_EXHAUSTED",
      "LIMIT_REACHED",
      `a workspace makes at most ${tokensMax} tokens in 24 hours: use one for longer`,
      { retryAfterSeconds: 3_600 },
    );
}
