import { sql } from "kysely";
import type { Db } from "../../db/open.ts";

const unattachedMs = 90 * 24 * 60 * 60 * 1000;
const batchSize = 1_000;

/**
 * Deletes the themes that `apply-template` has made and that no link has had for 90 days. It notes since when a theme has
 * had no link; a link that gets the theme takes the note away, so that a theme which somebody takes at this moment stays.
 * Returns how many it deleted.
 */
export async function deleteUnattachedThemes(db: Db, now: Date): Promise<number> {
  const before = new Date(now.getTime() - unattachedMs);
  let deleted = 0;
  for (let after = { workspace_id: first, id: first }; ; ) {
    const { rows } = await sql<{ workspace_id: string; id: string }>`
      select workspace_id, id from page_themes
      where is_applied and (workspace_id, id) > (${after.workspace_id}::uuid, ${after.id}::uuid)
      order by workspace_id, id limit ${batchSize}`.execute(db);
    const last = rows.at(-1);
    if (last === undefined) return deleted;
    const workspaces = rows.map(({ workspace_id }) => workspace_id);
    const ids = rows.map(({ id }) => id);
    const { numAffectedRows = 0n } = await sql`
      with seen as (select p.workspace_id, p.id, not exists (select from links l
            where l.workspace_id = p.workspace_id and l.page_theme_id = p.id and l.deleted_at is null) as is_free
          from unnest(${workspaces}::uuid[], ${ids}::uuid[]) as batch (workspace_id, id)
          join page_themes p on p.workspace_id = batch.workspace_id and p.id = batch.id),
        noted as (update page_themes p set unattached_since = case when seen.is_free then ${now}::timestamptz end
          from seen where p.workspace_id = seen.workspace_id and p.id = seen.id
            and seen.is_free = (p.unattached_since is null))
      delete from page_themes p using seen
      where p.workspace_id = seen.workspace_id and p.id = seen.id and seen.is_free
        and p.unattached_since <= ${before}`.execute(db);
    deleted += Number(numAffectedRows);
    after = last;
  }
}

/** No workspace and no theme has a smaller id. */
const first = "00000000-0000-0000-0000-000000000000";
