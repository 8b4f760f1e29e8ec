import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type pg from "pg";
import type { SlackConfig } from "../../integrations/slack/slack-config.ts";
import type { SendingCounts } from "../../outbox/send-loop.ts";

/** What the sending thread starts with. */
export interface SendThreadData {
  readonly connection: pg.ClientConfig;
  readonly statementTimeoutMs: number;
  readonly shortUrl: string;
  readonly allowedNetworks: readonly string[];
  /** As text: an object of a URL cannot go to a thread. */
  readonly proxies: { readonly https?: string; readonly http?: string; readonly except: readonly string[] };
  readonly slack: SlackConfig;
  readonly webhookSecretKey: Uint8Array;
  readonly tokenKey: Uint8Array;
}

export type SendOrder = { readonly order: "wake" } | { readonly order: "stop"; readonly timeoutMs: number };

export type SendNews =
  | { readonly counts: SendingCounts }
  | { readonly trouble: string }
  | { readonly stopped: true };

export interface SendThread {
  wake(): void;
  stop(timeoutMs: number): Promise<void>;
}

export interface SendThreadEvents {
  readonly onCounts: (counts: SendingCounts) => void;
  readonly onTrouble: (message: string) => void;
  /** The thread has ended by itself. */
  readonly onEnd: () => void;
}

/** In the bundle, this file and the program beside it are both JavaScript. */
const program = new URL(`./send-worker${extname(import.meta.url)}`, import.meta.url);

/** Sends in a thread of its own: making, signing and sending a message takes longer than a redirect. */
export function startSendThread(data: SendThreadData, events: SendThreadEvents): SendThread {
  const ended = Promise.withResolvers<void>();
  let isStopping = false;
  const worker = new Worker(program, {
    workerData: data,
    // Flags of the process, such as --eval, are not meant for the thread.
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 32, maxOldGenerationSizeMb: 512 },
  });
  const tell = (order: SendOrder) => worker.postMessage(order);
  worker.on("message", (news: SendNews) => {
    if ("counts" in news) events.onCounts(news.counts);
    else if ("trouble" in news) events.onTrouble(news.trouble);
    else ended.resolve();
  });
  worker.on("error", (error: Error) => events.onTrouble(`the sending thread failed: ${error.message}`));
  worker.on("exit", () => {
    ended.resolve();
    if (!isStopping) events.onEnd();
  });
  return {
    wake: () => tell({ order: "wake" }),
    async stop(timeoutMs) {
      isStopping = true;
      tell({ order: "stop", timeoutMs });
      await ended.promise;
      await worker.terminate();
    },
  };
}
