import type { ScopeChange } from "../../db/channels.ts";
import type { Db } from "../../db/open.ts";

/** The changed scopes of tokens, which their claims know nothing of, kept in memory for the whole service. */
export interface ChangedScopes {
  /** The scopes of a token now; undefined when they are still those of its claims. */
  of(tokenId: string): string | undefined;
  /** Takes a change, unless a later one is known. */
  learn(change: ScopeChange): void;
  forget(tokenId: string): void;
  /** Takes the changes from a time on, or all. Answers when the newest of them was made, in milliseconds. */
  read(db: Db, since: Date | undefined): Promise<number>;
}

export function createChangedScopes(): ChangedScopes {
  const changes = new Map<string, ScopeChange>();

  function learn(change: ScopeChange): void {
    // What was read may be older than what was heard meanwhile.
    if (change.version > (changes.get(change.tokenId)?.version ?? 0)) changes.set(change.tokenId, change);
  }

  return {
    of: (tokenId) => changes.get(tokenId)?.scope,
    learn,
    forget: (tokenId) => changes.delete(tokenId),
    async read(db, since) {
      const rows = await db
        .selectFrom("changed_scopes")
        .select(["token_id as tokenId", "scope", "version", "changed_at"])
        .$if(since !== undefined, (query) => query.where("changed_at", ">=", since ?? null))
        .execute();
      for (const { tokenId, scope, version } of rows) learn({ tokenId, scope, version });
      return rows.reduce((newest, row) => Math.max(newest, row.changed_at.getTime()), 0);
    },
  };
}
