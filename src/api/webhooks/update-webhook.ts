import { isDeepStrictEqual } from "node:util";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { WebhookStatus } from "../../../gen/signpost/v1/webhook_pb.js";
import type {
  UpdateWebhookRequest,
  UpdateWebhookResponseSchema,
} from "../../../gen/signpost/v1/webhooks_service_pb.js";
import { type Db, inTransaction } from "../../db/open.ts";
import { invalid } from "../../lib/errors.ts";
import { fieldsToChange } from "../../lib/field-mask.ts";
import { changeSubscriber, type SubscriberChange } from "../../outbox/subscribers.ts";
import { callerOf, inTwoParts } from "../../rpc/handlers.ts";
import { notFound } from "../resources/not-found.ts";
import type { WebhookDeps } from "./create-webhook.ts";
import { sourceOf, toWebhook, triggersOf } from "./message.ts";
import { findWebhook, hasLink, lockWebhook, type WebhookRow } from "./queries.ts";
import { checkEndpoint } from "./rules.ts";
import { makeSecret } from "./secrets.ts";
import { changeWebhook } from "./writes.ts";

type Answer = MessageInitShape<typeof UpdateWebhookResponseSchema>;

/** What changes, by column; an undefined column stays. */
type Wanted = Partial<
  Pick<WebhookRow, "name" | "endpoint_url" | "source" | "status" | "link_id" | "triggers">
>;

/** How long the secret before the present one signs along. */
const previousSecretMs = 24 * 3_600_000;

/** Changes, pauses or resumes a webhook, or gives it a new secret. The same values again change nothing. */
export function updateWebhook(deps: WebhookDeps) {
  return inTwoParts<UpdateWebhookRequest, Answer>(async (request, context) => {
    const { workspaceId } = callerOf(context);
    const { wanted, rotates } = readWanted(request);
    if (wanted.endpoint_url !== undefined) await checkEndpoint(deps, wanted.endpoint_url, context);
    return (db) =>
      inTransaction(db, async (tx) => {
        const before = await lockWebhook(tx, workspaceId, request.id);
        if (before === undefined) throw notFound("webhook", "id", request.id);
        const linkId = wanted.link_id ?? before.link_id;
        if (linkId !== null && linkId !== before.link_id && !(await hasLink(tx, workspaceId, linkId)))
          throw notFound("link", "linkId", linkId);
        const at = deps.now();
        const secret = rotates ? makeSecret(deps.webhookSecretKey, before) : undefined;
        const after = await writeChanges(tx, before, { wanted, sealed: secret?.sealed, at });
        return { webhook: toWebhook(after), ...(secret && { signingSecret: secret.text }) };
      });
  });
}

async function writeChanges(
  tx: Db,
  before: WebhookRow,
  { wanted, sealed, at }: { readonly wanted: Wanted; readonly sealed: Buffer | undefined; readonly at: Date },
): Promise<WebhookRow> {
  const after = { ...before, ...wanted };
  if (sealed === undefined && isDeepStrictEqual(after, before)) return before;
  const { name, endpoint_url, source, status, link_id, triggers } = after;
  await changeWebhook(tx, before, {
    ...{ name, endpoint_url, source, updated_at: at },
    ...(sealed && {
      secret: sealed,
      previous_secret: before.secret,
      previous_secret_until: new Date(at.getTime() + previousSecretMs),
    }),
  });
  const key = { workspaceId: before.workspace_id, subscriberId: before.id };
  // One that was disabled begins anew before it pauses, or else its old failures would count again.
  if (before.status === "DISABLED" && status === "PAUSED")
    await changeSubscriber(tx, key, { status: "ACTIVE" }, at);
  const change: SubscriberChange = {
    ...(status !== before.status && { status }),
    ...(link_id !== before.link_id && { linkId: link_id }),
    triggers,
  };
  await changeSubscriber(tx, key, change, at);
  return (await findWebhook(tx, before.workspace_id, before.id)) ?? before;
}

function readWanted(request: UpdateWebhookRequest): { readonly wanted: Wanted; readonly rotates: boolean } {
  const { name, endpointUrl, status, linkId, triggers, source, rotateSecret, updateMask } = request;
  const given = fieldsToChange(
    {
      ...{ name, endpoint_url: endpointUrl, status, link_id: linkId, triggers, source },
      rotate_secret: rotateSecret,
    },
    updateMask?.paths,
  );
  const empty = [
    ...(given.has("name") && name === "" ? ["name"] : []),
    ...(given.has("endpoint_url") && endpointUrl === "" ? ["endpointUrl"] : []),
  ];
  if (empty.length > 0) throw invalid(empty.map((field) => ({ field, description: "must not be empty" })));
  const newSource = sourceOf(source);
  const newStatus = statusOf(status);
  return {
    wanted: {
      ...(given.has("name") && { name }),
      ...(given.has("endpoint_url") && { endpoint_url: endpointUrl }),
      ...(given.has("source") && newSource && { source: newSource }),
      ...(given.has("status") && newStatus && { status: newStatus }),
      ...(given.has("link_id") && { link_id: linkId || null }),
      ...(given.has("triggers") && { triggers: triggersOf(triggers) }),
    },
    rotates: given.has("rotate_secret") && rotateSecret,
  };
}

/** The bare name of a status that callers set; the rules let DISABLED not through. */
export function statusOf(status: WebhookStatus): "ACTIVE" | "PAUSED" | undefined {
  if (status === WebhookStatus.ACTIVE) return "ACTIVE";
  return status === WebhookStatus.PAUSED ? "PAUSED" : undefined;
}
