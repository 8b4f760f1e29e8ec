import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CreateWebhookRequest,
  CreateWebhookResponseSchema,
} from "../../../gen/signpost/v1/webhooks_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { newId } from "../../lib/ids.ts";
import { callerOf, inTwoParts } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { checkPlanRoom } from "../resources/room-queries.ts";
import { sourceOf, toWebhook, triggersOf } from "./message.ts";
import { findWebhook, hasLink } from "./queries.ts";
import { checkEndpoint } from "./rules.ts";
import { makeSecret } from "./secrets.ts";
import { insertWebhook } from "./writes.ts";

export type WebhookDeps = Pick<Deps, "addressFaultOf" | "entitlements" | "now" | "webhookSecretKey">;

type Answer = MessageInitShape<typeof CreateWebhookResponseSchema>;

/** Makes a webhook. Its secret is shown in this answer and never again. */
export function createWebhook(deps: WebhookDeps) {
  return inTwoParts<CreateWebhookRequest, Answer>(async (request, context) => {
    await checkEndpoint(deps, request.endpointUrl, context);
    const { workspaceId, memberId } = callerOf(context);
    const { linkId } = request;
    return (db) =>
      inTransaction(db, async (tx) => {
        if (linkId !== "" && !(await hasLink(tx, workspaceId, linkId)))
          throw notFound("link", "linkId", linkId);
        await checkPlanRoom(tx, deps, workspaceId, "WEBHOOKS");
        const at = deps.now();
        const key = { workspace_id: workspaceId, id: newId(at) };
        const secret = makeSecret(deps.webhookSecretKey, key);
        const webhook = {
          ...key,
          name: request.name,
          endpoint_url: request.endpointUrl,
          source: sourceOf(request.source) ?? ("API" as const),
          secret: secret.sealed,
          created_by: memberId ?? null,
          created_at: at,
          updated_at: at,
        };
        const triggers = triggersOf(request.triggers);
        await insertWebhook(tx, webhook, { linkId: linkId || null, triggers });
        const row = await findWebhook(tx, workspaceId, key.id);
        return { ...(row && { webhook: toWebhook(row) }), signingSecret: secret.text };
      });
  });
}
