import { sql } from "kysely";
import type { Db } from "../../db/open.ts";

/** The workspace's time zone, and whether it has the link, which may be deleted. */
export async function findScope(
  db: Db,
  workspaceId: string,
  linkId: string | undefined,
): Promise<{ readonly timezone: string; readonly hasLink: boolean }> {
  const { rows } = await sql<{ timezone: string; has_link: boolean }>`
    select timezone, exists (select from links l where l.workspace_id = w.id and l.id = ${linkId ?? null}::uuid) as has_link
    from workspaces w where id = ${workspaceId}`.execute(db);
  return { timezone: rows[0]?.timezone ?? "", hasLink: rows[0]?.has_link ?? false };
}
