import { sql } from "kysely";
import type { Db } from "../db/open.ts";

/** A certificate as a handshake needs it. */
export interface LoadedCertificate {
  readonly chain: string;
  readonly sealedKey: Buffer;
  readonly notAfter: Date;
  /** Whose domain it is; null for the service's own hosts. */
  readonly workspaceId: string | null;
}

/** The certificate of a name that is served; undefined when the name is not, or has no certificate that is valid. */
export async function loadCertificate(
  db: Db,
  name: string,
  { isOwn, at }: { readonly isOwn: boolean; readonly at: Date },
): Promise<LoadedCertificate | undefined> {
  const { rows } = await sql<{
    chain: string | null;
    sealedKey: Buffer | null;
    notAfter: Date | null;
    workspaceId: string | null;
  }>`
    select c.chain, c.private_key as "sealedKey", c.not_after as "notAfter", d.workspace_id as "workspaceId"
    from certificates c
    left join (
      domain_names n
      join workspaces w on w.id = n.workspace_id and w.deleted_at is null
      join custom_domains d on d.workspace_id = n.workspace_id and d.id = n.custom_domain_id
        and d.status in ('ACTIVE', 'RENEWAL_PENDING')
    ) on n.name = c.name and n.released_at is null
    where c.name = ${name} and c.not_after > ${at} and (${isOwn} or d.id is not null)`.execute(db);
  const [row] = rows;
  if (row === undefined || row.chain === null || row.sealedKey === null || row.notAfter === null)
    return undefined;
  return { ...row, chain: row.chain, sealedKey: row.sealedKey, notAfter: row.notAfter };
}
