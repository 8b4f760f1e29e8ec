import type { UpdateWorkspaceTokenRequest } from "../../../gen/signpost/v1/workspace_tokens_service_pb.js";
import { type Db, inTransaction } from "../../db/open.ts";
import { invalid } from "../../lib/errors.ts";
import { fieldsToChange } from "../../lib/field-mask.ts";
import { everyScope, scopeText } from "../../model/scope.ts";
import type { Caller } from "../../rpc/handlers.ts";
import { namesOf, type WorkspaceTokenRow } from "../resources/workspace-token.ts";
import { announceScopes, lockToken, writeToken } from "./queries.ts";
import { checkHeld, noSuchToken } from "./rules.ts";

/** A token after its change, and the change of its scopes. The change is undefined when the scopes stay. */
export interface UpdatedToken {
  readonly token: WorkspaceTokenRow;
  readonly change: { readonly tokenId: string; readonly scope: string; readonly version: number } | undefined;
}

/** Renames a token or changes its scopes. Values that are the same change nothing, not even `updated_at`. */
export function updateToken(
  db: Db,
  request: UpdateWorkspaceTokenRequest,
  { caller, now }: { readonly caller: Caller; readonly now: () => Date },
): Promise<UpdatedToken> {
  const { id } = request;
  const { name, scope } = changesOf(request, caller);
  return inTransaction(db, async (tx) => {
    const before = await lockToken(tx, caller.workspaceId, id);
    if (before === undefined) throw noSuchToken(id);
    if (scope !== undefined && before.key_type === "PUBLISHABLE") {
      const field = request.fullAccess ? "fullAccess" : "scopes";
      throw invalid([{ field, description: "a publishable token has no scopes; make a secret token" }]);
    }
    const after = { name: name ?? before.name, scope: scope ?? before.scope };
    const isChanged = after.scope !== before.scope;
    if (!isChanged && after.name === before.name) return { token: before, change: undefined };
    const token = await writeToken(tx, before, { ...after, updated_at: now() });
    if (!isChanged) return { token, change: undefined };
    const version = await announceScopes(tx, token);
    return { token, change: { tokenId: token.id, scope: token.scope, version } };
  });
}

/** The new name and the new scopes. Undefined when they stay. Throws when the caller may not grant the scopes. */
function changesOf(
  { name, scopes, fullAccess, updateMask }: UpdateWorkspaceTokenRequest,
  caller: Caller,
): { readonly name: string | undefined; readonly scope: string | undefined } {
  const fields = fieldsToChange({ name, scopes, full_access: fullAccess }, updateMask?.paths);
  const faults = [
    ...(fields.has("name") && name === ""
      ? [{ field: "name", description: "must have at least 1 character" }]
      : []),
    ...(fields.has("scopes") && scopes.length === 0
      ? [{ field: "scopes", description: "must name at least one scope; `fullAccess` grants every scope" }]
      : []),
  ];
  if (faults.length > 0) throw invalid(faults);
  const names = fields.has("scopes") ? namesOf(scopes) : [];
  const isFull = fields.has("full_access") && fullAccess;
  if (isFull || names.length > 0) checkHeld(caller, names);
  return {
    name: fields.has("name") ? name : undefined,
    scope: isFull ? everyScope : names.length > 0 ? scopeText(names) : undefined,
  };
}
