import { sql } from "kysely";
import type { Db } from "../../db/open.ts";

/**
 * Where the bare address of a custom domain leads. Undefined when the host is no custom domain, empty when nothing is
 * set.
 */
export async function loadRoot(db: Db, host: string): Promise<string | undefined> {
  const { rows } = await sql<{ destination: string }>`
    select d.root_destination as destination
    from domain_names n
    join custom_domains d on d.workspace_id = n.workspace_id and d.id = n.custom_domain_id
    join workspaces w on w.id = n.workspace_id
    where n.name = ${host} and n.released_at is null and d.status in ('ACTIVE', 'RENEWAL_PENDING') and w.deleted_at is null`.execute(
    db,
  );
  return rows[0]?.destination;
}
