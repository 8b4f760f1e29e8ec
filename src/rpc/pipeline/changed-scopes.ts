import type { Db } from "../../db/open.ts";
import { isUuid } from "../../lib/ids.ts";

/** The scopes of a token as they were changed after its creation. */
export interface ScopeChange {
  readonly tokenId: string;
  readonly scope: string;
  /** Of two changes of a token, the later one has the higher version. */
  readonly version: number;
}

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

/** Notified with `id version scope`, in the transaction that changes the scopes. */
export const scopesChannel = "signpost_scopes";

/** Reads what was notified; undefined when it is something else. */
export function parseScopeChange(payload: string): ScopeChange | undefined {
  const [tokenId = "", version = "", ...names] = payload.split(" ");
  if (!isUuid(tokenId) || !/^\d{1,9}$/.test(version) || names.length === 0) return undefined;
  return { tokenId, version: Number(version), scope: names.join(" ") };
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
