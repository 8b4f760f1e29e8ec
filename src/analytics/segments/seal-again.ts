import { sql } from "kysely";
import type pg from "pg";
import { sealWorkspace } from "./seal-workspace.ts";
import { openSession } from "./session.ts";

export interface SealAgainDeps {
  readonly connection: string | pg.ConnectionConfig;
  readonly now: () => Date;
}

/**
 * Makes all segments of a workspace, or of all, again from the events. They are marked first, so that a worker goes on when
 * this process ends. Segments that a worker is sealing at this moment are left to it.
 */
export async function sealAgain({ connection, now }: SealAgainDeps, workspaceId?: string): Promise<void> {
  const session = await openSession(connection);
  try {
    const { rows } = await sql<{ id: string }>`
      insert into segment_marks (workspace_id, first_at, last_at, marked_at)
      select workspace_id, min(begins_at), max(ends_at) - interval '1 millisecond', clock_timestamp() from segments
      where workspace_id = coalesce(${workspaceId ?? null}::uuid, workspace_id)
      group by workspace_id
      returning workspace_id as id`.execute(session.db);
    for (const { id } of rows) await sealWorkspace({ session, now, settledMs: 0 }, id);
  } finally {
    await session.close();
  }
}
