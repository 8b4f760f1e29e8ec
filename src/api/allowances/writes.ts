import { type Insertable, sql } from "kysely";
import type { DismissedNotices } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";

/** Keeps that a member has dismissed a notice. */
export async function dismissNotice(db: Db, row: Insertable<DismissedNotices>): Promise<void> {
  await sql`
    insert into dismissed_notices (workspace_id, member_id, limit_key, cycle, dismissed_at)
    values (${row.workspace_id}, ${row.member_id}, ${row.limit_key}, ${row.cycle}, ${row.dismissed_at})
    on conflict (workspace_id, member_id, limit_key) do update
      set cycle = excluded.cycle, dismissed_at = excluded.dismissed_at`.execute(db);
}
