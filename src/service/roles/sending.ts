import { sql } from "kysely";
import { outboxChannel } from "../../db/channels.ts";
import { listenOn } from "../../db/listen.ts";
import { registerOutboxMetrics } from "../../outbox/metrics.ts";
import { type SendThread, startSendThread } from "../sending/send-thread.ts";
import type { Parts } from "./parts.ts";

export interface SendingRole {
  stop(): Promise<void>;
}

/** How long after its end the thread is started again, in milliseconds. */
const restartMs = 1_000;

/**
 * Sends what waits in the outbox. The thread that does so begins when something waits for the first time: most services
 * have no webhooks, and it takes memory.
 */
export async function startSendingRole(parts: Parts): Promise<SendingRole> {
  const { config, connection, jobsDb: db, log, metrics, keyFor, addresses, now } = parts;
  const figures = registerOutboxMetrics(metrics, db, now);
  let thread: SendThread | undefined;
  let isStopped = false;

  function begin(): void {
    if (isStopped) return;
    thread ??= startSendThread(
      {
        connection,
        statementTimeoutMs: config.requestTimeoutMs,
        shortUrl: addresses.shortUrl,
        allowedNetworks: config.allowedPrivateNetworks,
        proxies: {
          ...(config.proxies.https && { https: config.proxies.https.href }),
          ...(config.proxies.http && { http: config.proxies.http.href }),
          except: config.proxies.except,
        },
        slack: config.slack,
        webhookSecretKey: keyFor("webhook-secrets"),
        tokenKey: keyFor("integration-tokens"),
      },
      {
        onCounts: figures.update,
        onTrouble: (message) =>
          log.error({ err: { message } }, "sending from the outbox met trouble and goes on"),
        onEnd: () => {
          thread = undefined;
          figures.restart();
          setTimeout(begin, restartMs).unref();
        },
      },
    );
    thread.wake();
  }

  async function beginIfWaiting(): Promise<void> {
    const { rows } = await sql<{ waits: boolean }>`select exists (select from outbox_intake)
      or exists (select from outbox_lines) as waits`.execute(db);
    if (rows[0]?.waits === true) begin();
  }

  const listener = await listenOn({
    connection,
    name: "signpost outbox",
    channels: [outboxChannel],
    onNotice: begin,
    // What was queued before cannot be heard any more. When this fails, the connection fails too, and comes again.
    onConnect: () => void beginIfWaiting().catch(() => {}),
    onLoss: (error) => log.warn({ err: error }, "the outbox hears nothing until its connection is back"),
  });
  return {
    async stop() {
      isStopped = true;
      await listener.close();
      await thread?.stop(config.drainTimeoutMs);
    },
  };
}
