import { createHmac, randomBytes } from "node:crypto";

/** How many bytes a secret has. */
const secretBytes = 32;

export function newWebhookSecret(): Buffer {
  return randomBytes(secretBytes);
}

/** A secret as its owner keeps it. */
export function webhookSecretText(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString("base64")}`;
}

export interface SignedMessage {
  /** The same in every attempt; without dots. */
  readonly id: string;
  /** When the attempt is made. */
  readonly at: Date;
  readonly body: string;
}

/**
 * The headers by which a receiver knows a message for genuine, new and not seen before: Standard Webhooks, with a
 * signature for each secret.
 */
export function webhookHeaders(
  { id, at, body }: SignedMessage,
  secrets: readonly Uint8Array[],
): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000);
  const signatures = secrets.map((secret) => {
    const signature = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64");
    return `v1,${signature}`;
  });
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
  };
}
