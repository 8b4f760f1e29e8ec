import { getOption } from "@bufbuild/protobuf";
import { ApiScope, ApiScopeSchema, scope_description } from "../../../gen/signpost/options/v1/access_pb.js";
import { ApiScopeAccess } from "../../../gen/signpost/v1/api_scope_pb.js";
import type { ApiScopesService } from "../../../gen/signpost/v1/api_scopes_service_pb.js";
import { scopeName, scopeParts } from "../../model/scope.ts";
import type { Handlers } from "../../rpc/handlers.ts";

/** Lists the scopes that the proto enum declares, which is the only list of scopes. */
export function apiScopesService(): Handlers<typeof ApiScopesService> {
  const scopes = ApiScopeSchema.values
    .filter((value) => value.number !== ApiScope.UNSPECIFIED)
    .map((value) => {
      const name = scopeName(value.name);
      const { resource, mayWrite } = scopeParts(name);
      return {
        // The number belongs to a value of this enum.
        scope: value.number as ApiScope,
        name,
        resource,
        access: mayWrite ? ApiScopeAccess.WRITE : ApiScopeAccess.READ,
        description: getOption(value, scope_description),
      };
    })
    .sort((a, b) => (a.resource === b.resource ? a.access - b.access : a.resource < b.resource ? -1 : 1));
  return {
    async list() {
      return { scopes };
    },
  };
}
