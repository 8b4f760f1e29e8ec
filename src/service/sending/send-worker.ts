import { randomUUID } from "node:crypto";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { createSlackSender } from "../../api/slack-integrations/sender.ts";
import { createWebhookSender } from "../../api/webhooks/sender.ts";
import { failureMessage } from "../../db/describe-failure.ts";
import { createSlack } from "../../integrations/slack/slack.ts";
import { createTokenBox } from "../../integrations/token-box.ts";
import { createSafeFetch } from "../../lib/fetch/safe-fetch.ts";
import { openOutbox } from "../../outbox/open-outbox.ts";
import { startSending } from "../../outbox/send-loop.ts";
import type { SendNews, SendOrder, SendThreadData } from "./send-thread.ts";

/*
 * Sends what waits in the outbox, on a thread of its own; see `startSendThread`.
 */

const data: SendThreadData = workerData;
const port = parentPort;
if (port === null) throw new Error("send-worker runs as a worker thread");
const tell = (news: SendNews) => port.postMessage(news);

// Visitors and calls come first. On Linux, 0 names this thread; elsewhere it names the whole process.
if (process.platform === "linux") setPriority(0, 10);

const { connection, statementTimeoutMs, shortUrl, proxies } = data;
const { db, close } = openOutbox({ connection, statementTimeoutMs, onError: () => {} });
const now = () => new Date();
const fetch = createSafeFetch({
  allowedNetworks: data.allowedNetworks,
  proxies: {
    https: proxies.https === undefined ? undefined : new URL(proxies.https),
    http: proxies.http === undefined ? undefined : new URL(proxies.http),
    except: proxies.except,
  },
});
const sending = startSending({
  db,
  senders: {
    WEBHOOK: createWebhookSender({ db, now, fetch, key: data.webhookSecretKey }),
    // Nobody's browser comes back from here.
    SLACK: createSlackSender({
      db,
      slack: createSlack({ config: data.slack, returnUrl: "" }),
      tokenBox: createTokenBox(data.tokenKey),
    }),
  },
  shortUrl,
  owner: randomUUID(),
  now,
  random: Math.random,
  onTrouble: (error) => tell({ trouble: failureMessage(error) }),
});

/** How often the figures go to the thread that is asked for them, in milliseconds. */
const countsMs = 1_000;
setInterval(() => tell({ counts: sending.counts }), countsMs);

port.on("message", async (told: SendOrder) => {
  if (told.order === "wake") return sending.wake();
  await sending.stop(told.timeoutMs);
  await fetch.close();
  await close();
  tell({ counts: sending.counts });
  tell({ stopped: true });
});
