import { sql } from "kysely";
import type { Db } from "../db/open.ts";

/**
 * Says that a name needs a certificate, in the transaction in which its domain comes to wait for one. After a failed
 * order the next one keeps its time, so that nobody makes the service hurry an authority.
 */
export async function wantCertificate(tx: Db, name: string, at: Date): Promise<void> {
  await sql`
    insert into certificates (name, next_at, created_at, updated_at) values (${name}, ${at}, ${at}, ${at})
    on conflict on constraint certificates_pkey do update set next_at = excluded.next_at, updated_at = excluded.updated_at
    where certificates.next_at is null or certificates.last_error = ''`.execute(tx);
}
