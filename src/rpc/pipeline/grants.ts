import { everyScope, heldScopes } from "../../model/scope.ts";
import { apiScopes } from "../access.ts";

/** What a credential may do. */
export interface Grant {
  /** Public names, such as `links:read`. */
  readonly scopes: ReadonlySet<string>;
  /** Every operation, those of later versions too, and what needs full access beside a scope. */
  readonly fullAccess: boolean;
}

const fullGrant: Grant = { scopes: apiScopes, fullAccess: true };

/** The grant that a token's scope text stands for; names of scopes that are no more count for nothing. */
export function grantOf(scope: string): Grant {
  if (scope === everyScope) return fullGrant;
  return { scopes: new Set(heldScopes(scope).filter((name) => apiScopes.has(name))), fullAccess: false };
}
