import { create } from "@bufbuild/protobuf";
import { WebhookSchema, WebhookStatus } from "../../../gen/signpost/v1/webhook_pb.js";
import type { WebhooksService } from "../../../gen/signpost/v1/webhooks_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { readPage } from "../../lib/paging/page.ts";
import { callerOf, type Handlers } from "../../rpc/handlers.ts";
import { notFound } from "../resources/not-found.ts";
import { createWebhook, type WebhookDeps } from "./create-webhook.ts";
import { toWebhook } from "./message.ts";
import { countWebhooks, findWebhook, listWebhooks, type WebhookStatus as StatusName } from "./queries.ts";
import { updateWebhook } from "./update-webhook.ts";
import { deleteWebhook } from "./writes.ts";

export function webhooksService(deps: WebhookDeps): Handlers<typeof WebhooksService> {
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
