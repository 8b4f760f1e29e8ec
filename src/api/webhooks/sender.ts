import type { Db } from "../../db/open.ts";
import type { FetchOutcome, SafeFetch } from "../../lib/fetch/safe-fetch.ts";
import { webhookHeaders } from "../../lib/standard-webhooks.ts";
import type { Deliver, Failed, Outcome, OutgoingMessage, Sender } from "../../outbox/sender.ts";
import { failureReason } from "./reasons.ts";
import { secretOpener } from "./secrets.ts";
import { findTargets, type Target } from "./sender-queries.ts";

export interface WebhookSenderDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly fetch: Pick<SafeFetch, "send">;
  /** The key that seals the secrets of webhooks. */
  readonly key: Uint8Array;
}

/** Sends messages to webhooks, signed by their secrets. */
export function createWebhookSender(deps: WebhookSenderDeps): Sender {
  return {
    pace: { inFlightMax: 8 },
    async open(subscribers) {
      const targets = await findTargets(deps.db, subscribers);
      return new Map(targets.map((target) => [target.id, deliverTo(deps, target)]));
    },
  };
}

/** The `webhook-id` of a message: the same in every attempt. One step makes a message for each of its webhooks. */
export function webhookIdOf({ id, subscriberId }: Pick<OutgoingMessage, "id" | "subscriberId">): string {
  return `msg_${id}_${subscriberId}`;
}

function deliverTo({ now, fetch, key }: WebhookSenderDeps, target: Target): Deliver {
  const secretsAt = secretOpener(key, target);
  return async (message, signal) => {
    const at = now();
    const secrets = secretsAt(at);
    if (secrets.length === 0) return lostSecret;
    const signed = { id: webhookIdOf(message), at, body: message.body };
    const sent = await fetch.send({
      address: target.endpoint_url,
      cleartext: target.is_sandbox,
      method: "POST",
      headers: {
        "user-agent": "Signpost-Webhooks/1",
        ...webhookHeaders(signed, secrets),
      },
      body: message.body,
      signal,
    });
    return outcomeOf(sent, at);
  };
}

const lostSecret: Failed = {
  isDelivered: false,
  status: undefined,
  response: "",
  reason:
    "The signing secret cannot be read, because SECRET of this service has changed: set rotateSecret, and give your receiver the new one.",
};

/** What an attempt means for its message. */
export function outcomeOf(sent: FetchOutcome, at: Date): Outcome {
  const status = sent.kind === "answered" ? sent.status : undefined;
  const response = sent.kind === "answered" ? textOf(sent.head) : "";
  if (status !== undefined && status >= 200 && status < 300) return { isDelivered: true, status, response };
  const retryAfterMs =
    sent.kind === "answered" && (status === 429 || status === 503)
      ? retryAfter(sent.headers["retry-after"], at)
      : undefined;
  return {
    isDelivered: false,
    status,
    response,
    reason: failureReason(sent),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(status === 410 && { isFinal: true }),
    // A private address stays one; asking again and again would only search networks.
    ...(sent.kind === "refused" && { isHopeless: true }),
  };
}

/** The beginning of a body as text that the database takes. */
function textOf(head: Buffer): string {
  return head.toString("utf8").replaceAll("\0", "�");
}

/**
 * How long a receiver wants no further attempt: it says seconds or a date (RFC 9110, 10.2.3). A header that was sent
 * several times comes as a list, of which the first one counts.
 */
function retryAfter(given: string | readonly string[] | undefined, at: Date): number | undefined {
  const header = typeof given === "string" ? given : given?.[0];
  if (header === undefined) return undefined;
  const seconds = /^\d{1,9}$/.test(header.trim()) ? Number(header) : undefined;
  const ms = seconds === undefined ? Date.parse(header) - at.getTime() : seconds * 1000;
  return Number.isNaN(ms) || ms < 0 ? undefined : ms;
}
