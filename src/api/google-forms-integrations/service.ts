import { GoogleFormsIntegrationStatus } from "../../../gen/signpost/v1/google_forms_integration_pb.js";
import type { GoogleFormsIntegrationsService } from "../../../gen/signpost/v1/google_forms_integrations_service_pb.js";
import { type Db, inTransaction } from "../../db/open.ts";
import { findFormLinks, knownForms } from "../../integrations/google-forms/find-forms.ts";
import type { Google } from "../../integrations/google-forms/google.ts";
import { invalidArgument } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { callerOf, type Handlers, inTwoParts, withCheck } from "../../rpc/handlers.ts";
import type { Deps, IntegrationDeps } from "../deps.ts";
import { toDetectedForms, toIntegration } from "./message.ts";
import {
  deleteIntegration,
  findIntegration,
  type IntegrationRow,
  replaceIntegration,
  setStatus,
} from "./queries.ts";
import { redeemCode } from "./redeem-code.ts";
import { disconnected, notConfigured, notConnected } from "./refusals.ts";
import { syncNow } from "./sync-now.ts";

export interface GoogleFormsDeps extends Pick<Deps, "now" | "jobCall">, IntegrationDeps {
  /** Undefined when the operator has no client at Google. */
  readonly google: Google | undefined;
}

export function googleFormsIntegrationsService(
  deps: GoogleFormsDeps,
): Handlers<typeof GoogleFormsIntegrationsService> {
  const { now, jobCall, google, oauthStates, tokenBox } = deps;
  return {
    async get(_request, context) {
      const row = await findIntegration(context.db, callerOf(context).workspaceId);
      return row === undefined ? {} : { integration: toIntegration(row) };
    },

    async getOAuthURL(_request, context) {
      if (google === undefined) throw notConfigured();
      const state = await oauthStates.make("google-forms", callerOf(context));
      return { oauthUrl: await google.authorizationUrl(state) };
    },

    completeOAuth: inTwoParts(async ({ code, state }, context) => {
      const caller = callerOf(context);
      const { workspaceId, memberId = null } = caller;
      await oauthStates.check(state, "google-forms", caller);
      if (google === undefined) throw notConfigured();
      const { refreshToken, subject, email } = await redeemCode(google, code, state);
      return (db) =>
        inTransaction(db, async (tx) => {
          const at = now();
          const id = newId(at);
          const place = { kind: "google-forms", workspaceId, integrationId: id } as const;
          const made = {
            workspace_id: workspaceId,
            id,
            google_email: email,
            google_subject: subject,
            refresh_token: tokenBox.seal(refreshToken, place),
            created_by: memberId,
          };
          await replaceIntegration(tx, jobCall, made, at);
          return { integration: toIntegration(await connected(tx, workspaceId)) };
        });
    }),

    async listDetectedForms(_request, context) {
      const { workspaceId } = callerOf(context);
      const [links, known] = await Promise.all([
        findFormLinks(context.db, workspaceId),
        knownForms(context.db, workspaceId),
      ]);
      return { forms: toDetectedForms(links, known) };
    },

    syncNow: inTwoParts(async (_request, context) => {
      const applied = await syncNow(deps, context);
      return async () => applied;
    }),

    update: withCheck(
      ({ status }) =>
        status === GoogleFormsIntegrationStatus.UNSPECIFIED ? [invalidArgument("status", settable)] : [],
      async ({ status }, context) => {
        const { workspaceId } = callerOf(context);
        return inTransaction(context.db, async (tx) => {
          const { status: stored } = await connected(tx, workspaceId);
          if (stored === "DISCONNECTED") throw disconnected();
          const wanted = status === GoogleFormsIntegrationStatus.ACTIVE ? "ACTIVE" : "PAUSED";
          await setStatus(tx, workspaceId, wanted, now());
          return { integration: toIntegration(await connected(tx, workspaceId)) };
        });
      },
    ),

    async delete(_request, context) {
      if (!(await deleteIntegration(context.db, jobCall, callerOf(context).workspaceId)))
        throw notConnected();
      return {};
    },
  };
}

const settable = "must be GOOGLE_FORMS_INTEGRATION_STATUS_ACTIVE or GOOGLE_FORMS_INTEGRATION_STATUS_PAUSED";

async function connected(db: Db, workspaceId: string): Promise<IntegrationRow> {
  const row = await findIntegration(db, workspaceId);
  if (row === undefined) throw notConnected();
  return row;
}
