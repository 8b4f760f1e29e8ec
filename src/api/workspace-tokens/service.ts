import { create } from "@bufbuild/protobuf";
import { WorkspaceTokenSchema } from "../../../gen/signpost/v1/workspace_token_pb.js";
import type { WorkspaceTokensService } from "../../../gen/signpost/v1/workspace_tokens_service_pb.js";
import type { Db } from "../../db/open.ts";
import { type CallError, fail, invalid } from "../../lib/errors.ts";
import { fillPage } from "../../lib/fill-page.ts";
import { readPage } from "../../lib/page.ts";
import type { SignToken } from "../../model/token.ts";
import { callerOf, type Handlers } from "../../rpc/handlers.ts";
import { issueToken } from "./issue-token.ts";
import { fromKeyType, toWorkspaceToken } from "./message.ts";
import { countTokens, countTokensUpTo, findToken, listTokens, renameToken, revokeToken } from "./queries.ts";

export interface WorkspaceTokensDeps {
  readonly now: () => Date;
  readonly signToken: SignToken;
  /** Makes a revocation count in this process before it comes back from the database. */
  readonly onRevoked: (tokenId: string) => void;
}

export function workspaceTokensService(deps: WorkspaceTokensDeps): Handlers<typeof WorkspaceTokensService> {
  const { now, signToken, onRevoked } = deps;
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
      const { workspaceId, memberId, sandbox } = callerOf(context);
      const keyType = fromKeyType(request.keyType);
      if (keyType === undefined)
        throw invalid([{ field: "keyType", description: "is required: give it a value" }]);
      await checkRoom(context.db, workspaceId, now());
      const { token, accessToken } = await issueToken(
        { db: context.db, now, signToken },
        {
          workspaceId,
          keyType,
          environment: sandbox ? "test" : "live",
          name: request.name,
          createdBy: memberId,
        },
      );
      return { accessToken, token: toWorkspaceToken(token) };
    },

    async update({ id, name, updateMask }, context) {
      const { workspaceId } = callerOf(context);
      const paths = updateMask?.paths ?? [];
      const unknown = paths.filter((path) => path !== "name");
      if (unknown.length > 0) {
        throw invalid([
          { field: "updateMask", description: `only name can change, not ${unknown.join(", ")}` },
        ]);
      }
      if (paths.length > 0 && name === "")
        throw invalid([{ field: "name", description: "must have at least 1 character" }]);
      const token =
        name === ""
          ? await findToken(context.db, workspaceId, id)
          : await renameToken(context.db, { workspaceId, id, name, now: now() });
      if (token === undefined) throw noSuchToken(id);
      return { token: toWorkspaceToken(token) };
    },

    async delete({ id }, context) {
      if (!(await revokeToken(context.db, callerOf(context).workspaceId, id, now()))) throw noSuchToken(id);
      onRevoked(id);
      return {};
    },
  };
}

const tokensMax = 1_000;
const dayMs = 24 * 3_600_000;

/**
 * Every process remembers every revoked token, because tokens do not expire: so a workspace may not make and revoke them
 * without end. Calls at the same time may go a few beyond.
 */
async function checkRoom(db: Db, workspaceId: string, at: Date): Promise<void> {
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

function noSuchToken(id: string): CallError {
  return fail("NOT_FOUND", "NOT_FOUND", `there is no active token ${id}`);
}
