import type pg from "pg";
import type { Logger } from "pino";
import { revocationChannel, scopesChannel } from "../../../db/channels.ts";
import { failureMessage } from "../../../db/describe-failure.ts";
import { listenOn } from "../../../db/listen.ts";
import { createRevocationList, type RevocationList, type RevocationListDeps } from "./revocation-list.ts";

/** The list of revocations and changed scopes of the whole service, which is kept up to date until it is closed. */
export interface Revocations extends Omit<RevocationList, "hear" | "readAll"> {
  close(): Promise<void>;
}

export interface RevocationsDeps extends RevocationListDeps {
  /** For the connection that listens. */
  readonly connection: pg.ClientConfig;
  readonly log: Pick<Logger, "warn">;
  /** Milliseconds between two readings of what is new; 2,000 by default. */
  readonly pollMs?: number;
}

/**
 * Reads every revocation, then hears of new ones by LISTEN and, should that fail, by polling. With the database away it
 * opens all the same, with a list that is not fresh.
 */
export async function openRevocations(deps: RevocationsDeps): Promise<Revocations> {
  const { log, connection, pollMs = 2_000 } = deps;
  const { hear, readAll, ...list } = createRevocationList(deps);
  let knowsAll = false;
  let isTroubled = false;

  function warn(problem: unknown): void {
    if (!isTroubled) log.warn({ reason: failureMessage(problem) }, "revocations arrive late");
    isTroubled = true;
  }

  const listener = await listenOn({
    connection,
    name: "signpost revocations",
    channels: [revocationChannel, scopesChannel],
    onNotice: hear,
    onConnect() {
      knowsAll = false;
    },
    onLoss: warn,
  });

  /** After a loss of the connection everything is read, however far the clocks of those who revoked are apart. */
  async function catchUp(): Promise<void> {
    // Another loss may follow during the reading.
    knowsAll = true;
    try {
      await readAll();
    } catch (error) {
      knowsAll = false;
      throw error;
    }
  }

  async function poll(): Promise<void> {
    try {
      await (knowsAll && listener.hears() ? list.refresh() : catchUp());
      if (listener.hears()) isTroubled = false;
    } catch (error) {
      warn(error);
    }
  }

  await poll();
  const stopPolling = repeat(poll, pollMs);
  return {
    ...list,
    async close() {
      await stopPolling();
      await listener.close();
    },
  };
}

/** Runs the task every `pauseMs`, except while it still runs. Gives the function that stops this and waits for the last run. */
function repeat(task: () => Promise<void>, pauseMs: number): () => Promise<void> {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= task().finally(() => {
      running = undefined;
    });
  }, pauseMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
