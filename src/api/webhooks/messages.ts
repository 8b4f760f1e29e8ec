import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  ListWebhookMessagesRequest,
  ListWebhookMessagesResponseSchema,
} from "../../../gen/signpost/v1/webhooks_service_pb.js";
import { answerBytesMax } from "../../lib/paging/fill-page.ts";
import { contentsOf } from "../../outbox/message-body.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { completedSteps } from "./messages-queries.ts";

/** The most bytes of all bodies together; in JSON, each quotation mark takes two. */
const bodiesBytesMax = answerBytesMax / 2;

/** The messages that a webhook would get about steps since a time. */
export async function listMessages(
  { now, shortUrl }: Pick<Deps, "now" | "shortUrl">,
  { since }: ListWebhookMessagesRequest,
  context: Context,
): Promise<MessageInitShape<typeof ListWebhookMessagesResponseSchema>> {
  const { workspaceId } = callerOf(context);
  const from = since === undefined ? now() : timestampDate(since);
  const steps = await completedSteps(context.db, workspaceId, from);
  const contents = await contentsOf(
    context.db,
    steps.map((step) => ({ workspaceId, ...step })),
    shortUrl,
  );
  let bytes = 0;
  const messages = steps.flatMap(({ id }, place) => {
    const body = contents[place]?.body;
    bytes += body === undefined ? 0 : Buffer.byteLength(body);
    return body === undefined || bytes > bodiesBytesMax ? [] : [{ id, body }];
  });
  return { messages };
}
