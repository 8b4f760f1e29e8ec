import { everyScope, heldScopes } from "../../model/scope.ts";
import { apiScopes } from "../access.ts";

/** What a credential may do. */
export interface Grant {
  /** Public names, such as `links:read`. */
  readonly scopes: ReadonlySet<string>;
  /**
   * Allows every operation, including those of later versions and those that need full access in addition to a scope.
   */
  readonly fullAccess: boolean;
}

const fullGrant: Grant = { scopes: apiScopes, fullAccess: true };

/** Parses a token's scope text into a grant; scope names that no longer exist are ignored. */
export function grantOf(scope: string): Grant {
  if (scope === everyScope) return fullGrant;
  return { scopes: new Set(heldScopes(scope).filter((name) => apiScopes.has(name))), fullAccess: false };
}
