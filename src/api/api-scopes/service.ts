import { getOption } from "@bufbuild/protobuf";
import { ApiScope, ApiScopeSchema, scope_description } from "../../../gen/signpost/options/v1/access_pb.js";
import type { ApiScopesService } from "../../../gen/signpost/v1/api_scopes_service_pb.js";
import { isWriteScope, scopeName } from "../../model/scope.ts";
import type { Handlers } from "../../rpc/handlers.ts";

/** Lists what the access option declares; nothing else knows the scopes. */
export function apiScopesService(): Handlers<typeof ApiScopesService> {
  const scopes = ApiScopeSchema.values
    .filter((value) => value.number !== ApiScope.UNSPECIFIED)
    .map((value) => {
      const name = scopeName(value.name);
      return { name, description: getOption(value, scope_description), write: isWriteScope(name) };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    async list() {
      return { scopes };
    },
  };
}
