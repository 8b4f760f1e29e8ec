import { sql } from "kysely";
import type { Logger } from "pino";
import { failureMessage } from "../../../db/describe-failure.ts";
import type { Db } from "../../../db/open.ts";

/** Notes when tokens were last used, off the path of requests. */
export interface TokenUse {
  /** Notes a use; at most one use per minute and token reaches the database. */
  note(workspaceId: string, tokenId: string, at: Date): void;
  /** Writes the uses noted so far. */
  flush(): Promise<void>;
  /** Writes the last uses and stops. */
  close(): Promise<void>;
}

export interface TokenUseDeps {
  readonly db: Db;
  readonly log: Pick<Logger, "warn">;
}

const flushMs = 1_000;

/** Collects the uses of tokens and writes them once a second in one statement. */
export function createTokenUse({ db, log }: TokenUseDeps): TokenUse {
  let notes = new Map<string, { workspaceId: string; at: Date }>();
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    if (notes.size === 0) return;
    const written = [...notes];
    notes = new Map();
    try {
      await sql`
        update workspace_tokens as token set last_used_at = used.at
        from unnest(
          ${written.map(([, { workspaceId }]) => workspaceId)}::uuid[],
          ${written.map(([tokenId]) => tokenId)}::uuid[],
          ${written.map(([, { at }]) => at)}::timestamptz[]
        ) as used(workspace_id, id, at)
        where token.workspace_id = used.workspace_id and token.id = used.id
          and (token.last_used_at is null or token.last_used_at <= used.at - interval '1 minute')`.execute(
        db,
      );
    } catch (error) {
      // A lost note does little harm: the token's next use after a minute is noted again.
      log.warn({ reason: failureMessage(error) }, "uses of tokens were not noted");
    }
  }

  return {
    note(workspaceId, tokenId, at) {
      notes.set(tokenId, { workspaceId, at });
      timer ??= setTimeout(() => {
        timer = undefined;
        void flush();
      }, flushMs).unref();
    },
    flush,
    async close() {
      clearTimeout(timer);
      timer = undefined;
      await flush();
    },
  };
}
