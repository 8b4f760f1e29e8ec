import type { SandboxesService } from "../../../gen/signpost/v1/sandboxes_service_pb.js";
import { deleteWorkspace } from "../../db/end-workspaces.ts";
import type { SimulateVisits } from "../../model/simulated-visits.ts";
import type { SignToken } from "../../model/token.ts";
import { callerOf, type Handlers, inTwoParts } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { toWorkspaceToken } from "../resources/workspace-token.ts";
import { createSandbox } from "./create-sandbox.ts";
import { toSandbox } from "./message.ts";
import { hasSandbox, listSandboxes } from "./queries.ts";
import { simulateVisits } from "./simulate-visits.ts";

export interface SandboxesDeps extends Pick<Deps, "now" | "jobCalls"> {
  readonly simulateVisits: SimulateVisits;
  readonly signToken: SignToken;
  /** Makes a revocation count in this process before the database announces it. */
  readonly onRevoked: (workspaceId: string) => void;
}

export function sandboxesService(deps: SandboxesDeps): Handlers<typeof SandboxesService> {
  const { now, jobCalls, signToken, onRevoked } = deps;
  return {
    async create({ name }, context) {
      const order = { caller: callerOf(context), signToken, at: now() };
      const { sandbox, token, accessToken } = await createSandbox(context.db, name, order);
      return { sandbox: toSandbox(sandbox), accessToken, token: toWorkspaceToken(token) };
    },

    async list(_request, context) {
      const rows = await listSandboxes(context.db, callerOf(context).workspaceId, now());
      return { sandboxes: rows.map(toSandbox), totalCount: BigInt(rows.length) };
    },

    async delete({ id }, context) {
      const at = now();
      const { workspaceId } = callerOf(context);
      const isTheirs = await hasSandbox(context.db, workspaceId, id, at);
      const [gone] = isTheirs ? await deleteWorkspace(context.db, { workspaceId: id, at, jobCalls }) : [];
      if (gone === undefined) throw notFound("sandbox", "id", id);
      onRevoked(gone);
      return {};
    },

    // The visits are stored beside the call's own transaction, so nothing waits in it.
    simulateVisits: inTwoParts(async (request, context) => {
      const answer = await simulateVisits(deps, request, context);
      return async () => answer;
    }),
  };
}
