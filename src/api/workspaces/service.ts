import type { WorkspacesService } from "../../../gen/signpost/v1/workspaces_service_pb.js";
import { deleteWorkspace } from "../../db/end-workspaces.ts";
import { fail } from "../../lib/errors.ts";
import { callerOf, type Handlers, withCheck } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { toPublicWorkspace, toWorkspace } from "../resources/workspace.ts";
import { requestEnrollment } from "./enrollment.ts";
import { findPublicWorkspace, findWorkspace } from "./queries.ts";
import { checkAdministrator, noSuchWorkspace } from "./rules.ts";
import { updateFaults, updateWorkspace } from "./update-workspace.ts";
import { keepText } from "./writes.ts";

export interface WorkspacesDeps extends Pick<Deps, "now" | "jobCalls" | "approvesEnrollment"> {
  /** Makes a revocation count in this process before the database announces it. */
  readonly onRevoked: (workspaceId: string) => void;
}

export function workspacesService(deps: WorkspacesDeps): Handlers<typeof WorkspacesService> {
  const { now, jobCalls, approvesEnrollment, onRevoked } = deps;
  return {
    update: withCheck(updateFaults, (request, context) => updateWorkspace(deps, request, context)),

    async getMyWorkspace(_request, context) {
      const { workspaceId } = callerOf(context);
      const row = await findWorkspace(context.db, workspaceId, workspaceId);
      if (row === undefined) throw noSuchWorkspace(workspaceId);
      return { workspace: toWorkspace(row) };
    },

    async getWorkspace({ id }, context) {
      const row = await findWorkspace(context.db, id, callerOf(context).workspaceId);
      if (row === undefined) throw noSuchWorkspace(id);
      return { workspace: toWorkspace(row) };
    },

    async publicGetWorkspace({ slug }, context) {
      const row = await findPublicWorkspace(context.db, slug);
      if (row === undefined)
        throw fail("NOT_FOUND", "NOT_FOUND", `slug: no public workspace has it: ${slug}`);
      return { publicWorkspace: toPublicWorkspace(row) };
    },

    async updateOriginInquiry({ originInquiry }, context) {
      await keepText(context.db, callerOf(context).workspaceId, { origin_inquiry: originInquiry });
      return {};
    },

    async updateOriginPurpose({ originPurpose }, context) {
      await keepText(context.db, callerOf(context).workspaceId, { origin_purpose: originPurpose });
      return {};
    },

    async requestEnrollment({ message }, context) {
      const wish = { message, at: now(), isApproved: approvesEnrollment };
      await requestEnrollment(context.db, callerOf(context).workspaceId, wish);
      return {};
    },

    async delete(_request, context) {
      const caller = callerOf(context);
      checkAdministrator(caller, "delete the workspace");
      const { workspaceId } = caller;
      const ended = await deleteWorkspace(context.db, { workspaceId, at: now(), jobCalls });
      if (ended.length === 0) throw noSuchWorkspace(workspaceId);
      for (const id of ended) onRevoked(id);
      return {};
    },
  };
}
