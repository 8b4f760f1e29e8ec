import { create } from "@bufbuild/protobuf";
import { WorkspaceTokenSchema } from "../../../gen/signpost/v1/workspace_token_pb.js";
import type { WorkspaceTokensService } from "../../../gen/signpost/v1/workspace_tokens_service_pb.js";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { readPage } from "../../lib/paging/page.ts";
import type { SignToken } from "../../model/token.ts";
import { callerOf, type Handlers } from "../../rpc/handlers.ts";
import { fromKeyType, namesOf, toWorkspaceToken } from "../resources/workspace-token.ts";
import { issueToken } from "./issue-token.ts";
import { countTokens, findToken, listTokens, revokeToken } from "./queries.ts";
import { checkHeld, checkRoom, noSuchToken } from "./rules.ts";
import { type UpdatedToken, updateToken } from "./update-token.ts";

export interface WorkspaceTokensDeps {
  readonly now: () => Date;
  readonly signToken: SignToken;
  /** Makes a revocation count in this process before the database announces it. */
  readonly onRevoked: (tokenId: string) => void;
  /** Makes changed scopes count in this process, once their transaction has committed. */
  readonly onScopesChanged: (change: NonNullable<UpdatedToken["change"]>) => void;
}

export function workspaceTokensService(deps: WorkspaceTokensDeps): Handlers<typeof WorkspaceTokensService> {
  const { now, signToken, onRevoked, onScopesChanged } = deps;
  return {
    async list(request, context) {
      const { workspaceId } = callerOf(context);
      const page = readPage(request, { key: "time", sort: "tokens newest first", filters: { workspaceId } });
      const [rows, totalCount] = await Promise.all([
        listTokens(context.db, workspaceId, page),
        countTokens(context.db, workspaceId),
      ]);
      const { records, nextPageToken } = await fillPage(page, {
        rows,
        edgeOf: (row) => ({ key: row.created_at, id: row.id }),
        recordOf: (row) => create(WorkspaceTokenSchema, toWorkspaceToken(row)),
        write: (token) => context.writeRecord(WorkspaceTokenSchema, token),
      });
      return { tokens: records, nextPageToken, totalCount };
    },

    async get({ id }, context) {
      const token = await findToken(context.db, callerOf(context).workspaceId, id);
      if (token === undefined) throw noSuchToken(id);
      return { token: toWorkspaceToken(token) };
    },

    async create(request, context) {
      const caller = callerOf(context);
      const keyType = fromKeyType(request.keyType);
      const scopes = namesOf(request.scopes);
      if (keyType === "SECRET") checkHeld(caller, scopes);
      await checkRoom(context.db, caller.workspaceId, now());
      const { token, accessToken } = await issueToken(
        { db: context.db, now, signToken },
        {
          workspaceId: caller.workspaceId,
          keyType,
          environment: caller.sandbox ? "test" : "live",
          name: request.name,
          scopes,
          createdBy: caller.memberId,
        },
      );
      return { accessToken, token: toWorkspaceToken(token) };
    },

    async update(request, context) {
      const { token, change } = await updateToken(context.db, request, { caller: callerOf(context), now });
      const answer = { token: toWorkspaceToken(token) };
      if (change !== undefined) {
        // Not before the commit: scopes that were rolled back must not count.
        context.afterCommit(async () => {
          onScopesChanged(change);
          return answer;
        });
      }
      return answer;
    },

    async delete({ id }, context) {
      if (!(await revokeToken(context.db, callerOf(context).workspaceId, id, now()))) throw noSuchToken(id);
      onRevoked(id);
      return {};
    },
  };
}
