import {
  type Revocation,
  readRevocation,
  readScopeChange,
  type ScopeChange,
  scopesChannel,
} from "../../../db/channels.ts";
import type { Db } from "../../../db/open.ts";
import { createChangedScopes } from "./changed-scopes.ts";

/** What this process knows of revoked tokens and workspaces, and of the changed scopes of tokens. */
export interface RevocationList {
  has(subject: string): boolean;
  /** The scopes of a token now. Undefined when they are still those of its claims. */
  scopeOf(tokenId: string): string | undefined;
  /** Whether the list is young enough to be trusted. If not, `refresh` first. */
  isFresh(): boolean;
  /** Makes a revocation of this process count at once, before its notification comes back. */
  add(subject: string): void;
  /** Makes changed scopes of this process count at once. */
  change(change: ScopeChange): void;
  /** Takes a notification of either channel. */
  hear(channel: string, payload: string): void;
  /** Reads everything there is. Rejects when the database is away. */
  readAll(): Promise<void>;
  /** Reads what is new. Calls at the same time share one reading. Rejects when the database is away. */
  refresh(): Promise<void>;
}

export interface RevocationListDeps {
  readonly db: Db;
  readonly now: () => Date;
}

/** Revocations and changed scopes are effective on every process within 5 s (behaviour 2.1). */
const ageMaxMs = 5_000;

/**
 * How far a reading goes back behind the newest revocation it knows: transactions commit later than the time they write,
 * and the clocks of processes differ.
 */
const overlapMs = 5 * 60_000;

/** Makes an empty list, which is not fresh before its first reading. */
export function createRevocationList({ db, now }: RevocationListDeps): RevocationList {
  const subjects = new Set<string>();
  const changedScopes = createChangedScopes();
  let newest = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(since: Date | undefined): Promise<void> {
    const startedAt = now().getTime();
    const rows = await db
      .selectFrom("revocations")
      .select(["subject", "revoked_at", "restored"])
      .$if(since !== undefined, (query) => query.where("revoked_at", ">=", since ?? null))
      .execute();
    newest = Math.max(newest, await changedScopes.read(db, since));
    for (const row of rows) {
      learn({ subject: row.subject, isRestored: row.restored });
      newest = Math.max(newest, row.revoked_at.getTime());
    }
    readAt = startedAt;
  }

  function add(subject: string): void {
    subjects.add(subject);
    changedScopes.forget(subject);
  }

  function learn({ subject, isRestored }: Revocation): void {
    if (isRestored) subjects.delete(subject);
    else add(subject);
  }

  return {
    has: (subject) => subjects.has(subject),
    scopeOf: changedScopes.of,
    isFresh: () => Math.abs(now().getTime() - readAt) <= ageMaxMs,
    add,
    change: changedScopes.learn,
    hear(channel, payload) {
      if (channel === scopesChannel) {
        const change = readScopeChange(payload);
        if (change !== undefined) changedScopes.learn(change);
        return;
      }
      const revocation = readRevocation(payload);
      if (revocation !== undefined) learn(revocation);
    },
    readAll: () => read(undefined),
    refresh() {
      // A time from a clock that is ahead must not hide what others revoke in the meantime.
      const known = Math.min(newest, now().getTime());
      reading ??= read(new Date(known - overlapMs)).finally(() => {
        reading = undefined;
      });
      return reading;
    },
  };
}
