import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import type { Storage } from "../../lib/storage/storage.ts";

/** Deletes expired exports with their files, those of one workspace or of all. */
export async function deleteExpiredExports(
  db: Db,
  storage: Storage,
  { at, workspaceId }: { readonly at: Date; readonly workspaceId?: string },
): Promise<void> {
  const own = workspaceId === undefined ? sql.raw("") : sql`workspace_id = ${workspaceId} and `;
  for (;;) {
    const { rows } = await sql<{ workspace_id: string; id: string; storage_key: string | null }>`
      select workspace_id, id, storage_key from exports where ${own} expires_at <= ${at} limit 100`.execute(
      db,
    );
    for (const { workspace_id, id, storage_key } of rows) {
      if (storage_key !== null) await storage.delete(storage_key);
      await sql`delete from exports where workspace_id = ${workspace_id} and id = ${id}`.execute(db);
    }
    if (rows.length < 100) return;
  }
}
