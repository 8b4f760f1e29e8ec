import { create } from "@bufbuild/protobuf";
import { WebhookSchema, WebhookStatus } from "../../../gen/signpost/v1/webhook_pb.js";
import type { WebhooksService } from "../../../gen/signpost/v1/webhooks_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { readPage } from "../../lib/paging/page.ts";
import { callerOf, type Handlers } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { createWebhook, type WebhookDeps } from "./create-webhook.ts";
import { listWebhookDeliveries, resendDelivery, sendTest } from "./deliveries.ts";
import { toDelivery } from "./delivery-message.ts";
import { toWebhook } from "./message.ts";
import { listMessages } from "./messages.ts";
import { countWebhooks, findWebhook, listWebhooks, type WebhookStatus as StatusName } from "./queries.ts";
import { queueReplay } from "./replay.ts";
import { updateWebhook } from "./update-webhook.ts";
import { deleteWebhook } from "./writes.ts";

export function webhooksService(
  deps: WebhookDeps & Pick<Deps, "jobCall" | "shortUrl">,
): Handlers<typeof WebhooksService> {
  return {
    create: createWebhook(deps),
    update: updateWebhook(deps),

    async get({ id }, context) {
      const row = await findWebhook(context.db, callerOf(context).workspaceId, id);
      if (row === undefined) throw notFound("webhook", "id", id);
      return { webhook: toWebhook(row) };
    },

    async list(request, context) {
      const { workspaceId } = callerOf(context);
      const filter = { workspaceId, status: statusName(request.status) };
      const page = readPage(request, { key: "time", sort: "webhooks newest first", filters: filter });
      const [rows, totalCount] = await Promise.all([
        listWebhooks(context.db, filter, page),
        countWebhooks(context.db, filter),
      ]);
      const { records, nextPageToken } = await fillPage(page, {
        rows,
        edgeOf: ({ created_at, id }) => ({ key: created_at, id }),
        recordOf: (row) => create(WebhookSchema, toWebhook(row)),
        write: (webhook) => context.writeRecord(WebhookSchema, webhook),
      });
      return { webhooks: records, nextPageToken, totalCount };
    },

    listDeliveries: (request, context) => listWebhookDeliveries(deps, request, context),

    async resendDelivery({ id, deliveryId }, context) {
      const place = { workspaceId: callerOf(context).workspaceId, id };
      return { delivery: toDelivery(await resendDelivery(context.db, place, deliveryId, deps.now())) };
    },

    replayDeliveries: (request, context) => queueReplay(deps, request, context),

    listMessages: (request, context) => listMessages(deps, request, context),

    async sendTest({ id }, context) {
      const place = { workspaceId: callerOf(context).workspaceId, id };
      return { delivery: toDelivery(await sendTest(context.db, place, deps.now())) };
    },

    async delete({ id }, context) {
      const { workspaceId } = callerOf(context);
      const isDeleted = await inTransaction(context.db, (tx) => deleteWebhook(tx, workspaceId, id));
      if (!isDeleted) throw notFound("webhook", "id", id);
      return {};
    },
  };
}

/** The bare name of a status to filter by. The rules let no unknown one through. */
function statusName(status: WebhookStatus): StatusName | undefined {
  return status === WebhookStatus.UNSPECIFIED ? undefined : (WebhookStatus[status] as StatusName);
}
