import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { GrantsService } from "../../../gen/signpost/v1/grants_service_pb.js";
import { grantsMax } from "../../model/grants.ts";
import { endGrants, listGrants } from "../../oauth/grants.ts";
import { type Caller, type Context, callerOf, type Handlers } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { scopesOfText } from "../resources/workspace-token.ts";

export interface GrantsDeps {
  /** Makes the end of a grant effective in this process; call it once the transaction has committed. */
  readonly onRevoked: (grantId: string) => void;
}

export function grantsService({
  now,
  onRevoked,
}: Pick<Deps, "now"> & GrantsDeps): Handlers<typeof GrantsService> {
  return {
    async list(_request, context) {
      const rows = await listGrants(context.db, memberOf(context), { at: now(), limit: grantsMax });
      const grants = rows.map((row) => ({
        id: row.id,
        clientId: row.client_id,
        clientName: row.client_name,
        scopes: scopesOfText(row.scope),
        createdAt: timestampFromDate(row.created_at),
        lastTokenAt: timestampFromDate(row.used_at),
      }));
      return { grants };
    },

    async revoke({ id }, context) {
      const [ended] = await endGrants(context.db, { ...memberOf(context), grantId: id }, now());
      if (ended === undefined) throw notFound("grant", "id", id);
      context.afterCommit(async () => {
        onRevoked(ended);
        return {};
      });
      return {};
    },
  };
}

function memberOf(context: Context): Required<Pick<Caller, "workspaceId">> & { readonly memberId: string } {
  const { workspaceId, memberId } = callerOf(context);
  if (memberId === undefined) throw new Error("a call for members has no member");
  return { workspaceId, memberId };
}
