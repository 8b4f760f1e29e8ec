/** What the service sends to a webhook. */
export interface WebhookMessage {
  /** `workflow_step.completed`, or `webhook.test` for a test; others may be added. */
  readonly type: string;
  /** When the step was completed, in RFC 3339. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A message that does not come from the service, or not now: answer it with status 400 and do nothing else. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
}

/** Headers of a request, as `fetch` or Node give them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** How far the clocks of the service and the receiver may differ. */
const toleranceSeconds = 5 * 60;

/**
 * Reads a message of a webhook, after it has proved that the service signed it with `secret` (`whsec_…`) within the last
 * five minutes. `payload` is the body exactly as it was received. Throws WebhookVerificationError otherwise. A message may
 * come more than once: its `webhook-id` stays the same.
 */
export async function verifyWebhook(
  payload: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  now: Date = new Date(),
): Promise<WebhookMessage> {
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    headerOf(headers, name),
  );
  if (!id || !timestamp || !signatures)
    throw new WebhookVerificationError("a header of the signature is missing");
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(now.getTime() / 1000 - seconds) <= toleranceSeconds))
    throw new WebhookVerificationError("the message is not from the last five minutes");
  const body = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  const key = await crypto.subtle.importKey(
    "raw",
    secretBytes(secret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"],
  );
  // While a secret is replaced there is a signature for each of both.
  for (const each of signatures.split(" ").slice(0, 16)) {
    const signature = each.startsWith("v1,") ? bytesOf(each.slice(3)) : undefined;
    // `verify` takes the same time for every wrong signature.
    if (signature !== undefined && (await crypto.subtle.verify("HMAC", key, signature, signed)))
      return JSON.parse(new TextDecoder().decode(body));
  }
  throw new WebhookVerificationError("no signature is of this secret");
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === "string" ? found : found?.[0];
}

function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = bytesOf(secret.replace(/^whsec_/, ""));
  if (bytes === undefined || bytes.length === 0) throw new TypeError("the secret must be whsec_ and base64");
  return bytes;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(head: Uint8Array, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(head.length + body.length);
  both.set(head);
  both.set(body, head.length);
  return both;
}
