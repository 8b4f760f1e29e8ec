import { sql } from "kysely";
import { fileCheckOf } from "../db/file-checks.ts";
import type { Db } from "../db/open.ts";
import { noWorkspace } from "../model/no-workspace.ts";

const unclaimedMs = 24 * 60 * 60 * 1000;

/** Deletes the designs that callers without a token made and that no link or template used within a day. */
export async function deleteUnclaimedDesigns(db: Db, now: Date): Promise<void> {
  const madeBefore = new Date(now.getTime() - unclaimedMs);
  const pictures = sql`select ${noWorkspace}::uuid, options ->> 'centralImageKey', null::uuid from gone
    where options ->> 'centralImageKey' is not null`;
  await sql`
    with gone as (delete from qrcode_designs
        where workspace_id = ${noWorkspace} and link_id is null and template_id is null and created_at < ${madeBefore}
        returning options)
    ${fileCheckOf(pictures, now)}`.execute(db);
}
