import assert from "node:assert/strict";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "signpost-client";
import { WebhookStatus } from "signpost-client/v1/webhook";
import { given, refusalOf, until } from "./journey-support.ts";

/** Has messages sent to an address that is not there, sends them again, and deletes the webhook. */
export async function subscribe({ webhooks, jobs }: Client): Promise<void> {
  const since = timestampFromMs(Date.now() - 600_000);
  const refused = webhooks.create({ name: "Journey", endpointUrl: "https://10.0.0.1/hooks" });
  assert.equal(await refusalOf(refused), "INVALID_ENDPOINT_URL");
  const made = await webhooks.create({ name: "Journey", endpointUrl: "https://hooks.invalid/journey" });
  assert.match(given(made.signingSecret), /^whsec_/);
  const { id } = given(made.webhook);
  const changed = await webhooks.update({
    id,
    name: "Renamed",
    rotateSecret: true,
    updateMask: { paths: ["rotate_secret"] },
  });
  assert.notEqual(changed.signingSecret, made.signingSecret);
  assert.equal((await webhooks.get({ id })).webhook?.name, "Journey");
  const active = await webhooks.list({ status: WebhookStatus.ACTIVE });
  assert(active.webhooks.some((each) => each.id === id));
  const test = given((await webhooks.sendTest({ id })).delivery);
  const { deliveries } = await webhooks.listDeliveries({ id });
  assert(deliveries.some((each) => each.id === test.id && each.type === "webhook.test"));
  await webhooks.resendDelivery({ id, deliveryId: test.id });
  const { messages } = await webhooks.listMessages({ since });
  assert(messages.some(({ body }) => JSON.parse(body).type === "workflow_step.completed"));
  const replay = given((await webhooks.replayDeliveries({ id, since })).job);
  await until("the replay", async () => (await jobs.get({ id: replay.id })).job?.webhookReplay);
  await webhooks.delete({ id });
}
