import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { newWebhookSecret, webhookHeaders, webhookSecretText } from "../lib/standard-webhooks.ts";
import { createAsk } from "./operations/ask.ts";
import type { JsonObject } from "./operations/flag-values.ts";
import type { Terminal } from "./operations/run-operation.ts";
import { printable, UsageError } from "./outcome.ts";
import { findConnection } from "./profiles.ts";

const options = {
  "forward-to": { type: "string" },
  secret: { type: "string" },
  profile: { type: "string" },
} as const;

/** How often the service is asked, in milliseconds. */
const intervalMs = 2_000;
/** How long the receiver may take, as in the service. */
const receiverMs = 15_000;
/** How many messages are remembered, so that none is forwarded twice: more than the service tells of at a time. */
const rememberedMax = 1_000;

/**
 * Forwards the messages of the workspace's completed steps to a receiver, until the signal ends it. They are signed as the
 * service signs, with a secret of their own that is printed first, or with the one that is given.
 */
export async function listenToWebhooks(
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { forwardTo, secret, profile } = parse(args);
  const ask = createAsk(await findConnection(terminal.env, profile));
  terminal.report(`Messages are signed with ${webhookSecretText(secret)}`);
  terminal.report(`Waiting for visits; messages go to ${printable(forwardTo)}. Ctrl+C ends.`);
  let since = new Date();
  const seen = new Set<string>();
  while (!signal.aborted) {
    const askedAt = new Date();
    const target = `/v1/webhook-messages?since=${encodeURIComponent(since.toISOString())}`;
    const { json } = await ask({ httpMethod: "GET", target, body: undefined });
    for (const { id, body } of messagesIn(json)) {
      if (seen.has(id) || signal.aborted) continue;
      seen.add(id);
      terminal.write(`${await forward(forwardTo, { id: `msg_${id}_listen`, body, secret })}\n`);
    }
    forgetOldest(seen);
    // Steps are stored a little after they were completed, so the times that are asked for overlap.
    since = new Date(Math.max(since.getTime(), askedAt.getTime() - 60_000));
    await pause(intervalMs, undefined, { signal }).catch(() => {});
  }
}

function parse(args: readonly string[]) {
  try {
    const { values } = parseArgs({ args: [...args], options });
    const { "forward-to": forwardTo = "", secret, profile } = values;
    if (!URL.canParse(forwardTo) || !/^https?:$/.test(new URL(forwardTo).protocol))
      throw new Error("--forward-to needs the address of the receiver, such as http://localhost:3000");
    if (secret !== undefined && !/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(secret))
      throw new Error("--secret must be whsec_ and base64");
    const bytes = secret === undefined ? newWebhookSecret() : Buffer.from(secret.slice(6), "base64");
    return { forwardTo, secret: bytes, profile };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), "webhooks listen");
  }
}

function messagesIn({ messages }: JsonObject): { readonly id: string; readonly body: string }[] {
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((each) =>
    typeof each === "object" && each !== null && "id" in each && "body" in each
      ? [{ id: String(each.id), body: String(each.body) }]
      : [],
  );
}

/** Sends one message, once. Says in a line what became of it. */
async function forward(
  address: string,
  { id, body, secret }: { readonly id: string; readonly body: string; readonly secret: Uint8Array },
): Promise<string> {
  const began = performance.now();
  try {
    const response = await fetch(address, {
      method: "POST",
      headers: { "user-agent": "signpost-cli", ...webhookHeaders({ id, at: new Date(), body }, [secret]) },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(receiverMs),
    });
    await response.body?.cancel();
    return `${response.status}  ${id}  ${Math.round(performance.now() - began)} ms`;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return `---  ${id}  ${printable(cause instanceof Error ? cause.message : String(cause))}`;
  }
}

function forgetOldest(seen: Set<string>): void {
  for (const id of seen) {
    if (seen.size <= rememberedMax) return;
    seen.delete(id);
  }
}
