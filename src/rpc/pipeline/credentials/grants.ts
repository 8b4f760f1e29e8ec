import type { MemberRole } from "../../../../gen/database.ts";
import { everyScope, heldScopes } from "../../../model/scope.ts";
import { apiScopes } from "../../access.ts";

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

/** The scopes that only administrators hold. */
const ofAdmins: ReadonlySet<string> = new Set(["members:write", "tokens:write", "billing:write"]);

const apiScopeNames = [...apiScopes];

/** What a member may do: each role equals a scope set (behaviour 2.4). */
export const roleGrants: Readonly<Record<MemberRole, Grant>> = {
  ADMIN: fullGrant,
  TECH: { scopes: new Set(apiScopeNames.filter((name) => !ofAdmins.has(name))), fullAccess: false },
  VIEWER: { scopes: new Set(apiScopeNames.filter((name) => name.endsWith(":read"))), fullAccess: false },
};
