import type pg from "pg";
import type { Logger } from "pino";
import {
  readRevocation,
  readScopeChange,
  revocationChannel,
  type ScopeChange,
  scopesChannel,
} from "../../db/channels.ts";
import { failureMessage } from "../../db/describe-failure.ts";
import { listenOn } from "../../db/listen.ts";
import type { Db } from "../../db/open.ts";
import { createChangedScopes } from "./changed-scopes.ts";

/** The revoked tokens and workspaces, and the changed scopes of tokens, kept in memory: one list for the whole service. */
export interface Revocations {
  has(subject: string): boolean;
  /** The scopes of a token now; undefined when they are still those of its claims. */
  scopeOf(tokenId: string): string | undefined;
  /** Whether the list is recent enough to be trusted; if not, `refresh` first. */
  isFresh(): boolean;
  /** Reads new revocations and changes. Rejects when the database is away. */
  refresh(): Promise<void>;
  /** Makes a revocation of this process effective at once, before its notification comes back. */
  add(subject: string): void;
  /** Makes changed scopes of this process effective at once. */
  change(change: ScopeChange): void;
  close(): Promise<void>;
}

export interface RevocationsDeps {
  readonly db: Db;
  /** For the connection that listens. */
  readonly connection: pg.ClientConfig;
  readonly now: () => Date;
  readonly log: Pick<Logger, "warn">;
  /** Milliseconds between two polls; 2,000 by default. */
  readonly pollMs?: number;
}

/** Revocations and changed scopes are effective on every process within 5 s. */
const ageMaxMs = 5_000;

/**
 * How far a poll goes back behind the newest known revocation: transactions commit later than the time they write, and
 * the clocks of processes differ.
 */
const overlapMs = 5 * 60_000;

/**
 * Reads every revocation, then learns of new ones by LISTEN and, should that fail, by polling. With the database away
 * it opens all the same, with a list that is not fresh.
 */
export async function openRevocations(deps: RevocationsDeps): Promise<Revocations> {
  const { db, now, log, connection, pollMs = 2_000 } = deps;
  const subjects = new Set<string>();
  const changedScopes = createChangedScopes();
  let newest = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  let knowsAll = false;
  let isTroubled = false;

  async function read(since: Date | undefined): Promise<void> {
    const startedAt = now().getTime();
    const rows = await db
      .selectFrom("revocations")
      .select(["subject", "revoked_at"])
      .$if(since !== undefined, (query) => query.where("revoked_at", ">=", since ?? null))
      .execute();
    newest = Math.max(newest, await changedScopes.read(db, since));
    for (const row of rows) {
      revoke(row.subject);
      newest = Math.max(newest, row.revoked_at.getTime());
    }
    readAt = startedAt;
  }

  function refresh(): Promise<void> {
    // A time from a clock that is ahead must not hide revocations that others make meanwhile.
    const known = Math.min(newest, now().getTime());
    reading ??= read(new Date(known - overlapMs)).finally(() => {
      reading = undefined;
    });
    return reading;
  }

  function revoke(subject: string): void {
    subjects.add(subject);
    changedScopes.forget(subject);
  }

  function hear(channel: string, payload: string): void {
    if (channel === scopesChannel) {
      const change = readScopeChange(payload);
      if (change !== undefined) changedScopes.learn(change);
      return;
    }
    const subject = readRevocation(payload);
    if (subject !== undefined) revoke(subject);
  }

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

  /** Reads everything after a time without notifications, so that no difference between clocks hides a revocation. */
  async function readAll(): Promise<void> {
    // Set before the reading, because the connection may be lost again during it.
    knowsAll = true;
    try {
      await read(undefined);
    } catch (error) {
      knowsAll = false;
      throw error;
    }
  }

  async function poll(): Promise<void> {
    try {
      await (knowsAll && listener.hears() ? refresh() : readAll());
      if (listener.hears()) isTroubled = false;
    } catch (error) {
      warn(error);
    }
  }

  await poll();
  let polling = Promise.resolve();
  let isPolling = false;
  const timer = setInterval(() => {
    if (isPolling) return;
    isPolling = true;
    polling = poll().finally(() => {
      isPolling = false;
    });
  }, pollMs);
  timer.unref();

  return {
    has: (subject) => subjects.has(subject),
    isFresh: () => Math.abs(now().getTime() - readAt) <= ageMaxMs,
    refresh,
    add: revoke,
    scopeOf: changedScopes.of,
    change: changedScopes.learn,
    async close() {
      clearInterval(timer);
      await polling;
      await listener.close();
    },
  };
}
