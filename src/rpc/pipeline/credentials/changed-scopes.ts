import type { ScopeChange } from "../../../db/channels.ts";
import type { Db } from "../../../db/open.ts";

/** The tokens whose scopes changed after their claims were signed, kept in memory for the whole service. */
export interface ChangedScopes {
  /** The scopes of a token now; undefined when they are still those of its claims. */
  of(tokenId: string): string | undefined;
  /** Stores a change, unless a later change of the same token is known. */
  learn(change: ScopeChange): void;
  forget(tokenId: string): void;
  /** Reads the changes since a time, or all of them. Returns when the newest of them was made, in milliseconds. */
  read(db: Db, since: Date | undefined): Promise<number>;
}

export function createChangedScopes(): ChangedScopes {
  const changes = new Map<string, ScopeChange>();

  function learn(change: ScopeChange): void {
    // This row may be older than a change that arrived by notification meanwhile.
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
